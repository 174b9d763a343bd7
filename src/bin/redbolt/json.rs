//! What is printed for programs: the rules that all objects keep to. Whoever can read one of them
//! can read the others.
//!
//! * An object is one line. A message of `exec --log json` is one, a look of `check --watch` is
//!   one, and any other run prints one.
//! * Names are in `snake_case`. Names and their meaning stay; new fields may come, and a reader
//!   passes over what it does not know.
//! * A time has its unit in its name: `_ms`, milliseconds as a number with at most three decimals.
//!   Only what `bench` measures has more digits and other units, `_us` and `seconds`. Dates are RFC
//!   3339.
//! * What is not known, and what has no end, is `null`. A field is never left out for that.
//! * `node` is an address without a login, `nodes` a list in the order of the configuration, or a
//!   number. `state` is one of a few words. `status`, `text`, `cause` and `remedy` are sentences
//!   for people, which may change.
//! * A character that would not show as itself on a terminal is an escape.
//! * Bytes that need not be text are hex digits: a `token`, and what ends in `_hex`.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Serialize, Serializer};

/// Returns the object as one line.
///
/// A line may end up on a terminal, and has words of strangers: a character that would not show as
/// itself, such as one that changes the direction of the text, is written as an escape, which means
/// the same to programs.
pub(crate) fn line(object: &impl Serialize) -> String {
    let json = serde_json::to_string(object);
    // Only maps with keys that are no text, and types that fail on purpose, cannot be written.
    let json = json.expect("structs of numbers and text");
    let mut line = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        // All others are ASCII, or inside of a text.
        if c.is_ascii_graphic() || c == ' ' || c.escape_debug().len() == 1 {
            line.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // A string takes everything.
            _ = write!(line, "\\u{unit:04x}");
        }
    }
    line.push('\n');
    line
}

/// A time in milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Millis(pub(crate) f64);

impl Millis {
    pub(crate) fn of(time: Duration) -> Self {
        Self(time.as_secs_f64() * 1e3)
    }

    pub(crate) fn of_micros(micros: i64) -> Self {
        Self(micros as f64 / 1e3)
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64((self.0 * 1e3).round() / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_terminal_would_obey_is_an_escape_and_reads_the_same() {
        let rows = [
            ("plain \"text\" \\ 'so'", "\"plain \\\"text\\\" \\\\ 'so'\"\n"),
            ("a\x1b[2J\n\x7f", "\"a\\u001b[2J\\n\\u007f\"\n"),
            ("\u{202e}\u{2028}\u{9b}", "\"\\u202e\\u2028\\u009b\"\n"),
            ("Größe \u{1f512}\u{e0001}", "\"Größe \u{1f512}\\udb40\\udc01\"\n"),
        ];
        for (text, expected) in rows {
            let line = line(&text);
            assert_eq!(line, expected);
            let read: String = serde_json::from_str(&line).expect("JSON");
            assert_eq!(read, text);
        }
    }

    #[test]
    fn a_time_has_no_more_than_three_decimals() {
        let rows = [
            (Duration::ZERO, "0.0"),
            (Duration::from_nanos(400), "0.0"),
            (Duration::from_nanos(1_600), "0.002"),
            (Duration::from_micros(49_312), "49.312"),
            (Duration::from_secs(3_600), "3600000.0"),
        ];
        for (time, expected) in rows {
            assert_eq!(line(&Millis::of(time)), format!("{expected}\n"));
        }
        assert_eq!(line(&Millis::of_micros(-1_500)), "-1.5\n");
    }
}
