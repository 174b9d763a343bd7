//! The report for programs, as one JSON object on one line.

use std::time::Duration;

use redbolt::{CheckFinding, CheckNode, CheckReport, CheckState, CheckStep, CheckVerdict};
use serde::Serialize;

use super::code;

#[derive(Serialize)]
struct Object {
    nodes: Vec<Node>,
    findings: Vec<Finding>,
    verdict: Verdict,
}

#[derive(Serialize)]
struct Node {
    node: String,
    /// `ready`, `quarantined` or `out`.
    state: &'static str,
    /// The state in a word or two, as in the table.
    label: String,
    quarantine: Option<Quarantine>,
    server: Option<String>,
    version: Option<String>,
    run_id: Option<String>,
    uptime_seconds: Option<u64>,
    round_trip_us: Option<f64>,
    maxmemory: Option<u64>,
    maxmemory_policy: Option<String>,
    persistence: Option<&'static str>,
    appendfsync: Option<String>,
    save: Option<String>,
    missing_rights: Vec<&'static str>,
    clock: Option<Clock>,
    machine: Option<String>,
    replicas: Option<u64>,
    master: Option<String>,
    repl_backlog_ttl_seconds: Option<u64>,
    deployment: Option<Deployment>,
}

#[derive(Serialize)]
struct Quarantine {
    /// `null` if nobody knows when the node votes.
    remaining_seconds: Option<f64>,
    reason: String,
    /// Whether the time runs; otherwise it begins when a client meets the node.
    is_running: bool,
}

#[derive(Serialize)]
struct Clock {
    offset_us: i64,
    uncertainty_us: u64,
    from_others_us: Option<i64>,
}

#[derive(Serialize)]
struct Deployment {
    max_ttl_seconds: f64,
    nodes: u64,
}

#[derive(Serialize)]
struct Finding {
    /// Empty if the finding is about this machine.
    nodes: Vec<String>,
    subject: &'static str,
    blocks: bool,
    cause: String,
    remedy: String,
}

#[derive(Serialize)]
struct Verdict {
    nodes: usize,
    needed: usize,
    voting: usize,
    has_quorum: bool,
    /// `null` without a quorum.
    may_fail: Option<usize>,
    later: Vec<Step>,
    after_a_client: Option<Step>,
    exit_code: u8,
    text: String,
}

#[derive(Serialize)]
struct Step {
    in_seconds: f64,
    voting: usize,
}

pub(super) fn line(report: &CheckReport) -> String {
    let object = Object {
        nodes: report.nodes().iter().map(node).collect(),
        findings: report.findings().iter().map(finding).collect(),
        verdict: verdict(report.verdict()),
    };
    let json = serde_json::to_string(&object);
    // Only maps with keys that are no text, and types that fail on purpose, cannot be written.
    json.expect("structs of numbers and text") + "\n"
}

fn node(node: &CheckNode) -> Node {
    let server = node.server.as_ref();
    let (state, quarantine) = match node.state {
        CheckState::Ready => ("ready", None),
        CheckState::Quarantined { remaining, reason, is_running } => {
            let remaining_seconds = (!remaining.is_zero()).then(|| seconds(remaining));
            let reason = reason.to_string();
            ("quarantined", Some(Quarantine { remaining_seconds, reason, is_running }))
        }
        _ => ("out", None),
    };
    Node {
        node: node.address.to_string(),
        state,
        label: node.label.clone(),
        quarantine,
        server: server.map(|server| server.name.clone()),
        version: server.map(|server| server.version.clone()),
        run_id: server.and_then(|server| server.run_id.clone()),
        uptime_seconds: server.and_then(|server| server.uptime).map(|uptime| uptime.as_secs()),
        round_trip_us: node.round_trip.map(|time| (time.as_nanos() as f64 / 100.0).round() / 10.0),
        maxmemory: server.and_then(|server| server.max_memory),
        maxmemory_policy: server.and_then(|server| server.policy.clone()),
        persistence: server.and_then(|server| server.persistence()),
        appendfsync: server.and_then(|server| server.appendfsync.clone()),
        save: server.and_then(|server| server.save.clone()),
        missing_rights: node.missing.names().collect(),
        clock: node.clock.map(|clock| Clock {
            offset_us: clock.offset.as_micros(),
            uncertainty_us: u64::try_from(clock.uncertainty.as_micros()).unwrap_or(u64::MAX),
            from_others_us: clock.from_others.map(|offset| offset.as_micros()),
        }),
        machine: node.machine.map(|machine| machine.to_string()),
        replicas: server.and_then(|server| server.replicas),
        master: server.and_then(|server| server.master.clone()),
        repl_backlog_ttl_seconds: server
            .and_then(|server| server.backlog_ttl)
            .map(|ttl| ttl.as_secs()),
        deployment: node.deployment.map(|deployment| Deployment {
            max_ttl_seconds: seconds(deployment.max_ttl),
            nodes: deployment.nodes,
        }),
    }
}

fn finding(finding: &CheckFinding) -> Finding {
    Finding {
        nodes: finding.nodes.iter().map(ToString::to_string).collect(),
        subject: finding.subject.name(),
        blocks: finding.blocks,
        cause: finding.cause.clone(),
        remedy: finding.remedy.clone(),
    }
}

fn verdict(verdict: &CheckVerdict) -> Verdict {
    let step = |step: &CheckStep| Step { in_seconds: seconds(step.after), voting: step.voting };
    Verdict {
        nodes: verdict.nodes,
        needed: verdict.needed,
        voting: verdict.voting,
        has_quorum: verdict.has_quorum(),
        may_fail: verdict.may_fail(),
        later: verdict.later.iter().map(step).collect(),
        after_a_client: verdict.after_a_client.as_ref().map(step),
        exit_code: code::of(verdict),
        text: verdict.to_string(),
    }
}

/// Returns seconds with three digits behind the point.
fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e3).round() / 1e3
}
