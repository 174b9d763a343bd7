//! The object of `redbolt who --json`.

use redbolt::redlock::{NodeError, NodeId, Stored, StoredValue};
use redbolt::{NodeWeight, VisitedNode, WhoReport, WhoResource, WhoState, WhoValue};
use serde::Serialize;

use crate::json::{self, Millis};

/// Everything. New fields come at the end of their object.
#[derive(Serialize)]
struct Report<'a> {
    quorum: usize,
    nodes: Vec<Node>,
    resources: Vec<Resource<'a>>,
}

#[derive(Serialize)]
struct Node {
    node: String,
    state: &'static str,
    status: String,
    /// How long a quarantine lasts.
    remaining_ms: Option<Millis>,
}

#[derive(Serialize)]
struct Resource<'a> {
    /// With `U+FFFD` for bytes that are no text.
    resource: String,
    resource_hex: String,
    state: &'static str,
    /// For how long a quorum keeps the value.
    remaining_ms: Option<Millis>,
    holder: Option<Holder<'a>>,
    values: Vec<Value<'a>>,
    free: usize,
    data: usize,
    unknown: usize,
    nodes: Vec<At<'a>>,
}

/// Whose value this is, as far as the value and the label of the client tell.
#[derive(Serialize)]
struct Holder<'a> {
    token: String,
    token_text: Option<&'a str>,
    engine: Option<String>,
    attempt: Option<u64>,
    client: Option<Client<'a>>,
}

/// What a client says of itself.
#[derive(Serialize)]
struct Client<'a> {
    machine: Option<&'a str>,
    process: Option<u32>,
    label: &'a str,
}

#[derive(Serialize)]
struct Value<'a> {
    #[serde(flatten)]
    holder: Holder<'a>,
    /// Those that count.
    nodes: usize,
    least_ms: Option<Millis>,
    most_ms: Option<Millis>,
}

/// What a node has.
#[derive(Serialize)]
struct At<'a> {
    node: String,
    found: &'static str,
    /// Whether this is part of the state of the resource. That a node in quarantine has nothing is
    /// not.
    counts: bool,
    token: Option<String>,
    token_text: Option<&'a str>,
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    bytes: Option<u64>,
    /// Null for a key without a ttl.
    remaining_ms: Option<Millis>,
    error: Option<String>,
}

pub(super) fn of(report: &WhoReport) -> String {
    let report = Report {
        quorum: report.quorum().need(),
        nodes: report.nodes().iter().map(node).collect(),
        resources: report.resources().iter().map(|found| resource(found, report)).collect(),
    };
    json::line(&report)
}

fn node(node: &VisitedNode) -> Node {
    let left = match node.weight {
        NodeWeight::Quarantined { remaining } => remaining,
        _ => None,
    };
    let state = match node.weight {
        NodeWeight::Counts => "ready",
        NodeWeight::Quarantined { .. } => "quarantined",
        NodeWeight::SameProcess(_) => "same_process",
        _ => "out",
    };
    Node {
        node: node.address.to_string(),
        state,
        status: node.status(),
        remaining_ms: left.map(Millis::of),
    }
}

fn resource<'a>(found: &'a WhoResource, report: &'a WhoReport) -> Resource<'a> {
    let (is_held, left) = match found.state {
        WhoState::Held { remaining } => (true, Some(remaining)),
        WhoState::Permanent => (true, None),
        _ => (false, None),
    };
    let nodes = found.stored.iter().zip(report.nodes()).enumerate();
    let counts = |place: usize| !NodeId::new(place).is_some_and(|id| found.unknown.contains(id));
    Resource {
        resource: String::from_utf8_lossy(&found.resource).into_owned(),
        resource_hex: StoredValue::new(&found.resource[..]).to_hex(),
        state: found.state.name(),
        remaining_ms: left.map(Millis::of),
        holder: found.values.first().filter(|_| is_held).map(holder),
        values: found.values.iter().map(value).collect(),
        free: found.free.len(),
        data: found.data.len(),
        unknown: found.unknown.len(),
        nodes: nodes.map(|(place, (stored, node))| at(stored, node, counts(place))).collect(),
    }
}

fn holder(value: &WhoValue) -> Holder<'_> {
    let client = value.client.as_ref().map(|client| Client {
        machine: client.machine.as_deref(),
        process: client.process,
        label: &client.label,
    });
    let value = &value.value;
    let drawn = value.drawn_by();
    Holder {
        token: value.to_hex(),
        token_text: value.as_text(),
        engine: drawn.map(|(nonce, _)| StoredValue::new(nonce).to_hex()),
        attempt: drawn.map(|(_, attempt)| attempt),
        client,
    }
}

fn value(value: &WhoValue) -> Value<'_> {
    Value {
        holder: holder(value),
        nodes: value.nodes.len(),
        least_ms: value.least.map(Millis::of),
        most_ms: value.most.map(Millis::of),
    }
}

fn at<'a>(stored: &'a Result<Stored, NodeError>, node: &VisitedNode, counts: bool) -> At<'a> {
    let value = stored.as_ref().ok().and_then(Stored::value);
    let (found, bytes, kind) = match stored {
        Ok(Stored::Nothing) => ("nothing", None, None),
        Ok(Stored::Value { value, .. }) => ("value", Some(value.as_bytes().len() as u64), None),
        Ok(Stored::Long { len, .. }) => ("long", Some(*len), None),
        Ok(Stored::Data { kind, .. }) => ("data", None, Some(kind.as_str())),
        _ => ("no_answer", None, None),
    };
    let ttl = stored.as_ref().ok().and_then(Stored::ttl).flatten();
    At {
        node: node.address.to_string(),
        found,
        counts,
        token: value.map(StoredValue::to_hex),
        token_text: value.and_then(StoredValue::as_text),
        kind,
        bytes,
        remaining_ms: ttl.map(Millis::of),
        error: stored.as_ref().err().map(ToString::to_string),
    }
}
