//! What `redbolt who` prints for people.

use redbolt::redlock::{NodeError, ServerError, Stored, StoredValue};
use redbolt::time::{format_duration, format_rounded};
use redbolt::{NodeWeight, VisitedNode, WhoClient, WhoReport, WhoResource, WhoState, WhoValue};

use crate::lines::Lines;
use crate::nodes::LOGIN_HINT;
use crate::number::grouped;

/// How much is shown of the name of a resource, in bytes.
const NAME: usize = 64;

pub(super) fn of(report: &WhoReport, is_verbose: bool) -> String {
    let mut lines = Lines::default();
    for (place, resource) in report.resources().iter().enumerate() {
        about(&mut lines, report, place);
        if is_verbose {
            for (stored, node) in resource.stored.iter().zip(report.nodes()) {
                lines.add(4, &format!("{}: {}", node.address, at(stored, node)));
            }
        }
    }
    if !is_verbose {
        not_ready(&mut lines, report);
    }
    lines.into_text()
}

/// Names the nodes of which something does not count, and why.
fn not_ready(lines: &mut Lines, report: &WhoReport) {
    let mut is_first = true;
    for (place, node) in report.nodes().iter().enumerate() {
        let mut errors = report.resources().iter().filter_map(|at| at.stored[place].as_ref().err());
        let why = match (&node.weight, errors.next()) {
            (NodeWeight::Counts, None) => continue,
            (NodeWeight::Counts, Some(error)) => error.to_string(),
            _ => weight(node),
        };
        if is_first {
            lines.add(0, "not ready:");
        }
        is_first = false;
        lines.add(2, &format!("{}: {why}", node.address));
    }
}

/// Says what stands under the resource at this place of the report.
fn about(lines: &mut Lines, report: &WhoReport, place: usize) {
    let WhoResource { resource, state, values, free, data, unknown, .. } =
        &report.resources()[place];
    let count = report.nodes().len();
    let nodes = |number: usize| format!("{number} of {count} nodes");
    let name = name(resource);
    lines.add(
        0,
        &match state {
            WhoState::Held { remaining } => {
                format!(
                    "{name} {state} for another {}, a quorum agrees",
                    format_rounded(*remaining)
                )
            }
            WhoState::Permanent => format!("{name} {state}, a quorum agrees"),
            WhoState::Unknown => {
                format!("{name} cannot be told: {}", heard(&report.resources()[place], report))
            }
            _ => format!("{name} {state}"),
        },
    );
    for (number, value) in values.iter().enumerate() {
        let (shown, on, left) = (of_value(&value.value), nodes(value.nodes.len()), left(value));
        let is_first =
            number == 0 && report.resources()[..place].iter().all(|at| at.values.is_empty());
        let whole = if is_first { " (whole: --json)" } else { "" };
        lines.add(2, &format!("{shown} on {on}, {left}{whole}"));
        if let Some(client) = &value.client {
            lines.add(2, &format!("of {}", of_client(client)));
        }
    }
    if let Some((_, number)) = values.first().and_then(|value| value.value.drawn_by()) {
        let twin = twin(report, place).map_or_else(String::new, |twin| {
            format!(", the same as of {}", self::name(&twin.resource))
        });
        if matches!(state, WhoState::Held { .. } | WhoState::Permanent) {
            let number = grouped(number);
            lines.add(2, &format!("attempt {number} of an engine of redbolt{twin}"));
        }
    }
    let sets =
        [(data, "other data on"), (free, "nothing on"), (unknown, "nothing that counts from")];
    for (set, what) in sets {
        // That a free resource is free everywhere need not be said.
        if !set.is_empty() && (*state != WhoState::Free || set == unknown) {
            lines.add(2, &format!("{what} {}", nodes(set.len())));
        }
    }
    if let Some(hint) = hint(&report.resources()[place], report) {
        lines.add(2, &hint);
    }
}

/// Says that too few nodes agree on an unknown resource to tell who has it.
pub(super) fn heard(resource: &WhoResource, report: &WhoReport) -> String {
    let (nodes, need) = (report.nodes().len(), report.quorum().need());
    let heard = nodes - resource.unknown.len();
    format!("{heard} of {nodes} nodes have said what they have, and {need} must agree")
}

/// Returns the way out, where time alone is none, or what an odd state means.
fn hint(resource: &WhoResource, report: &WhoReport) -> Option<String> {
    let counted = resource.stored.iter().zip(report.nodes()).filter(|(_, at)| at.weight.counts());
    let mut ttls = counted.filter_map(|(stored, _)| stored.as_ref().ok()?.ttl());
    let ends = ttls.all(|ttl| ttl.is_some());
    match resource.state {
        WhoState::Permanent => Some(
            "No ttl ends it, as one ends every lock of redbolt: redbolt unlock does, with the \
             token of who --json"
                .to_owned(),
        ),
        WhoState::Dangling if ends => Some(
            "Nobody holds it, and a lock can be had. What is left ends with its ttl".to_owned(),
        ),
        WhoState::Dangling => Some(
            "Nobody holds it, and a lock can be had. What is left has no ttl, and stays until \
             somebody deletes it"
                .to_owned(),
        ),
        WhoState::Split if ends => {
            Some("Free again when enough of these have come to their ttl".to_owned())
        }
        WhoState::Split => Some(
            "Some of this has no ttl to wait for, and stays until somebody deletes it: redbolt \
             unlock does, with a token of who --json"
                .to_owned(),
        ),
        WhoState::Data => {
            let kinds = kinds(resource, report);
            Some(format!(
                "No lock can be had while it stands ({kinds}), and redbolt deletes no such data: \
                 delete it by hand, or name the lock otherwise"
            ))
        }
        _ => None,
    }
}

/// Names the data that is no lock, each kind once, and whether it ends.
fn kinds(resource: &WhoResource, report: &WhoReport) -> String {
    let counted =
        resource.stored.iter().zip(report.nodes()).filter(|(_, node)| node.weight.counts());
    let mut kinds: Vec<String> = Vec::new();
    for stored in counted.filter_map(|(stored, _)| stored.as_ref().ok()) {
        if stored.is_data() {
            let kind = kind(stored);
            let end = if stored.ttl() == Some(None) { "without a ttl" } else { "with a ttl" };
            kinds.push(format!("{kind} {end}"));
        }
    }
    kinds.sort();
    kinds.dedup();
    kinds.join(", ")
}

/// Returns a resource before this place that the same engine holds.
fn twin(report: &WhoReport, place: usize) -> Option<&WhoResource> {
    let engine = |resource: &WhoResource| Some(resource.values.first()?.value.drawn_by()?.0);
    let own = engine(&report.resources()[place])?;
    report.resources()[..place].iter().find(|other| engine(other) == Some(own))
}

fn left(value: &WhoValue) -> String {
    let [least, most] = [value.least, value.most].map(|ttl| ttl.map(format_rounded));
    match (least, most) {
        (Some(least), Some(most)) if least == most => format!("{most} left"),
        (Some(least), Some(most)) => format!("{least} to {most} left"),
        (Some(least), None) => format!("{least} left, or no ttl"),
        _ => "no ttl".to_owned(),
    }
}

/// What a node has, in the words of `--verbose`.
fn at(stored: &Result<Stored, NodeError>, node: &VisitedNode) -> String {
    let what = match stored {
        Ok(Stored::Nothing) => "nothing".to_owned(),
        Ok(Stored::Value { value, .. }) => of_value(value),
        Ok(stored) => kind(stored),
        // Why the node does not count says more.
        Err(_) if !node.weight.counts() => return weight(node),
        Err(error) => return error.to_string(),
    };
    let left = match stored.as_ref().ok().and_then(Stored::ttl) {
        Some(Some(ttl)) => format!(", {} left", format_duration(ttl)),
        Some(None) => ", no ttl".to_owned(),
        None => String::new(),
    };
    match node.weight {
        NodeWeight::Counts => format!("{what}{left}"),
        NodeWeight::Quarantined { .. } => format!("{what}{left} ({})", node.weight),
        _ => format!("{what}{left}, which does not count: {}", weight(node)),
    }
}

fn weight(node: &VisitedNode) -> String {
    let is_denied = node.weight == NodeWeight::Out(NodeError::Server(ServerError::Denied));
    format!("{}{}", node.status(), if is_denied { LOGIN_HINT } else { "" })
}

fn kind(stored: &Stored) -> String {
    match stored {
        Stored::Long { len, .. } => format!("a string of {} bytes", grouped(*len)),
        Stored::Data { kind, .. } if kind.is_empty() => "data of another type".to_owned(),
        Stored::Data { kind, .. } => format!("data of type {kind}"),
        _ => String::new(),
    }
}

fn of_value(value: &StoredValue) -> String {
    match value.as_bytes() {
        [] => "an empty value".to_owned(),
        _ => format!("token {value}"),
    }
}

/// Who has drawn a value, by its own words.
fn of_client(client: &WhoClient) -> String {
    let shorten = |text: &str| text.chars().take(NAME).collect::<String>();
    let label = format!("{:?}", shorten(&client.label));
    match (&client.machine, client.process) {
        (Some(machine), Some(process)) => {
            format!("{label}, process {process} on {}", shorten(machine).escape_debug())
        }
        _ => label,
    }
}

fn name(resource: &[u8]) -> String {
    let (shown, rest) = resource.split_at(resource.len().min(NAME));
    format!("\"{}{}\"", shown.escape_ascii(), if rest.is_empty() { "" } else { "…" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_short_word_whatever_its_bytes() {
        assert_eq!(name(b"a\nb\"\x1b[31m"), r#""a\nb\"\x1b[31m""#);
        assert_eq!(name(&[b'x'; 65]), format!("\"{}…\"", "x".repeat(64)));
    }
}
