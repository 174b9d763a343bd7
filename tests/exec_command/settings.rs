//! Which of an option, a variable and a file counts, and what each of them may say.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::run::{PATIENCE, Run, exec, run_until_quorate, start_script};
use crate::support::process::Folder;
use crate::support::servers::Cluster;
use crate::support::until;

/// Writes a configuration file, and returns its path.
fn config(folder: &Folder, text: &str) -> String {
    let path = folder.path().join("f.toml");
    fs::write(&path, text).expect("the folder is ours");
    path.to_str().expect("the name of a test's folder is text").to_owned()
}

/// `redbolt exec` with this file, and nothing else.
fn with_file(file: impl AsRef<Path>) -> Command {
    let mut command = exec(&[]);
    command.env_remove("REDBOLT_NODES").env_remove("REDBOLT_RESTART_GUARD");
    command.arg("--config").arg(file.as_ref());
    command
}

#[test]
fn an_option_goes_before_a_variable_and_a_variable_before_the_file() {
    let folder = Folder::new();
    // Every value is wrong, so that the message names the place that counts.
    let rows = [
        ("quorum", "'9'", "REDBOLT_QUORUM", "--quorum", " is \"9\", with"),
        ("max_ttl", "'9ms'", "REDBOLT_MAX_TTL", "--max-ttl", " is \"9ms\", between"),
        ("drift_step", "'9h'", "REDBOLT_DRIFT_STEP", "--drift-step", " is \"9h\", which makes"),
        ("restart_guard", "'9'", "REDBOLT_RESTART_GUARD", "--restart-guard", " is \"9\", on,"),
        ("ttl", "'99s'", "REDBOLT_TTL", "--ttl", " is 99s, at most --max-ttl = 1m is"),
        ("wait", "'9w'", "REDBOLT_WAIT", "--wait", " is \"9w\", whose unit is"),
        ("max_hold", "'9w'", "REDBOLT_MAX_HOLD", "--max-hold", " is \"9w\", whose unit is"),
        ("at_least", "'9w'", "REDBOLT_AT_LEAST", "--at-least", " is \"9w\", whose unit is"),
        ("nodes", "'a,a'", "REDBOLT_NODES", "--nodes", ": node a:6379 is given twice"),
        (
            "conflict_exit_code",
            "69",
            "REDBOLT_CONFLICT_EXIT_CODE",
            "--conflict-exit-code",
            " is \"69\", between 1 and 125 is possible, but not 64, 69, 70 or 76",
        ),
        ("lost_exit_code", "0", "REDBOLT_LOST_EXIT_CODE", "--lost-exit-code", " is \"0\", betw"),
        (
            "unavailable_exit_code",
            "126",
            "REDBOLT_UNAVAILABLE_EXIT_CODE",
            "--unavailable-exit-code",
            " is \"126\", between",
        ),
        (
            "expiring_signal",
            "'USR9'",
            "REDBOLT_EXPIRING_SIGNAL",
            "--expiring-signal",
            " is \"USR9\", HUP, INT,",
        ),
    ];
    for (name, value, variable, option, message) in rows {
        let nodes = if name == "nodes" { "" } else { "nodes = '127.0.0.1:1'\n" };
        let file = config(&folder, &format!("{nodes}# here\n{name} = {value}\n"));
        let value = value.trim_matches('\'');
        let line = if nodes.is_empty() { 2 } else { 3 };
        let mut command = with_file(&file);
        let complains = |command: &mut Command, place: &str| {
            let mut once = Command::new(command.get_program());
            once.args(command.get_args());
            for (name, value) in command.get_envs() {
                match value {
                    Some(value) => once.env(name, value),
                    None => once.env_remove(name),
                };
            }
            let outcome = Run::start(once.args(["r", "--", "true"])).finish();
            outcome.assert_code(64);
            let expected = format!("redbolt: {place}{message}");
            assert!(outcome.err.starts_with(&expected), "{expected}: {}", outcome.err);
        };
        complains(&mut command, &format!("{file}:{line}: {name}"));
        command.env(variable, value);
        complains(&mut command, variable);
        command.arg(format!("{option}={value}"));
        complains(&mut command, option);
    }
}

#[test]
fn what_is_overridden_does_not_count() {
    let folder = Folder::new();
    let file = "nodes = '127.0.0.1:1'\nttl = '99s'\nquorum = 9\nwait = 'forever'\nverbose = 'x'\n\
                max_hold = '1s'\nlost_exit_code = 64\nrestart_guard = 'off'\n";
    let file = config(&folder, file);
    let mut command = with_file(&file);
    command.args(["--ttl", "1s", "--quorum", "1", "-n", "-v", "--no-keep-alive"]);
    command.args(["--lost-exit-code", "3", "r", "--", "true"]);
    let outcome = Run::start(&mut command).finish();
    outcome.assert_code(69);
    // A limit of the file is named by its line.
    let file = config(&folder, "nodes = '127.0.0.1:1'\nmax_ttl = '20s'\n");
    let outcome = Run::start(with_file(&file).args(["r", "--", "true"])).finish();
    outcome.assert_code(64);
    let message = format!("--ttl is 30s, at most {file}:2: max_ttl = 20s is possible");
    assert!(outcome.err.contains(&message), "{}", outcome.err);
}

#[test]
fn a_file_alone_is_enough_and_its_prefix_counts() {
    let cluster = Cluster::start(3);
    let folder = Folder::new();
    let nodes = cluster.addrs();
    // The same file may be for clients, whose holds may be without end.
    let text = "prefix = 'f:'\nrestart_guard = 'off'\nmax_hold = 'forever'";
    let file = config(&folder, &format!("nodes = {nodes:?}\n{text}"));
    let key = |options: &[&str], variable: Option<&str>| {
        let mut command = with_file(&file);
        command.args(options).envs(variable.map(|value| ("REDBOLT_PREFIX", value)));
        let script = "echo >here; while [ -e out ] && [ ! -e go ]; do :; done";
        let run = Run::start(command.args(["r", "--", "sh", "-c", script]));
        run.line("here");
        let keys = cluster[0].keys();
        run.create("go");
        run.finish().assert_code(0);
        assert!(until(PATIENCE, || cluster.iter().all(|node| node.keys().is_empty())));
        keys
    };
    assert_eq!(key(&[], None), [b"f:r"]);
    assert_eq!(key(&[], Some("v:")), [b"v:r"]);
    assert_eq!(key(&["--prefix", "o:"], Some("v:")), [b"o:r"]);
    assert_eq!(key(&["--prefix", ""], Some("v:")), [b"r"]);
    // An empty variable counts as absent.
    assert_eq!(key(&[], Some("")), [b"f:r"]);
}

#[test]
fn every_end_has_the_exit_code_that_was_chosen() {
    let cluster = Cluster::start(3);
    let script = "echo >here; while [ -e out ] && [ ! -e go ]; do :; done";
    let held = start_script(&cluster.addrs(), &[], script);
    held.line("here");
    let chosen = ["--conflict-exit-code", "3", "--lost-exit-code", "4"];
    let chosen = [&chosen[..], &["--unavailable-exit-code", "5"]].concat();
    let attempt =
        |nodes: &[String], more: &[&str]| Run::start(exec(nodes).args(&chosen).args(more)).finish();
    run_until_quorate(&cluster.addrs(), &["-n", "r", "--", "true"]).assert_code(75);
    attempt(&cluster.addrs(), &["--wait", "2s", "r", "--", "true"]).assert_code(3);
    let nobody = ["127.0.0.1:1".to_owned()];
    attempt(&nobody, &["-n", "r", "--", "true"]).assert_code(5);
    let long = "while [ -e out ]; do :; done";
    let short = ["--no-keep-alive", "--ttl", "500ms", "s", "--", "sh", "-c", long];
    attempt(&cluster.addrs(), &short).assert_code(4);

    let folder = Folder::new();
    let nodes = cluster.addrs();
    let text = format!("nodes = {nodes:?}\nrestart_guard = 'off'\nconflict_exit_code = 6\n");
    let file = config(&folder, &text);
    let mut command = with_file(&file);
    command.args(["--wait", "2s", "r", "--", "true"]);
    Run::start(&mut command).finish().assert_code(6);
    command.env("REDBOLT_CONFLICT_EXIT_CODE", "7");
    Run::start(&mut command).finish().assert_code(7);
    held.create("go");
    held.finish().assert_code(0);
}

#[test]
fn a_switch_may_be_set_outside_the_command_line() {
    let cluster = Cluster::start(3);
    let says = |variable: &str, value: &str| {
        let mut command = exec(&cluster.addrs());
        let outcome = Run::start(command.env(variable, value).args(["r", "--", "true"])).finish();
        (outcome.status.code(), outcome.err)
    };
    let (code, err) = says("REDBOLT_VERBOSE", "true");
    assert!(code == Some(0) && err.contains("\"r\" is locked after"), "{err}");
    assert_eq!(says("REDBOLT_VERBOSE", "false"), (Some(0), String::new()));
    let (code, err) = says("REDBOLT_KEEP_ALIVE", "no");
    assert_eq!(code, Some(64), "{err}");
    assert!(err.contains("REDBOLT_KEEP_ALIVE is \"no\", true or false is possible"), "{err}");
    // Without renewals the command is ended, and with them it is not.
    let mut command = exec(&cluster.addrs());
    command.env("REDBOLT_KEEP_ALIVE", "false").args(["--ttl", "500ms", "r", "--"]);
    let long = "while [ -e out ]; do :; done";
    Run::start(command.args(["sh", "-c", long])).finish().assert_code(76);
}

#[test]
fn a_misspelt_name_is_told_the_one_that_was_meant() {
    let outcome = |command: &mut Command| {
        let outcome = Run::start(command.args(["r", "--", "true"])).finish();
        outcome.assert_code(64);
        assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
        outcome.err
    };
    for (given, meant) in [
        ("--wiat", "--wait"),
        ("--nowait", "--no-wait"),
        ("--tll", "--ttl"),
        ("--maxttl", "--max-ttl"),
        ("--conflict-code", "--conflict-exit-code"),
    ] {
        let err = outcome(exec(&[]).args(["--nodes", "a", given, "5"]));
        let expected = format!("unexpected argument '{given}' found, {meant} is one; see");
        assert!(err.contains(&expected), "{err}");
    }
    let mut exce = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    let err = outcome(exce.arg("exce"));
    assert!(err.contains("there is no command \"exce\", `exec` is one; see"), "{err}");
    for (given, meant) in [("lock", "`exec` runs a command while holding"), ("status", "`check`")] {
        let err = outcome(Command::new(env!("CARGO_BIN_EXE_redbolt")).arg(given));
        let expected = format!("there is no command \"{given}\": {meant}");
        assert!(err.contains(&expected), "{err}");
    }
    let err = outcome(exec(&[]).args(["--nodes", "a", "--latency"]));
    assert!(err.contains("unexpected argument '--latency' found; see"), "{err}");
    let err = outcome(exec(&["a".to_owned()]).env("REDBOLT_LOST_CODE", "3"));
    assert!(err.contains("REDBOLT_LOST_CODE is not a setting, REDBOLT_LOST_EXIT_CODE is"), "{err}");
    let folder = Folder::new();
    let file = config(&folder, "nodes = 'a'\nmaxttl = '5s'\n");
    let err = outcome(&mut with_file(&file));
    assert!(err.contains(&format!("{file}:2: \"maxttl\" is not a setting, max_ttl is")), "{err}");
    // What stands in the wrong place may be a list of nodes.
    let err = outcome(exec(&[]).args(["--ttl", "redis://:tops3cret@a"]));
    assert!(err.contains("--ttl is \"…\", which is not a duration"), "{err}");
    let err = outcome(exec(&[]).args(["redis://:tops3cret@a"]));
    assert!(!err.contains("tops3cret"), "{err}");
}
