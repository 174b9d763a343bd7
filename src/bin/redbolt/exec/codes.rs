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
        let mut codes = ROWS.map(|(_, _, code)| code);
        for (code, given) in codes.iter_mut().zip(&given) {
            let Some(given) = given else { continue };
            // A text that is no code cannot be equal to another.
            *code = given.value.to_str().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        }
        for (index, given) in given.iter().enumerate() {
            let Some(given) = given else { continue };
            let others = codes.iter().enumerate().filter(|(other, _)| *other != index);
            let mut taken: Vec<_> = others.map(|(_, code)| *code).chain(FIXED).collect();
            if !(1..=MOST).contains(&codes[index]) || taken.contains(&codes[index]) {
                taken.retain(|code| *code > 0);
                taken.sort_unstable();
                taken.dedup();
                let taken: Vec<_> = taken.iter().map(u8::to_string).collect();
                let (last, others) = taken.split_last().ok_or("no code is fixed")?;
                let value = quoted(&given.value.to_string_lossy());
                return Err(format!(
                    "{} is {value}, between 1 and {MOST} is possible, but not {} or {last}",
                    given.name,
                    others.join(", "),
                ));
            }
        }
        let [held, lost, no_quorum] = codes;
        Ok(Self { held, lost, no_quorum })
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
