//! One run of the program, and what it has said.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// What a run has printed, and its exit code.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints text");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// # Panics
    ///
    /// When the exit code is another, a text is not in the output, or a line of the result is too
    /// wide.
    #[track_caller]
    pub(crate) fn assert(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        // A text may go on in the next line.
        let said: Vec<_> = self.out.split_whitespace().chain(self.err.split_whitespace()).collect();
        let said = said.join(" ");
        for text in texts {
            assert!(said.contains(text), "{text:?} is not in:\n{}{}", self.out, self.err);
        }
        for line in self.out.lines() {
            assert!(line.starts_with('{') || line.chars().count() <= 80, "{line}");
        }
    }

    /// The object that `who --json` has printed.
    pub(crate) fn object(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

fn command(name: &str, nodes: &[String], arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    program.arg(name).env("REDBOLT_NODES", nodes.join(",")).args(arguments);
    program
}

pub(crate) fn redbolt(name: &str, nodes: &[String], arguments: &[&str]) -> Outcome {
    redbolt_reads(name, nodes, arguments, b"")
}

/// The same with this variable.
pub(crate) fn redbolt_with(
    name: &str,
    nodes: &[String],
    (variable, value): (&str, &str),
    arguments: &[&str],
) -> Outcome {
    let output = command(name, nodes, arguments).env(variable, value).output();
    Outcome::of(output.expect("the program can be started"))
}

/// The same with this text on standard input.
pub(crate) fn redbolt_reads(
    name: &str,
    nodes: &[String],
    arguments: &[&str],
    input: &[u8],
) -> Outcome {
    let mut program = command(name, nodes, arguments);
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().expect("the program can be started");
    // Who reads nothing may have ended before.
    _ = child.stdin.take().expect("it was asked for").write_all(input);
    Outcome::of(child.wait_with_output().expect("it is ours to wait for"))
}

pub(crate) fn who(nodes: &[String], arguments: &[&str]) -> Outcome {
    redbolt("who", nodes, arguments)
}

pub(crate) fn unlock(nodes: &[String], resource: &str, token: &str) -> Outcome {
    redbolt("unlock", nodes, &[resource, "--token", token])
}

/// The object about the only resource that was asked about.
pub(crate) fn who_json(nodes: &[String], resource: &str) -> Value {
    who(nodes, &["--json", resource]).object()["resources"][0].take()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
