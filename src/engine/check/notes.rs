//! What an operator may want to know, although the nodes vote.

use core::net::IpAddr;
use core::time::Duration;

use super::clock;
use super::report::{CheckFinding, CheckNode, CheckSubject};
use super::state::CheckState;
use super::words::about;
use crate::net::{Address, Audited};
use crate::redlock::RedlockConfig;

/// Returns the notes about all nodes.
pub(super) fn notes(
    config: &RedlockConfig,
    nodes: &[CheckNode],
    audited: &[Audited],
) -> Vec<CheckFinding> {
    let mut notes = same_machine(nodes);
    for (node, audited) in nodes.iter().zip(audited) {
        if matches!(node.state, CheckState::Out(_)) {
            continue;
        }
        let of_node = [
            off_clock(node),
            replicas(node),
            no_tracking(config, node, audited),
            no_persistence(config, node),
        ];
        notes.extend(of_node.into_iter().flatten());
    }
    notes.extend(our_clock(nodes));
    notes
}

fn note(
    nodes: Vec<Address>,
    subject: CheckSubject,
    cause: impl Into<String>,
    remedy: impl Into<String>,
) -> CheckFinding {
    CheckFinding { nodes, subject, blocks: false, cause: cause.into(), remedy: remedy.into() }
}

/// Returns a note for each machine that has several nodes.
fn same_machine(nodes: &[CheckNode]) -> Vec<CheckFinding> {
    let mut machines: Vec<(IpAddr, Vec<Address>)> = Vec::new();
    for node in nodes {
        let Some(machine) = node.machine.map(canonical) else { continue };
        match machines.iter_mut().find(|(known, _)| *known == machine) {
            Some((_, nodes)) => nodes.push(node.address.clone()),
            None => machines.push((machine, vec![node.address.clone()])),
        }
    }
    let shared = machines.into_iter().filter(|(_, nodes)| nodes.len() > 1);
    let note = |(machine, nodes): (IpAddr, Vec<Address>)| {
        let cause = format!("on one machine ({machine}): they fail together");
        note(nodes, CheckSubject::SameMachine, cause, "give each node a machine of its own")
    };
    shared.map(note).collect()
}

/// Returns one address for all by which a machine knows itself, and for both forms of one address.
fn canonical(machine: IpAddr) -> IpAddr {
    let machine = machine.to_canonical();
    if machine.is_loopback() { IpAddr::from([127, 0, 0, 1]) } else { machine }
}

fn off_clock(node: &CheckNode) -> Option<CheckFinding> {
    let clock = node.clock?;
    let offset = clock.from_others.filter(|offset| offset.is_large(clock.uncertainty))?;
    let cause = format!("its clock is {} the other nodes'", offset.in_words());
    let remedy = "let NTP slew it, or set it while the server is down: a clock that is set under a \
                  lock ends the lock early";
    Some(note(vec![node.address.clone()], CheckSubject::Clock, cause, remedy))
}

fn our_clock(nodes: &[CheckNode]) -> Option<CheckFinding> {
    let clocks: Vec<_> = nodes.iter().map(|node| node.clock).collect();
    let (offset, uncertainty) = clock::ours(&clocks)?;
    offset.is_large(uncertainty).then(|| {
        let cause = format!("its clock is {} the nodes'", offset.in_words());
        note(Vec::new(), CheckSubject::OurClock, cause, "let NTP set the clock of this machine")
    })
}

fn replicas(node: &CheckNode) -> Option<CheckFinding> {
    let server = node.server.as_ref().filter(|server| server.master.is_none())?;
    let count = server.replicas.filter(|count| *count > 0)?;
    let noun = if count == 1 { "replica" } else { "replicas" };
    let mut cause = format!(
        "{count} {noun} attached: when the first one comes, master_replid changes, and the node \
         does not vote for a while"
    );
    let mut remedy = "attach replicas to one master at a time".to_owned();
    if server.backlog_ttl != Some(Duration::ZERO) {
        let ttl = server.backlog_ttl.map(|ttl| format!(" ({})", about(ttl)));
        let ttl = ttl.unwrap_or_default();
        cause += &format!("; so too when the last one has been gone for repl-backlog-ttl{ttl}");
        remedy += ", and CONFIG SET repl-backlog-ttl 0";
    }
    Some(note(vec![node.address.clone()], CheckSubject::Replicas, cause, remedy))
}

fn no_tracking(
    config: &RedlockConfig,
    node: &CheckNode,
    audited: &Audited,
) -> Option<CheckFinding> {
    let lacks = audited.answers().is_some_and(|answers| answers.lacks_tracking);
    lacks.then(|| {
        let user = audited.user.as_deref().unwrap_or("default");
        let cause = format!(
            "the user {user} may not run client|tracking: a flush is noticed up to {} late",
            about(config.quarantine() / 2)
        );
        let remedy = format!("ACL SETUSER {user} +client|tracking");
        note(vec![node.address.clone()], CheckSubject::Rights, cause, remedy)
    })
}

fn no_persistence(config: &RedlockConfig, node: &CheckNode) -> Option<CheckFinding> {
    let persistence = node.server.as_ref()?.persistence()?;
    (persistence == "none").then(|| {
        let span = about(config.quarantine());
        let cause = format!("no persistence: after a restart the node does not vote for {span}");
        let remedy = format!("nothing, if restarts are {span} apart and one at a time");
        note(vec![node.address.clone()], CheckSubject::Persistence, cause, remedy)
    })
}
