//! The names of the settings: those of the variables, and those that a file has for the same.

use std::ffi::OsString;

use redbolt::{Config, EnvErrorKind};

use crate::quote::quoted;

/// What the names of variables begin with.
const VARIABLE: &str = "REDBOLT_";

/// The variable of the file with settings. A file cannot name another one.
pub(super) const CONFIG: &str = "REDBOLT_CONFIG";

/// What only the command line reads.
const OF_COMMAND_LINE: [&str; 11] = [
    "password_file",
    "conflict_exit_code",
    "lost_exit_code",
    "unavailable_exit_code",
    "expiring_signal",
    "keep_alive",
    "verbose",
    "quiet",
    "log",
    "wait_group",
    "at_least",
];

/// The name in a file of what a variable sets.
pub(super) fn of_variable(variable: &str) -> String {
    variable.strip_prefix(VARIABLE).unwrap_or(variable).to_ascii_lowercase()
}

/// The variable of what has this name in a file.
fn variable_of(name: &str) -> String {
    format!("{VARIABLE}{}", name.to_ascii_uppercase())
}

/// The names that a file may have: those that the library asks for, and those of the command line.
pub(super) fn known() -> Vec<String> {
    let mut names = Vec::from(OF_COMMAND_LINE.map(str::to_owned));
    // The result does not matter: the library asks for every setting once there are nodes.
    _ = Config::from_vars(|variable| {
        names.push(of_variable(variable));
        (variable == "REDBOLT_NODES").then_some("node")
    });
    names
}

/// Whether only the command line reads a setting, and no service.
#[cfg(test)]
pub(super) fn is_own(name: &str) -> bool {
    OF_COMMAND_LINE.contains(&name)
}

/// Checks the names of variables. The error has the name that was meant, or all that there are.
pub(super) fn check_variables<N: Into<OsString>>(
    names: impl IntoIterator<Item = N>,
) -> Result<(), String> {
    Config::check_names(names).map_err(|error| match error.kind() {
        // The library names the settings of a service, and leaves out those of this program.
        EnvErrorKind::Unknown { nearest: None } => {
            let mut variables = vec![CONFIG.to_owned()];
            variables.extend(known().iter().map(|name| variable_of(name)));
            let variables = variables.join(", ");
            format!("{} is not a setting, but these are: {variables}", error.variable())
        }
        _ => error.to_string(),
    })
}

/// Checks a name of a file. The error has the name that was meant, or all that there are.
pub(super) fn check(known: &[String], name: &str) -> Result<(), String> {
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    let variable = variable_of(name);
    let nearest = match Config::check_names([variable.as_str()]).map_err(|e| e.kind().clone()) {
        Err(EnvErrorKind::Unknown { nearest }) => nearest.map(of_variable),
        _ => known.iter().find(|known| known.eq_ignore_ascii_case(name)).cloned(),
    };
    // A file cannot name another file with settings.
    let nearest = nearest.filter(|nearest| known.contains(nearest));
    Err(match nearest {
        Some(nearest) => format!("{} is not a setting, {nearest} is one", quoted(name)),
        None => format!("{} is not a setting, but these are: {}", quoted(name), known.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What only the command line reads, the library leaves alone as a variable.
    #[test]
    fn the_library_leaves_the_names_of_the_command_line_alone() {
        for name in OF_COMMAND_LINE {
            assert_eq!(Config::check_names([variable_of(name)]), Ok(()), "{name}");
        }
        assert_eq!(Config::check_names([CONFIG]), Ok(()));
    }

    #[test]
    fn a_variable_that_is_like_no_other_is_told_all_that_this_program_reads() {
        let error = check_variables(["PATH", "REDBOLT_XYZZYXYZZY"]).expect_err("no setting");
        let names = error.strip_prefix("REDBOLT_XYZZYXYZZY is not a setting, but these are: ");
        let mut names: Vec<_> = names.expect("the names follow").split(", ").collect();
        assert!(names.contains(&"REDBOLT_LOG") && names.contains(&"REDBOLT_NODES"), "{error}");
        // All are known to the library, and each is there once.
        assert_eq!(Config::check_names(names.iter().copied()), Ok(()));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), count), (known().len() + 1, known().len() + 1));
        let error = check_variables(["REDBOLT_MAXTTL"]).expect_err("no setting");
        assert_eq!(error, "REDBOLT_MAXTTL is not a setting, REDBOLT_MAX_TTL is one");
    }

    /// What the library asks for, without the names that only this program reads.
    #[test]
    fn the_names_of_the_command_line_are_not_those_of_the_library() {
        let names = known();
        let (own, asked_for) = names.split_at(OF_COMMAND_LINE.len());
        assert!(asked_for.len() > 20 && own.iter().all(|name| !asked_for.contains(name)));
    }
}
