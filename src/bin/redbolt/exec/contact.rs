//! The first contact with the nodes: whether a quorum of them can vote within the wait.

use std::time::Duration;

use redbolt::{Engine, NodeState, NodeStatus};
use rustix::process::Signal;

use super::args::Args;
use super::failure::Failure;
use super::message::{Left, Message};
use super::signals::{self, Meaning};
use super::speech::Speech;
use super::suspend::{self, Origin};
use super::watch::{News, Watch};
use crate::nodes;

/// How long nodes may take to be ready for the first attempt: connecting and the handshake may take
/// a second each. Nodes that hang are known earlier, and not waited for.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The least time that the other nodes get to connect once a quorum is ready.
const GRACE: Duration = Duration::from_millis(10);

/// The [`GRACE`] where there is only one attempt.
const GRACE_FOR_ONE_ATTEMPT: Duration = Duration::from_millis(50);

/// What the first contact leaves.
pub(super) struct Contact {
    /// How much of the wait is left.
    pub(super) left: Duration,
    /// Whether a message has told of the nodes.
    pub(super) is_told: bool,
}

/// What is known of a node at the first contact.
struct Prospect {
    is_connected: bool,
    /// No vote of the node is possible earlier than this. A node that is away may be back at once.
    votes_after: Duration,
}

/// What the nodes together can do.
#[derive(PartialEq, Eq, Debug)]
enum Outlook {
    /// A quorum can be asked now.
    Quorum,
    /// The nodes that are connected are a quorum after this time.
    Later(Duration),
    /// Too few nodes are connected. Others can come back in time.
    Unreachable,
    /// There will be no quorum within the wait, whatever comes back.
    Hopeless,
}

/// Waits for the nodes, and says at once what must be known about them.
pub(super) fn make(watch: &mut Watch, args: &Args, speech: &Speech) -> Result<Contact, Failure> {
    let start = watch.engine.now();
    wait_for_nodes(watch, args.wait())?;
    let engine = &watch.engine;
    let wait = match args.wait() {
        Duration::MAX => Duration::MAX,
        wait => wait.saturating_sub(engine.now() - start),
    };
    let prospects: Vec<_> = engine.nodes().map(|(_, _, status)| Prospect::new(&status)).collect();
    let outlook = outlook(&prospects, engine.quorum().need(), wait);
    match outlook {
        Outlook::Hopeless => return Err(hopeless(engine, args)),
        Outlook::Later(left) => {
            speech.say(&Message::QuorumAwaited { left, nodes: nodes::describe_waiting(engine) });
        }
        // Without a wait, what is wrong is about to be told as the reason of the failure.
        Outlook::Unreachable if !wait.is_zero() => {
            let nodes = nodes::describe_waiting(engine);
            speech.say(&Message::NoQuorumYet { left: Left::of(wait), nodes });
        }
        Outlook::Unreachable | Outlook::Quorum => {}
    }
    Ok(Contact { left: wait, is_told: outlook != Outlook::Quorum })
}

fn hopeless(engine: &Engine, args: &Args) -> Failure {
    let (resource, nodes) = (args.resource_name(), nodes::describe(engine, None));
    match nodes::quarantined_for(engine) {
        Some(retry_after) => Failure::Unavailable { resource, retry_after, nodes },
        None => Failure::NoQuorum { resource, nodes },
    }
}

/// Waits until every node is ready or has failed. Once a quorum is ready, the other nodes get as
/// long again as the quorum took.
///
/// An attempt asks only the nodes that are ready when it starts. An attempt that starts too early
/// finds two holders in three nodes where there are only two in five, or gets a lock that is stored
/// on three nodes where five could have it.
fn wait_for_nodes(watch: &mut Watch, wait: Duration) -> Result<(), Failure> {
    let start = watch.engine.now();
    // A caller who does not want to wait means the wait for the lock, not that for the network.
    let (timeout, grace) = if wait.is_zero() {
        (CONNECT_TIMEOUT, GRACE_FOR_ONE_ATTEMPT)
    } else {
        (CONNECT_TIMEOUT.min(wait), GRACE)
    };
    let mut until = start + timeout;
    let quorum = watch.engine.quorum().need();
    let mut is_quorate = false;
    loop {
        let (ready, open) = count(&watch.engine);
        if open == 0 {
            return Ok(());
        }
        let now = watch.engine.now();
        if !is_quorate && ready >= quorum {
            is_quorate = true;
            until = until.min(now + (now - start).max(grace));
        }
        match watch.next(until)? {
            News::Time => return Ok(()),
            News::Signal(signal) => handle_signal(watch, signal)?,
            News::Engine(_) => {}
        }
    }
}

/// Returns how many nodes are ready, and for how many the first connection is still under way.
fn count(engine: &Engine) -> (usize, usize) {
    let (mut ready, mut open) = (0, 0);
    for (_, _, status) in engine.nodes() {
        match status.state {
            NodeState::Ready => ready += 1,
            // The node is reachable, and the end of the quarantine is far away.
            NodeState::Quarantined => {}
            _ if status.error.is_none() => open += 1,
            _ => {}
        }
    }
    (ready, open)
}

/// Ends the wait at a signal for the command, and stops at one that is meant to stop. Signals of
/// unknown children mean nothing.
pub(super) fn handle_signal(watch: &mut Watch, signal: Signal) -> Result<(), Failure> {
    match signals::meaning(signal) {
        Meaning::ForCommand | Meaning::EndsCommand => Err(Failure::Interrupted { signal }),
        Meaning::Stop => {
            suspend::suspend(watch, None, Origin::Ours)?;
            Ok(())
        }
        Meaning::Child | Meaning::Continue | Meaning::None => Ok(()),
    }
}

impl Prospect {
    fn new(status: &NodeStatus<'_>) -> Self {
        use NodeState::{Misconfigured, Quarantined, Ready, Stalled, Unhealthy};
        let quarantine = status.quarantine.map(|quarantine| quarantine.remaining);
        // Such a node is tried again, but not soon.
        let retry = status.retry_in.filter(|_| status.state == Misconfigured);
        Self {
            is_connected: matches!(status.state, Ready | Stalled | Unhealthy | Quarantined),
            votes_after: quarantine.max(retry).unwrap_or_default(),
        }
    }
}

fn outlook(nodes: &[Prospect], need: usize, wait: Duration) -> Outlook {
    if nodes.iter().filter(|node| node.votes_after <= wait).count() < need {
        return Outlook::Hopeless;
    }
    let connected = nodes.iter().filter(|node| node.is_connected);
    let mut times: Vec<_> = connected.map(|node| node.votes_after).collect();
    times.sort_unstable();
    match times.get(need - 1) {
        Some(time) if time.is_zero() => Outlook::Quorum,
        Some(time) if *time <= wait => Outlook::Later(*time),
        _ => Outlook::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_hopeless_only_if_nobody_who_is_away_could_make_a_quorum() {
        use Outlook::{Hopeless, Quorum, Unreachable};
        let up = |seconds| (true, seconds);
        let away = |seconds| (false, seconds);
        let later = |seconds| Outlook::Later(Duration::from_secs(seconds));
        // Two of three, within ten seconds.
        let rows = [
            ([up(0), up(0), up(0)], Quorum),
            ([up(0), up(0), away(60)], Quorum),
            ([up(0), up(5), up(60)], later(5)),
            ([up(10), up(60), up(10)], later(10)),
            ([up(60), up(60), up(60)], Hopeless),
            ([up(0), up(60), up(60)], Hopeless),
            ([up(0), up(60), away(0)], Unreachable),
            ([up(60), away(0), away(0)], Unreachable),
            ([up(0), away(0), away(0)], Unreachable),
            ([away(0), away(0), away(0)], Unreachable),
            // Misconfigured, or gone in quarantine.
            ([up(0), away(30), away(60)], Hopeless),
            ([away(30), away(30), away(30)], Hopeless),
        ];
        for (row, expected) in rows {
            let nodes = row.map(|(is_connected, seconds)| Prospect {
                is_connected,
                votes_after: Duration::from_secs(seconds),
            });
            assert_eq!(outlook(&nodes, 2, Duration::from_secs(10)), expected, "{row:?}");
        }
    }
}
