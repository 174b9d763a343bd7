//! Who will bear the load, told before it begins.
//!
//! A variable can name nodes of which the person at the terminal does not think, and five hundred
//! locks in flight are no small thing for servers in use.

use std::fmt::Write;

use redbolt::{Check, CheckError, CheckNode, Config};

use crate::bench::run::Node;
use crate::bench::run::digits::thousandths;
use crate::bench::watch::servers::ask_all;
use crate::failure::Failure;

/// Asks all nodes who they are, as `redbolt check` does: nothing is written.
pub(crate) fn ask(config: &Config) -> Result<Vec<Node>, Failure> {
    let report = Check::new(config.clone()).run().map_err(|error| match error {
        CheckError::Io(_) => Failure::software(error),
        _ => Failure::usage(error),
    })?;
    let asked = ask_all(&config.nodes).into_iter().map(Result::err);
    Ok(report.nodes().iter().zip(asked).map(|(check, unasked)| node(check, unasked)).collect())
}

fn node(check: &CheckNode, unasked: Option<String>) -> Node {
    let server = check.server.as_ref();
    Node {
        node: check.address.to_string(),
        server: server.map(|server| server.name.clone()),
        version: server.and_then(|server| server.version.clone()),
        state: check.label.to_owned(),
        round_trip_ms: check.round_trip.map(|time| thousandths(time.as_secs_f64() * 1e3)),
        unasked,
    }
}

/// Returns a line for the load, and a line for each node, without the end of the last line.
pub(crate) fn announcement(load: &str, nodes: &[Node]) -> String {
    let plural = if nodes.len() == 1 { "" } else { "s" };
    let mut text = format!("{load} on {} node{plural}:", nodes.len());
    for node in nodes {
        let server = node.server.as_deref().unwrap_or("unknown server");
        let version = node.version.as_deref().map_or(String::new(), |text| format!(" {text}"));
        let trip = node.round_trip_ms.map_or(String::new(), |trip| format!(", {trip} ms away"));
        // A string takes everything.
        _ = write!(text, "\n  {}: {server}{version}, {}{trip}", node.node, node.state);
        if let Some(reason) = &node.unasked {
            _ = write!(text, "; no CPU figures: {reason}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_named_with_what_is_known_of_it() {
        let known = Node {
            node: "a:1".to_owned(),
            server: Some("valkey".to_owned()),
            version: Some("9.1.0".to_owned()),
            state: "ready".to_owned(),
            round_trip_ms: Some(0.21),
            unasked: None,
        };
        let unknown = Node {
            node: "b:1".to_owned(),
            server: None,
            version: None,
            state: "DOWN".to_owned(),
            round_trip_ms: None,
            unasked: Some("connection refused".to_owned()),
        };
        let expected = "512 in flight for 5s on 2 nodes:\n  \
                        a:1: valkey 9.1.0, ready, 0.21 ms away\n  \
                        b:1: unknown server, DOWN; no CPU figures: connection refused";
        assert_eq!(announcement("512 in flight for 5s", &[known, unknown]), expected);
    }
}
