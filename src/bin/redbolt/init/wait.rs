//! The wait until a quorum of the nodes votes, as every client would see it.

use std::time::Duration;

use redbolt::time::{Instant, format_rounded};
use redbolt::{Config, Engine, NodeState, RestartGuard};

use crate::failure::Failure;
use crate::nodes::{describe, quarantined_for};
use crate::output::say;

/// How long nodes have to come up: connecting and the handshake may take a second each.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// The time between two messages.
const NEWS: Duration = Duration::from_secs(15);

/// Waits until a quorum of the nodes votes, and for at least this long.
pub(super) fn until_quorate(mut config: Config, least: Duration) -> Result<(), Failure> {
    // The other guards do not tell what the witness is worth.
    config.redlock.restart_guard = RestartGuard::On;
    let mut engine = Engine::new(config)?;
    let end = engine.now() + least;
    engine.settle(CONNECT_TIMEOUT)?;
    let need = engine.quorum().need();
    let (mut news_at, mut give_up_at) = (engine.now(), engine.now() + CONNECT_TIMEOUT);
    loop {
        let now = engine.now();
        let ready = engine.nodes().filter(|node| node.2.state == NodeState::Ready).count();
        if ready >= need && now >= end {
            return Ok(());
        }
        let wait = quarantined_for(&engine);
        if ready >= need || wait.is_some() {
            give_up_at = now + CONNECT_TIMEOUT;
        }
        if now >= give_up_at {
            let nodes = describe(&engine, None);
            return Err(Failure::no_quorum(format_args!("no quorum of nodes:\n{nodes}")));
        }
        if now >= news_at {
            tell(wait.unwrap_or_default(), end, now);
            news_at = now + NEWS;
        }
        let until = news_at.min(give_up_at).min(end.max(now + wait.unwrap_or(CONNECT_TIMEOUT)));
        engine.poll(Some(until - now))?;
        while engine.next_event().is_some() {}
    }
}

fn tell(wait: Duration, end: Instant, now: Instant) {
    let left = format_rounded(wait.max(end - now));
    if wait.is_zero() {
        say(format_args!("waiting {left} for every client to look at the nodes"));
    } else {
        say(format_args!("waiting {left} until a quorum of the nodes votes"));
    }
}
