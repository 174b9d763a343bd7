//! What is said of arguments that cannot be parsed, and in which form.

use std::process::Command;

use serde_json::Value;

use super::mistakes::{NOBODY, bare, write};
use super::run::Run;
use crate::support::process::Folder;

#[test]
fn the_options_of_other_commands_are_told_what_to_write() {
    let outcome = |arguments: &[&str]| {
        let outcome = Run::start(bare().args(["--nodes", NOBODY]).args(arguments)).finish();
        (outcome.status.code(), outcome.err)
    };
    for (arguments, given, hint) in [
        (&["-n", "r", "-c", "true"][..], "-c", "a line for a shell is written -- sh -c '…'"),
        (&["-nc", "true", "r"], "-c", "a line for a shell is written -- sh -c '…'"),
        (&["--command", "true", "r"], "--command", "a line for a shell is written -- sh -c '…'"),
        (&["-s", "r", "--", "true"], "-s", "there are no shared locks"),
        (&["-x", "r", "--", "true"], "-x", "every lock is exclusive"),
        (&["--close", "r", "--", "true"], "--close", "COMMAND never inherits the lock"),
        (&["-F", "r", "--", "true"], "-F", "redbolt stays, and keeps the lock alive"),
    ] {
        let (code, err) = outcome(arguments);
        assert_eq!(code, Some(64), "{err}");
        let expected = format!("redbolt: unexpected argument '{given}' found: {hint}; see");
        assert!(err.starts_with(&expected), "{arguments:?}: {err}");
    }
    // The shell takes a list with spaces apart.
    let (code, err) = outcome(&["b", "c", "r", "--", "true"]);
    assert_eq!(code, Some(64), "{err}");
    let expected = "argument 'c' found: commas separate nodes, and RESOURCE is one argument;";
    assert!(err.contains(expected), "{err}");
    // Whoever is used to count the letters says no more with two.
    for verbose in [&["-vv"][..], &["-v", "-v"], &["--verbose", "-v"]] {
        let (code, err) = outcome(&[verbose, &["-n", "r", "--", "true"]].concat());
        assert_eq!(code, Some(69), "{err}");
        assert!(err.starts_with("redbolt["), "{err}");
    }
    // All units are named, and min is one for m.
    let (code, err) = outcome(&["--max-hold", "5min", "-n", "r", "--", "true"]);
    assert_eq!(code, Some(69), "{err}");
    let (code, err) = outcome(&["--max-hold", "5sec", "-n", "r", "--", "true"]);
    assert_eq!(code, Some(64), "{err}");
    let expected = "--max-hold is \"5sec\", whose unit is not one of ns, us, ms, s, m, h and d;";
    assert!(err.contains(expected), "{err}");
}

/// The one object that is said.
fn object(command: &mut Command) -> Value {
    let outcome = Run::start(command).finish();
    outcome.assert_code(64);
    assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
    serde_json::from_str(&outcome.err).unwrap_or_else(|error| panic!("{error}: {}", outcome.err))
}

#[test]
fn a_mistake_is_json_for_whoever_reads_json() {
    let folder = Folder::new();
    let file = write(&folder, "f.toml", format!("nodes = '{NOBODY}'\nlog = 'json'\nwait = '9w'\n"));
    let rest = ["--nodes", NOBODY, "r", "--", "true"];
    type Row<'r> = (&'r [&'r str], &'r [(&'r str, &'r str)], &'r str);
    let rows: [Row<'_>; 8] = [
        (&["--log", "json", "--wiat", "5"], &[], "unexpected argument '--wiat' found, --wait is"),
        (&["--wait", "9w", "--log=json"], &[], "--wait is \"9w\", whose unit"),
        (&["-c", "x"], &[("REDBOLT_LOG", "json")], "unexpected argument '-c' found: a line for"),
        (&["--log", "json"], &[("REDBOLT_FOO_BAR", "1")], "REDBOLT_FOO_BAR is not a setting, but"),
        (&[], &[("REDBOLT_LOG", "json"), ("REDBOLT_TTL", "x")], "REDBOLT_TTL is \"x\", which"),
        (&[], &[("REDBOLT_LOG", "json"), ("REDBOLT_MAXTTL", "x")], "REDBOLT_MAXTTL is not a"),
        (&["--log=json", "--config", "/absent"], &[], "--config: cannot read /absent: No such"),
        (&["--config", &file], &[], "f.toml:3: wait is \"9w\", whose unit"),
    ];
    for (options, variables, message) in rows {
        let mut command = bare();
        let object = object(command.args(options).args(rest).envs(variables.iter().copied()));
        let fields = ["level", "event", "failure"].map(|name| object[name].clone());
        assert_eq!(fields, ["error", "failed", "usage"].map(Value::from), "{object}");
        assert_eq!(object["exit_code"], 64);
        let time = object["time"].as_str().expect("a time");
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
        let text = object["text"].as_str().expect("a text");
        assert!(text.contains(message), "{message}: {text}");
    }
    // Nothing at all is given.
    assert_eq!(object(bare().env("REDBOLT_LOG", "json"))["failure"], "usage");
    // The form of another command is no setting.
    let outcome = Run::start(bare().args(["--wiat", "r", "--", "x", "--log", "json"])).finish();
    assert!(outcome.err.starts_with("redbolt: unexpected argument '--wiat'"), "{}", outcome.err);
}
