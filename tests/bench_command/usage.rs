//! What the program says of its command line, and where.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use super::run::{bench, run, text};

#[test]
fn what_cannot_be_used_is_named_with_its_bounds_on_one_line() {
    let in_flight = "a whole number between 1 and 100,000 is possible; see redbolt bench --help";
    let rows: [(&[&str], &str); 35] = [
        (&["--seconds", "0"], "--seconds is \"0\", between 100ms and 1h is possible; see"),
        (&["--seconds", "2h"], "--seconds is \"2h\", between"),
        (&["--seconds", "soon"], "--seconds is \"soon\", which is not a duration such as 250us"),
        (&["--in-flight", "0"], &format!("--in-flight is \"0\", {in_flight}")),
        (&["--in-flight", "100001"], &format!("--in-flight is \"100001\", {in_flight}")),
        (&["--in-flight", "-1"], &format!("--in-flight is \"-1\", {in_flight}")),
        (&["--in-flight", "abc"], &format!("--in-flight is \"abc\", {in_flight}")),
        (&["--ttl", "9ms"], "--ttl is \"9ms\", between 10ms and 168h is possible"),
        (&["--ttl", "169h"], "--ttl is \"169h\", between"),
        (&["--ttl", "-1s"], "--ttl is \"-1s\", which is not a duration"),
        (&["--ttl", ""], "--ttl is \"\", which is not a duration"),
        (&["--resources", "0"], "--resources is \"0\", a whole number between 1 and 4,294,967,295"),
        (&["--rate", "0"], "--rate is \"0\", a whole number between 1 and 1,000,000"),
        (&["--rate", "1000001"], "--rate is \"1000001\", a whole number"),
        (&["--rate", "2k..1k"], "--rate is \"2k..1k\", a whole number between 1 and 1,000,000, or"),
        (&["--rate", "1", "--arrivals", "odd"], "--arrivals is \"odd\", even or poisson is"),
        (&["--resources", "zipf:0"], "--resources is \"zipf:0\", zipf:K:EXPONENT, with K from"),
        (&["--resources", "u:secret@h"], "--resources is \"…\", a whole number between 1 and"),
        (&["--hold", "30s"], "--hold is 30s, less than --ttl, which is 30s, is possible"),
        (&["--extend", "101"], "--extend is \"101\", a whole number of percent between 0% and"),
        (&["--key-len", "32"], "--key-len is \"32\", a whole number between 33 and 2,048"),
        (&["--rounds", "0"], "--rounds is \"0\", a whole number between 1 and 1,000"),
        (&["--warm-up", "2h"], "--warm-up is \"2h\", between 0s and 1h is possible"),
        (&["--seed", "-1"], "--seed is \"-1\", a whole number between 0 and"),
        (&["--against", "etcd"], "--against is \"etcd\", raw is possible"),
        (&["--client", "--keep-alive", "0"], "--keep-alive is \"0\", a whole number between 1"),
        (
            &["--client", "--keep-alive", "9", "--extend", "5"],
            "the argument '--keep-alive <N>' cannot be used with '--extend <PERCENT>'",
        ),
        (&["--busy-poll", "2s"], "--busy-poll is \"2s\", between 0s and 1s is possible"),
        (&["--nodes", "a:1,b:x"], "--nodes: address 2 of the list, \"b:…\", has a port"),
        (&["--nodes", "a:1,,b:1"], "--nodes: address 2 of the list, \"\", lacks a host"),
        (&["--nodes", "a:1,b:1,a:1"], "--nodes: node a:1 is given twice"),
        (&["--nodes", "a:1,"], "--nodes: address 2 of the list, \"\", lacks a host"),
        (&["--nodes", ""], "--nodes is empty"),
        (&["--zzz"], "unexpected argument '--zzz' found; see redbolt bench --help\n"),
        (&["--second", "1"], "unexpected argument '--second' found, --seconds is one; see"),
    ];
    for (args, message) in rows {
        let (stdout, stderr) = text(run(args), 64);
        assert_eq!(stdout, "", "{args:?}");
        assert!(stderr.starts_with(&format!("redbolt: {message}")), "{args:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    }
    let (_, stderr) = text(run(&["--nodes", "redis://:secret@a:x"]), 64);
    assert!(!stderr.contains("secret"), "{stderr}");
    let mut command = bench(&[]);
    command.env("REDBOLT_NODES", OsStr::from_bytes(b"a:1,\xff"));
    let (_, stderr) = text(command.output().expect("the program runs"), 64);
    assert_eq!(stderr, "redbolt: REDBOLT_NODES is not UTF-8\n");
}

#[test]
fn without_a_command_those_that_there_are_are_named() {
    for (args, what) in
        [(&[][..], "no command given: "), (&["ensnare"], "no command \"ensnare\": ")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_redbolt")).args(args).output();
        let (stdout, stderr) = text(output.expect("the program runs"), 64);
        assert_eq!((stdout.as_str(), stderr.lines().count()), ("", 1), "{stderr}");
        assert!(stderr.contains(what), "{stderr}");
        assert!(stderr.contains("`bench`") && stderr.contains("`exec`"), "{stderr}");
    }
}

#[test]
fn help_fits_into_a_hundred_columns() {
    for args in [&["--help"][..], &["bench", "--help"], &["exec", "--help"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_redbolt")).args(args).output();
        let (stdout, _) = text(output.expect("the program runs"), 0);
        let long = stdout.lines().find(|line| line.chars().count() > 100);
        assert_eq!(long, None, "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_told_of_unless_the_reader_has_gone() {
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = bench(&["--help"]).stdout(full).output().expect("the program runs");
    let (_, stderr) = text(output, 70);
    assert!(stderr.starts_with("redbolt: cannot write to standard output: "), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");

    let mut reader =
        Command::new("true").stdin(Stdio::piped()).spawn().expect("every system has it");
    let writer = reader.stdin.take().expect("a pipe was asked for");
    reader.wait().expect("it ends at once");
    let output = bench(&["--help"]).stdout(writer).output().expect("the program runs");
    assert_eq!(text(output, 0).1, "");
}
