//! Counts instructions: this program runs itself again, beneath callgrind.

use std::env;
use std::process::{Command, Output, Stdio};

use crate::work::Work;

/// The argument that makes this program run one operation and nothing else.
pub(crate) const COMMAND: &str = "--do";

/// Enough rounds for a stable average, within a second.
const ROUNDS: usize = 200;

pub(crate) fn is_there() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Returns the instructions of one operation.
///
/// Start-up and preparation cost the same for any number of rounds. So the difference of two runs
/// is the cost of the additional rounds alone, to the instruction.
pub(crate) fn count(work: &Work) -> f64 {
    let (few, operations_of_few) = run(work, ROUNDS);
    let (many, operations_of_many) = run(work, 2 * ROUNDS);
    (many - few) as f64 / (operations_of_many - operations_of_few) as f64
}

/// Returns the instructions of a whole run, and its number of operations.
fn run(work: &Work, rounds: usize) -> (u64, u64) {
    let program = env::current_exe().expect("a program can find itself");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([COMMAND, work.name, &rounds.to_string()])
        .output()
        .expect("valgrind can be run");
    let Output { status, stdout, stderr } = output;
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{} fails beneath callgrind: {stderr}", work.name);
    let collected = stderr.lines().find_map(|line| line.split_once("Collected : "));
    let (_, instructions) = collected.unwrap_or_else(|| panic!("callgrind has no count: {stderr}"));
    (number(instructions), number(&stdout))
}

fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}
