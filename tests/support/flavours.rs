//! Servers of other versions and makers, if `tests/flavours.sh` could fetch them.
//!
//! A test asks for the flavours that are here. For each missing one, a line on stderr says that the
//! flavour is left out and why. The line goes past the test runner, which shows nothing of a test
//! that passes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

use super::program::find_server;
use super::servers::Node;

/// The flavours, the oldest first: name, program, and the native compare-and-delete that the server
/// must have.
const ALL: [(&str, &str, Option<&str>); 5] = [
    (REDIS_7, "redis-server", None),
    ("redis-8", "redis-server", None),
    ("redis-8.4", "redis-server", Some("DELEX")),
    ("valkey-8", "valkey-server", None),
    (VALKEY_9, "valkey-server", Some("DELIFEQ")),
];

/// The usual server; an installed one is enough.
pub(crate) const REDIS_7: &str = "redis-7";
/// The first Valkey with a native compare-and-delete.
pub(crate) const VALKEY_9: &str = "valkey-9";

/// A server of one flavour that is here.
#[derive(Debug)]
pub(crate) struct Flavour {
    pub(crate) name: &'static str,
    /// The native command of the server for compare and delete.
    pub(crate) native: Option<&'static str>,
    program: PathBuf,
}

impl Flavour {
    /// Returns all flavours that are here.
    pub(crate) fn all() -> Vec<Self> {
        let flavours = ALL.into_iter().filter_map(|(name, server, native)| {
            let program = program(name, server);
            if program.is_none() {
                leave_out(name, &reason(name));
            }
            Some(Self { name, native, program: program? })
        });
        flavours.collect()
    }

    /// Starts an empty master of this flavour. A failing test shows the name of the flavour.
    pub(crate) fn start(&self) -> Node {
        self.start_with(&[])
    }

    /// The same, with more arguments.
    pub(crate) fn start_with(&self, args: &[&str]) -> Node {
        println!("on {}", self.name);
        Node::start_program(&self.program, args)
    }
}

/// Reports that a test, or the part of a test about `what`, is left out.
pub(crate) fn leave_out(what: &str, why: &str) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    // One write for the line, because tests run side by side. Nobody may be reading.
    _ = io::stderr().write_all(format!("{test}: left out: {what}: {why}\n").as_bytes());
}

fn program(name: &str, server: &str) -> Option<PathBuf> {
    let fetched = folder().join(name).join(server);
    let found = fetched.is_file().then_some(fetched);
    found.or_else(|| installed_redis_7().filter(|_| name == REDIS_7))
}

fn installed_redis_7() -> Option<PathBuf> {
    let program = find_server(Some("redis-server".into()), env::var_os("PATH")).ok()?;
    let version = Command::new(&program).arg("--version").output().ok()?.stdout;
    String::from_utf8_lossy(&version).contains(" v=7.").then_some(program)
}

fn reason(name: &str) -> String {
    let reason = fs::read_to_string(folder().join(format!("{name}.reason")));
    reason.map_or_else(
        |_| "tests/run.sh has not fetched it".to_owned(),
        |reason| reason.trim_end().to_owned(),
    )
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/flavours")
}
