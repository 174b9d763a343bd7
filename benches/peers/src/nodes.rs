//! Questions to the nodes, beside the locks of a run.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use redbolt::Clock;

use crate::plan::{Outcome, Plan};

/// The time that the last releases may take to arrive.
const PATIENCE: Duration = Duration::from_secs(2);

/// Fails unless the nodes hold no key. The nodes are there for this run alone, so a key is a lock
/// that a contestant forgot.
pub(crate) fn check_empty(plan: &Plan) -> Outcome<()> {
    check_none(&plan.nodes)
}

/// The same for these nodes.
pub(crate) fn check_none(nodes: &[SocketAddr]) -> Outcome<()> {
    let deadline = Clock::now() + PATIENCE;
    for &node in nodes {
        loop {
            // The hash of the fencing numbers and the witness of the server are no locks, and stay.
            let beside = "EXISTS redbolt:fence redbolt:witness redbolt:seen";
            let keys = [ask(node, "DBSIZE")?, ask(node, beside)?];
            if keys[0] == keys[1] {
                break;
            }
            if Clock::now() >= deadline {
                return Err(format!("{node} still holds keys: {}", keys[0]).into());
            }
        }
    }
    Ok(())
}

/// Returns the processor time that all nodes have used since their start.
pub(crate) fn cpu_seconds(plan: &Plan) -> Outcome<f64> {
    let mut sum = 0.0;
    for &node in &plan.nodes {
        let info = ask(node, "INFO cpu")?;
        for name in ["used_cpu_user:", "used_cpu_sys:"] {
            let line = info.lines().find_map(|line| line.strip_prefix(name));
            sum += line.ok_or("a node does not tell its processor time")?.parse::<f64>()?;
        }
    }
    Ok(sum)
}

/// Returns the answer of a node: a line, or the text of a bulk string.
fn ask(node: SocketAddr, command: &str) -> Outcome<String> {
    let mut stream = TcpStream::connect_timeout(&node, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let line = line.trim_end();
    let Some(len) = line.strip_prefix('$') else { return Ok(line.to_owned()) };
    let mut text = String::new();
    reader.take(len.parse()?).read_to_string(&mut text)?;
    Ok(text)
}
