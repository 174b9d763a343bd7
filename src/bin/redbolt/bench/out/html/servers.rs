//! The nodes, and what the load that the page shows first has cost them.

use std::collections::BTreeMap;

use super::markup::{Cell, Row, escaped, figure, figure_or_absent, section as titled, table};
use crate::bench::run::{Calls, Node, NodeCost, Run};

pub(super) fn section(run: &Run) -> String {
    let titles = ["node", "server", "version", "state", "round trip, ms", "without figures"];
    let rows: Vec<_> = run.nodes.iter().map(node).collect();
    titled("Nodes", &table(&titles, &rows))
}

fn node(node: &Node) -> Row {
    let text = |text: &Option<String>| text.as_deref().map(escaped).unwrap_or_default();
    Row::new(vec![
        Cell::Text(escaped(&node.node)),
        Cell::Text(text(&node.server)),
        Cell::Text(text(&node.version)),
        Cell::Text(escaped(&node.state)),
        Cell::Figure(figure_or_absent(node.round_trip_ms)),
        Cell::Long(text(&node.unasked)),
    ])
}

/// Returns what a step has cost the servers that could be asked.
pub(super) fn costs(nodes: &[NodeCost]) -> String {
    let titles = ["node", "CPU", "commands: calls a second, µs for each"];
    let row = |cost: &NodeCost| {
        Row::new(vec![
            Cell::Text(escaped(&cost.node)),
            Cell::Figure(format!("{} %", figure(cost.cpu_percent))),
            Cell::Long(commands(&cost.commands)),
        ])
    };
    table(&titles, &nodes.iter().map(row).collect::<Vec<_>>())
}

fn commands(commands: &BTreeMap<String, Calls>) -> String {
    let command = |(name, calls): (&String, &Calls)| {
        let (rate, cost) = (figure(calls.calls_per_s), figure(calls.us_per_call));
        format!("{} {rate}/s, {cost} µs", escaped(name))
    };
    commands.iter().map(command).collect::<Vec<_>>().join("; ")
}
