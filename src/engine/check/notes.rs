//! What an operator may want to know, although the nodes vote.

use core::net::IpAddr;
use core::time::Duration;

use super::clock;
use super::report::{CheckFinding, CheckNode, CheckSubject};
use super::state::CheckState;
use super::words::about;
use crate::net::{Address, Audited};
use crate::redlock::{RedlockConfig, Word};
use crate::time::format_duration;

/// How long the certificates of a node must be valid at least, so that nothing is said: renewing
/// one may take a person, and that person may be away.
const LEAST_CERTIFICATE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Returns the notes about all nodes.
pub(super) fn notes(
    config: &RedlockConfig,
    nodes: &[CheckNode],
    audited: &[Audited],
) -> Vec<CheckFinding> {
    let mut notes = same_machine(nodes);
    // A client keeps to the longest `max_ttl`, of its own and those of the witnesses.
    let listens = |node: &&CheckNode| !matches!(node.state, CheckState::Out(_));
    let recorded = nodes.iter().filter(listens).filter_map(|node| Some(node.deployment?.max_ttl));
    let recorded = recorded.max();
    let span = config.span(recorded.unwrap_or_default().max(config.max_ttl));
    for (node, audited) in nodes.iter().zip(audited) {
        if matches!(node.state, CheckState::Out(_)) {
            continue;
        }
        let of_node = [
            off_clock(node),
            replicas(node),
            longer_ttl(config, node),
            no_tracking(span, node, audited),
            no_locks(config, node, audited),
            no_label(config, node, audited),
            no_scripts(node, audited),
            no_persistence(span, node),
            ends_soon(node, "the certificate of the server", audited.certificates[0]),
            ends_soon(node, "our certificate", audited.certificates[1]),
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
    let (offset, uncertainty) = clock::of_this_machine(&clocks)?;
    offset.is_large(uncertainty).then(|| {
        let cause = format!("its clock is {} the nodes'", offset.in_words());
        note(Vec::new(), CheckSubject::OurClock, cause, "let NTP set the clock of this machine")
    })
}

fn replicas(node: &CheckNode) -> Option<CheckFinding> {
    let server = node.server.as_ref().filter(|server| server.master.is_none())?;
    let count = server.replicas.unwrap_or_default();
    let keeps_id = server.backlog_ttl == Some(Duration::ZERO);
    let ttl = server.backlog_ttl.map(|ttl| format!(" ({})", about(ttl))).unwrap_or_default();
    let (cause, remedy) = match count {
        // The backlog of the last replica is still there, and with it the id.
        0 if server.backlog == Some(true) && !keeps_id => (
            format!(
                "its replicas have gone: once they have been gone for repl-backlog-ttl{ttl}, \
                 master_replid changes, and the node does not vote for a while"
            ),
            "CONFIG SET repl-backlog-ttl 0",
        ),
        0 => return None,
        count => {
            let noun = if count == 1 { "replica" } else { "replicas" };
            let mut cause = format!(
                "{count} {noun} attached: when the first one comes, master_replid changes, and \
                 the node does not vote for a while"
            );
            let mut remedy = "attach replicas to one master at a time";
            if !keeps_id {
                cause +=
                    &format!("; so too when the last one has been gone for repl-backlog-ttl{ttl}");
                remedy = "attach replicas to one master at a time, and CONFIG SET \
                          repl-backlog-ttl 0";
            }
            (cause, remedy)
        }
    };
    Some(note(vec![node.address.clone()], CheckSubject::Replicas, cause, remedy))
}

/// Whether the user may use the keys of all locks. Nobody knows their names: a key is tried that
/// begins with the prefix, and goes on as no lock does.
fn no_locks(config: &RedlockConfig, node: &CheckNode, audited: &Audited) -> Option<CheckFinding> {
    audited.answers().filter(|answers| answers.lacks_locks)?;
    let user = audited.user().unwrap_or("default");
    let keys = config.all_keys();
    let cause = format!(
        "the user {user} has no right to all keys ~{keys}: a lock is refused whose key none of its \
         patterns fits"
    );
    let remedy = format!(
        "nothing, if its patterns fit the keys of all locks; else ACL SETUSER {user} ~{keys}"
    );
    Some(note(vec![node.address.clone()], CheckSubject::Rights, cause, remedy))
}

fn no_label(config: &RedlockConfig, node: &CheckNode, audited: &Audited) -> Option<CheckFinding> {
    // Without any right to the keys of redbolt, there is a finding about all of them.
    let answers = audited.answers().filter(|answers| answers.lacks_label)?;
    let is_noted = answers.word != Word::Denied;
    is_noted.then(|| {
        let user = audited.user().unwrap_or("default");
        let cause = format!(
            "the user {user} may not write the label of a client, so that redbolt who cannot say \
             whose the locks are"
        );
        let remedy = format!("ACL SETUSER {user} ~{}", config.own_keys());
        note(vec![node.address.clone()], CheckSubject::Rights, cause, remedy)
    })
}

fn longer_ttl(config: &RedlockConfig, node: &CheckNode) -> Option<CheckFinding> {
    let recorded = node.deployment?.max_ttl;
    (recorded > config.max_ttl).then(|| {
        let [ours, recorded] = [config.max_ttl, recorded].map(format_duration);
        let cause = format!("max_ttl is {ours} here and {recorded} in the deployment");
        let remedy = format!("nothing, or set max_ttl to {recorded} here too");
        note(vec![node.address.clone()], CheckSubject::Deployment, cause, remedy)
    })
}

fn no_tracking(span: Duration, node: &CheckNode, audited: &Audited) -> Option<CheckFinding> {
    let lacks = audited.answers().is_some_and(|answers| answers.lacks_tracking);
    lacks.then(|| {
        let user = audited.user().unwrap_or("default");
        let cause = format!(
            "the user {user} may not run client|tracking or client|caching: a flush is noticed up \
             to {} late, and who waits asks more often",
            about(span / 2)
        );
        let remedy = format!("ACL SETUSER {user} +client|tracking +client|caching");
        note(vec![node.address.clone()], CheckSubject::Rights, cause, remedy)
    })
}

fn ends_soon(node: &CheckNode, what: &str, rest: Option<Duration>) -> Option<CheckFinding> {
    const DAY: u64 = 24 * 60 * 60;
    let days = rest.filter(|rest| *rest < LEAST_CERTIFICATE)?.as_secs() / DAY;
    let left = match days {
        0 => "in less than a day".to_owned(),
        1 => "in a day".to_owned(),
        days => format!("in {days} days"),
    };
    let cause = format!("{what} ends {left}, or one that it depends on");
    let remedy = "renew it: the files are read again for each connection";
    Some(note(vec![node.address.clone()], CheckSubject::Certificate, cause, remedy))
}

fn no_scripts(node: &CheckNode, audited: &Audited) -> Option<CheckFinding> {
    (!node.missing.allows_scripts()).then(|| {
        let user = audited.user().unwrap_or("default");
        let cause = format!(
            "the user {user} may not run: {}; it grants locks and takes them back, but extends \
             none, and has no part in locks of several resources and in handovers",
            node.missing
        );
        let remedy = format!("ACL SETUSER {user} +eval +evalsha");
        note(vec![node.address.clone()], CheckSubject::Rights, cause, remedy)
    })
}

fn no_persistence(span: Duration, node: &CheckNode) -> Option<CheckFinding> {
    let persistence = node.server.as_ref()?.persistence()?;
    (persistence == "none").then(|| {
        let span = about(span);
        let cause = format!("no persistence: after a restart the node does not vote for {span}");
        let remedy = format!("nothing, if restarts are {span} apart and one at a time");
        note(vec![node.address.clone()], CheckSubject::Persistence, cause, remedy)
    })
}
