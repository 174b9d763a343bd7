//! What a run asks of the nodes beside its locks.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use redbolt::Clock;

use crate::plan::{Outcome, Plan};

/// How long the last releases may take to arrive.
const PATIENCE: Duration = Duration::from_secs(2);

/// Fails unless the nodes hold no key. They are there for this run alone, so a key is a lock that
/// somebody forgot.
pub(crate) fn check_empty(plan: &Plan) -> Outcome<()> {
    let deadline = Clock::now() + PATIENCE;
    for &node in &plan.nodes {
        loop {
            let keys = ask(node, "DBSIZE")?;
            if keys == ":0" {
                break;
            }
            if Clock::now() >= deadline {
                return Err(format!("{node} still holds keys: {keys}").into());
            }
        }
    }
    Ok(())
}

/// The first line of what a node answers.
fn ask(node: SocketAddr, command: &str) -> Outcome<String> {
    let mut stream = TcpStream::connect_timeout(&node, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}
