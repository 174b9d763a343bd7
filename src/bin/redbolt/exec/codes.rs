//! The exit codes that the caller may choose.

use std::ffi::OsString;

use crate::exit;
use crate::quote::quoted;
use crate::settings::{Given, Sources};

/// The exit codes that nobody may choose, because they mean that redbolt itself is used wrongly or
/// has failed.
const FIXED: [u8; 2] = [exit::USAGE, exit::SOFTWARE];

/// The largest exit code that can be chosen. Shells use those above.
const MOST: u8 = 125;

/// Where each code comes from, and what it is when nobody says.
const ROWS: [(&str, &str, u8); 3] = [
    ("--conflict-exit-code", "REDBOLT_CONFLICT_EXIT_CODE", exit::HELD),
    ("--lost-exit-code", "REDBOLT_LOST_EXIT_CODE", exit::LOST),
    ("--unavailable-exit-code", "REDBOLT_UNAVAILABLE_EXIT_CODE", exit::NO_QUORUM),
];

/// The exit codes of what can become of a lock. A script can tell each from all others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Codes {
    /// Another held the lock until the wait ended.
    pub(super) held: u8,
    /// The validity of the lock ended while the command ran.
    pub(super) lost: u8,
    /// No quorum of nodes could be asked.
    pub(super) no_quorum: u8,
}

impl Default for Codes {
    fn default() -> Self {
        let [held, lost, no_quorum] = ROWS.map(|(_, _, code)| code);
        Self { held, lost, no_quorum }
    }
}

impl Codes {
    /// Reads the codes from the options, in the order of the fields, or from elsewhere.
    pub(super) fn read(options: [Option<&OsString>; 3], sources: &Sources) -> Result<Self, String> {
        let given = |index: usize| {
            let (name, variable, _) = ROWS[index];
            let option =
                options[index].map(|value| Given { name: name.to_owned(), value: value.clone() });
            option.or_else(|| sources.given(variable))
        };
        Self::check([given(0), given(1), given(2)])
    }

    /// Checks that each code is possible, and none is given to two ends.
    fn check(given: [Option<Given>; 3]) -> Result<Self, String> {
        // A text that is no code is told of below.
        let parsed = [0, 1, 2].map(|index| match &given[index] {
            Some(given) => code(given),
            None => Some(ROWS[index].2),
        });
        let mut codes = Self::default();
        let fields = [&mut codes.held, &mut codes.lost, &mut codes.no_quorum];
        for (index, field) in fields.into_iter().enumerate() {
            let others = parsed.iter().enumerate().filter(|(other, _)| *other != index);
            let taken: Vec<_> = others.filter_map(|(_, code)| *code).chain(FIXED).collect();
            match (parsed[index].filter(|code| !taken.contains(code)), &given[index]) {
                (Some(code), _) => *field = code,
                // The code of an end that nobody gave one is told of at the other's.
                (None, None) => {}
                (None, Some(given)) => {
                    let value = quoted(&given.value.to_string_lossy());
                    let (name, taken) = (&given.name, listed(taken));
                    return Err(format!(
                        "{name} is {value}, between 1 and {MOST} is possible, but not {taken}"
                    ));
                }
            }
        }
        Ok(codes)
    }
}

/// Returns the code that is meant, if it is one.
fn code(given: &Given) -> Option<u8> {
    let code = given.value.to_str().and_then(|text| text.trim().parse().ok());
    code.filter(|code| (1..=MOST).contains(code))
}

/// Returns a list of codes as a sentence has it.
fn listed(mut codes: Vec<u8>) -> String {
    codes.sort_unstable();
    codes.dedup();
    let codes: Vec<_> = codes.iter().map(u8::to_string).collect();
    match codes.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => codes.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(codes: [&str; 3]) -> Result<Codes, String> {
        let given = |index: usize| {
            let name = ROWS[index].0.to_owned();
            (!codes[index].is_empty()).then(|| Given { name, value: codes[index].into() })
        };
        Codes::check([given(0), given(1), given(2)])
    }

    #[test]
    fn every_end_has_a_code_of_its_own() {
        let of = |held, lost, no_quorum| Ok(Codes { held, lost, no_quorum });
        assert_eq!(check(["", "", ""]), Ok(Codes::default()));
        assert_eq!(check(["1", "", ""]), of(1, 76, 69));
        assert_eq!(check(["", "125", "2"]), of(75, 125, 2));
        // What another end gives up is free.
        assert_eq!(check(["76", "75", ""]), of(76, 75, 69));
        assert_eq!(check(["69", "", "1"]), of(69, 76, 1));
    }

    #[test]
    fn a_code_that_means_something_else_is_refused() {
        const POSSIBLE: &str = "between 1 and 125 is possible, but not";
        let rows = [
            (["0", "", ""], "--conflict-exit-code is \"0\"", "64, 69, 70 or 76"),
            (["76", "", ""], "--conflict-exit-code is \"76\"", "64, 69, 70 or 76"),
            (["", "64", ""], "--lost-exit-code is \"64\"", "64, 69, 70 or 75"),
            (["", "126", ""], "--lost-exit-code is \"126\"", "64, 69, 70 or 75"),
            (["", "300", ""], "--lost-exit-code is \"300\"", "64, 69, 70 or 75"),
            (["", "", "70"], "--unavailable-exit-code is \"70\"", "64, 70, 75 or 76"),
            (["", "", "-1"], "--unavailable-exit-code is \"-1\"", "64, 70, 75 or 76"),
            (["3", "3", ""], "--conflict-exit-code is \"3\"", "3, 64, 69 or 70"),
            (["", "one", "two"], "--lost-exit-code is \"one\"", "64, 70 or 75"),
        ];
        for (codes, given, taken) in rows {
            assert_eq!(check(codes), Err(format!("{given}, {POSSIBLE} {taken}")));
        }
    }
}
