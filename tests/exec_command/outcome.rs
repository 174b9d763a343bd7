//! Exit codes, the environment, and input that cannot be used.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;

use super::run::{Run, assert_no_keys, exec, run, run_until_quorate, start_script};
use crate::support::process::Folder;
use crate::support::servers::Cluster;

#[test]
fn the_exit_code_of_the_command_passes_through() {
    let cluster = Cluster::start(3);
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("exit 255", 255)] {
        start_script(&cluster.addrs(), &[], script).finish().assert_code(code);
        assert_no_keys(&cluster);
    }
    start_script(&cluster.addrs(), &[], "kill -9 $$").finish().assert_died_of(Signal::KILL);
    assert_no_keys(&cluster);
}

#[test]
fn the_command_knows_the_resource_and_the_token_under_which_it_is_locked() {
    let cluster = Cluster::start(3);
    let script = r#"
        echo "$REDBOLT_RESOURCE" >resource; echo "$REDBOLT_TOKEN" >token
        while [ -e out ] && [ ! -e go ]; do :; done; echo done
    "#;
    let run = start_script(&cluster.addrs(), &[], script);
    let token = run.line("token");
    assert_eq!(run.line("resource"), "r");
    assert_eq!(token.len(), 40);
    let digits = (0..40).step_by(2).map(|at| u8::from_str_radix(&token[at..at + 2], 16));
    let bytes: Vec<_> = digits.collect::<Result<_, _>>().expect("hex digits");
    assert!(cluster.holding(b"r", &bytes) >= 2);
    run.create("go");
    let outcome = run.finish();
    outcome.assert_code(0);
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("done\n", ""));
    assert_no_keys(&cluster);
}

#[test]
fn the_command_knows_its_fencing_number_if_one_was_asked_for() {
    let cluster = Cluster::start(3);
    let mut last = 0_u64;
    for _ in 0..2 {
        let outcome = start_script(&cluster.addrs(), &["--fence"], "echo $REDBOLT_FENCE").finish();
        outcome.assert_code(0);
        let fence = outcome.out.trim().parse().expect("a number");
        assert!(fence > last, "{fence} behind {last}");
        last = fence;
    }
    // A number of another lock does not reach the command.
    let run = || -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_redbolt"));
        command.env("REDBOLT_FENCE", "7").args(["exec", "--restart-guard", "off"]);
        command.args(["--nodes", &cluster.addrs().join(",")]);
        command
    };
    let output = run().args(["r", "--", "sh", "-c", "echo ${REDBOLT_FENCE-none}"]).output();
    let output = output.expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "none\n", "{output:?}");
}

/// Such a command would wait for its own end.
#[test]
fn a_lock_that_is_wanted_within_itself_is_told_of_at_once() {
    let cluster = Cluster::start(3);
    let program = env!("CARGO_BIN_EXE_redbolt");
    let within = |options: &[&str]| {
        let arguments = [&["r", "--", program, "exec"], options, &["r", "--", "true"]].concat();
        run_until_quorate(&cluster.addrs(), &arguments)
    };
    let outcome = within(&["-qn"]);
    outcome.assert_code(75);
    let held = "\"r\" is not free: held by the redbolt that has started this one\n";
    assert_eq!(outcome.err, format!("redbolt: {held}"));
    let outcome = within(&["-w", "2s"]);
    outcome.assert_code(75);
    let stuck = "\"r\" will not come free by itself: held by the redbolt that has started this one";
    assert!(outcome.err.contains(&format!("redbolt: {stuck}\n")), "{}", outcome.err);
}

#[test]
fn a_command_that_cannot_be_run_is_told_of_and_the_lock_is_released() {
    let cluster = Cluster::start(3);
    let folder = Folder::new();
    let plain = folder.path().join("plain");
    fs::write(&plain, "no program").expect("the folder is ours");
    let readable = fs::Permissions::from_mode(0o600);
    fs::set_permissions(&plain, readable).expect("the folder is ours");
    let plain = plain.to_str().expect("the name of a test's folder is text");
    for (command, code) in [("/nonexistent/command", 127), (plain, 126)] {
        let outcome = run(&cluster.addrs(), &["r", "--", command]);
        outcome.assert_code(code);
        assert!(outcome.err.contains(command), "{}", outcome.err);
        assert_no_keys(&cluster);
    }
}

#[test]
fn settings_come_from_variables_where_no_option_says_otherwise() {
    let run = |variable: (&str, &str), options: &[&str]| {
        let mut command = exec(&["127.0.0.1:1".to_owned()]);
        command.env(variable.0, variable.1).args(options).args(["r", "--", "true"]);
        let outcome = Run::start(&mut command).finish();
        (outcome.status.code(), outcome.err)
    };
    let max_ttl = ("REDBOLT_MAX_TTL", "20s");
    let ttl = ("REDBOLT_TTL", "61s");
    let rows: [(_, &[&str], _, &str); 20] = [
        (max_ttl, &[], 64, "the default of --ttl is 30s, at most REDBOLT_MAX_TTL = 20s"),
        (
            max_ttl,
            &["--max-ttl", "10s"],
            64,
            "the default of --ttl is 30s, at most --max-ttl = 10s",
        ),
        (max_ttl, &["--max-ttl", "40s", "--no-wait"], 69, "no quorum"),
        (("REDBOLT_MAX_TTL", "9ms"), &[], 64, "REDBOLT_MAX_TTL is \"9ms\", between 10ms and 168h"),
        (("REDBOLT_MAX_HOLD", "169h"), &[], 64, "REDBOLT_MAX_HOLD is \"169h\", between 30s and 1"),
        (
            ("REDBOLT_QUORUM", "2"),
            &[],
            64,
            "REDBOLT_QUORUM is \"2\", with 1 node only 1 is possible",
        ),
        (ttl, &[], 64, "REDBOLT_TTL is 61s, at most --max-ttl = 1m is possible"),
        (ttl, &["--max-hold", "1m", "--max-ttl", "2m"], 64, "1m, at least REDBOLT_TTL = 61s is"),
        (ttl, &["--ttl", "1m", "--no-wait"], 69, "no quorum"),
        (("REDBOLT_TTL", "9ms"), &[], 64, "REDBOLT_TTL is \"9ms\", between 10ms and 168h is"),
        (
            ("REDBOLT_WAIT", "169h"),
            &[],
            64,
            "REDBOLT_WAIT is \"169h\", between 0s and 168h, or fore",
        ),
        (("REDBOLT_WAIT", "forever"), &["-w", "0"], 69, "no quorum"),
        // An option may be a bare number, as for flock; what others read as well may not.
        (("REDBOLT_MAX_TTL", "20"), &[], 64, "REDBOLT_MAX_TTL is \"20\", which needs a unit"),
        (("REDBOLT_TTL", "20"), &[], 64, "REDBOLT_TTL is \"20\", which needs a unit, as in 60s"),
        (("REDBOLT_WAIT", "20"), &[], 64, "REDBOLT_WAIT is \"20\", which needs a unit, as in"),
        (max_ttl, &["--max-ttl", "40", "--ttl", "41"], 64, "--ttl is 41s, at most --max-ttl = 40s"),
        (("REDBOLT_THREADS", "64"), &["--no-wait"], 69, "no quorum"),
        (("REDBOLT_THREADS", "65"), &[], 64, "REDBOLT_THREADS is \"65\", between 1 and 64 is"),
        (("REDBOLT_MAXTTL", "20s"), &[], 64, "REDBOLT_MAXTTL is not a setting, REDBOLT_MAX_TTL is"),
        (("REDBOLT_USER", "app"), &[], 64, "REDBOLT_PASSWORD is not set, but REDBOLT_USER is: a"),
    ];
    for (variable, options, code, message) in rows {
        let (found, err) = run(variable, options);
        assert_eq!(found, Some(code), "{variable:?} {options:?}: {err}");
        assert!(err.contains(message), "{variable:?} {options:?}: {err}");
    }
}

#[test]
fn a_password_in_a_variable_needs_no_encoding() {
    let cluster = Cluster::start_with(3, &["--requirepass", "p@ss,w/%rd"]);
    let mut command = exec(&cluster.addrs());
    command.env("REDBOLT_PASSWORD", "p@ss,w/%rd").args(["r", "--", "true"]);
    Run::start(&mut command).finish().assert_code(0);

    let outcome = Run::start(exec(&cluster.addrs()).args(["-n", "r", "--", "true"])).finish();
    outcome.assert_code(69);
    let hint = "; a login is needed: redis://USER:PASSWORD@HOST, or REDBOLT_USER and";
    assert_eq!(outcome.err.matches(hint).count(), 3, "{}", outcome.err);
}

const CODES: &str = "between 1 and 125 is possible, but not 64, 69, 70 or 76";

#[test]
fn what_cannot_be_used_is_named() {
    let rows: [(&[&str], &str); 27] = [
        (&["r", "--", "true"], "no nodes given: use --nodes HOST:PORT,HOST:PORT,… or set"),
        (&["--nodes", "", "r", "--", "true"], "--nodes is empty"),
        (&["--nodes", "a,b,", "r", "--", "true"], "--nodes: address 3 of the list, \"\", lacks"),
        (&["--nodes", "a,b:0", "r", "--", "true"], "--nodes: address 2 of the list, \"b:…\","),
        (&["--nodes", "a,,b", "r", "--", "true"], "--nodes: address 2 of the list, \"\", lacks"),
        (&["--nodes", "a,b,A:6379", "r", "--", "true"], "--nodes: node A:6379 is given twice"),
        (&["--nodes", "a", "", "--", "true"], "the resource is empty"),
        (&["--nodes", "a", "r", "--", ""], "COMMAND is empty"),
        (
            &["--nodes", "a", "--ttl", "9ms", "r", "--", "true"],
            "--ttl is \"9ms\", between 10ms and",
        ),
        (&["--nodes", "a", "--ttl", "61s", "r", "--", "true"], "--ttl is 61s, at most --max-ttl ="),
        (
            &["--nodes", "a", "--max-hold", "29s", "r", "--", "true"],
            "--max-hold is 29s, at least the default of --ttl = 30s",
        ),
        (&["--nodes", "/run/a.sock", "r", "--", "true"], "a Unix socket is written unix:///path"),
        (&["--nodes", "a", "--ttl", "soon", "r", "--", "true"], "--ttl is \"soon\", which is not"),
        (&["--nodes", "a", "--ttl", "-1s", "r", "--", "true"], "--ttl is \"-1s\", which is not"),
        (
            &["--nodes", "a", "--max-ttl", "200h", "r", "--", "true"],
            "--max-ttl is \"200h\", between",
        ),
        (
            &["--nodes", "a", "--wait", "1y", "r", "--", "true"],
            "--wait is \"1y\", whose unit is not one of",
        ),
        (
            &["--nodes", "a", "--wait", "169h", "r", "--", "true"],
            "--wait is \"169h\", between 0s and",
        ),
        (&["--nodes", "a", "--wait", "1s", "--no-wait", "r", "--", "true"], "the argument '--wait"),
        (&["--nodes", "a", "--conflict-exit-code", "0", "r", "--", "true"], CODES),
        (&["--nodes", "a", "--conflict-exit-code", "64", "r", "--", "true"], CODES),
        (&["--nodes", "a", "--conflict-exit-code", "69", "r", "--", "true"], CODES),
        (&["--nodes", "a", "--conflict-exit-code", "70", "r", "--", "true"], CODES),
        (&["--nodes", "a", "--conflict-exit-code", "76", "r", "--", "true"], CODES),
        (&["--nodes", "a", "--conflict-exit-code", "126", "r", "--", "true"], CODES),
        (&["--nodes", "a", "--conflict-exit-code", "-1", "r", "--", "true"], CODES),
        (
            &["--nodes", "a", "r", "true"],
            "unexpected argument 'true' found: COMMAND stands behind --; see redbolt exec --help",
        ),
        (&["--nodes", "a", "r", "--"], "the following required arguments were not provided: <COMM"),
    ];
    for (arguments, what) in rows {
        let outcome = Run::start(exec(&[]).args(arguments)).finish();
        outcome.assert_code(64);
        let is_named = outcome.err.starts_with("redbolt: ") && outcome.err.contains(what);
        assert!(is_named && outcome.err.lines().count() == 1, "{arguments:?}: {}", outcome.err);
    }
}
