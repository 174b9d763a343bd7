//! The object of `redbolt check --json`.

use redbolt::{CheckFinding, CheckNode, CheckReport, CheckState, CheckStep, CheckVerdict};
use serde::Serialize;

use super::code;
use crate::json::{self, Millis};

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
    label: &'static str,
    quarantine: Option<Quarantine>,
    server: Option<String>,
    version: Option<String>,
    run_id: Option<String>,
    uptime_ms: Option<Millis>,
    round_trip_ms: Option<Millis>,
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
    repl_backlog: Option<bool>,
    repl_backlog_ttl_ms: Option<Millis>,
    deployment: Option<Deployment>,
}

#[derive(Serialize)]
struct Quarantine {
    /// `null` if nobody knows when the node votes.
    remaining_ms: Option<Millis>,
    reason: String,
    /// Whether the time runs; otherwise it begins when a client meets the node.
    is_running: bool,
}

#[derive(Serialize)]
struct Clock {
    offset_ms: Millis,
    uncertainty_ms: Millis,
    from_others_ms: Option<Millis>,
}

#[derive(Serialize)]
struct Deployment {
    max_ttl_ms: Millis,
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
    quorum: usize,
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
    in_ms: Millis,
    voting: usize,
}

pub(super) fn of(report: &CheckReport) -> String {
    let object = Object {
        nodes: report.nodes().iter().map(node).collect(),
        findings: report.findings().iter().map(finding).collect(),
        verdict: verdict(report.verdict()),
    };
    json::line(&object)
}

fn node(node: &CheckNode) -> Node {
    let server = node.server.as_ref();
    let (state, quarantine) = match node.state {
        CheckState::Ready => ("ready", None),
        CheckState::Quarantined { remaining, reason, is_running } => {
            let remaining_ms = (!remaining.is_zero()).then(|| Millis::of(remaining));
            let reason = reason.to_string();
            ("quarantined", Some(Quarantine { remaining_ms, reason, is_running }))
        }
        _ => ("out", None),
    };
    Node {
        node: node.address.to_string(),
        state,
        label: node.label,
        quarantine,
        server: server.map(|server| server.name.clone()),
        version: server.and_then(|server| server.version.clone()),
        run_id: server.and_then(|server| server.run_id.clone()),
        uptime_ms: server.and_then(|server| server.uptime).map(Millis::of),
        round_trip_ms: node.round_trip.map(Millis::of),
        maxmemory: server.and_then(|server| server.max_memory),
        maxmemory_policy: server.and_then(|server| server.policy.clone()),
        persistence: server.and_then(|server| server.persistence()),
        appendfsync: server.and_then(|server| server.appendfsync.clone()),
        save: server.and_then(|server| server.save.clone()),
        missing_rights: node.missing.names().collect(),
        clock: node.clock.map(|clock| Clock {
            offset_ms: Millis::of_micros(clock.offset.as_micros()),
            uncertainty_ms: Millis::of(clock.uncertainty),
            from_others_ms: clock.from_others.map(|offset| Millis::of_micros(offset.as_micros())),
        }),
        machine: node.machine.map(|machine| machine.to_string()),
        replicas: server.and_then(|server| server.replicas),
        master: server.and_then(|server| server.master.clone()),
        repl_backlog: server.and_then(|server| server.backlog),
        repl_backlog_ttl_ms: server.and_then(|server| server.backlog_ttl).map(Millis::of),
        deployment: node.deployment.map(|deployment| Deployment {
            max_ttl_ms: Millis::of(deployment.max_ttl),
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
    let step = |step: &CheckStep| Step { in_ms: Millis::of(step.after), voting: step.voting };
    Verdict {
        nodes: verdict.quorum.nodes(),
        quorum: verdict.quorum.need(),
        voting: verdict.voting,
        has_quorum: verdict.has_quorum(),
        may_fail: verdict.may_fail(),
        later: verdict.later.iter().map(step).collect(),
        after_a_client: verdict.after_a_client.as_ref().map(step),
        exit_code: code::of(verdict),
        text: verdict.to_string(),
    }
}
