//! RESP3 on each flavour: everything that a client does with a lock, and what a node says unasked.

use std::time::Duration;

use redbolt::redlock::{Occupancy, QuarantineReason, RestartGuard};
use redbolt::{AcquireError, Client, Config, Handover, LockErrorKind};

use crate::guarded::{self, declare};
use crate::owner::{self, PATIENCE};
use crate::place::Place;
use crate::support::servers::Node;
use crate::support::wire::Reply;
use crate::{LONGER, SHORTER, hold_all, names};

/// So long that no look comes by itself.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

fn config(node: &Node) -> Config {
    let mut config = owner::config([node.url()]);
    (config.redlock.restart_guard, config.redlock.max_ttl) = (RestartGuard::On, LONG);
    config
}

#[test]
fn an_engine_takes_keeps_and_gives_back_locks_in_resp3() {
    for flavour in Place::all() {
        let node = flavour.start();
        declare(core::slice::from_ref(&node), LONG);
        let mut owner = guarded::owner([&node], RestartGuard::On, LONG);
        owner.all_ready();
        assert!(owner.status(0).tracks_witness, "{}", flavour.name);
        let lock = owner.hold("resource");
        owner.attempt("resource");
        let error = owner.not_acquired();
        assert!(matches!(error, AcquireError::Held { .. }), "{error}");
        for ttl in [LONGER, SHORTER] {
            owner.extend_for(lock, ttl);
            owner.extended();
        }
        assert_eq!(owner.let_go(lock).released.len(), 1);
        for count in [2, 64, 130] {
            let locks = hold_all(&mut owner, &names(count));
            locks.iter().for_each(|lock| owner.extend_for(*lock, LONGER));
            locks.iter().for_each(|_| owner.extended());
            locks.iter().for_each(|lock| owner.release(*lock));
            locks.iter().for_each(|_| assert_eq!(owner.released().released.len(), 1));
        }
        // Forgotten scripts go by their text.
        let lock = owner.hold("resource");
        node.command(&[b"SCRIPT", b"FLUSH"]);
        owner.extend(lock);
        owner.extended();
        owner.let_go(lock);
        assert_eq!(owner.status(0).counters.connects, 1, "one session has done it all");
        owner.finish([&node]);
    }
}

#[test]
fn a_client_takes_sets_hands_over_adopts_and_asks_in_resp3() {
    for flavour in Place::all() {
        let node = flavour.start();
        declare(core::slice::from_ref(&node), LONG);
        let [first, second] = [(); 2].map(|()| Client::new(config(&node)).expect("in bounds"));
        first.ready(PATIENCE).blocking_wait().expect("it is there");
        let set = first.lock_all(["a", "b"]).ttl(LONGER).wait(PATIENCE).blocking_acquire();
        let set = set.expect("free");
        set.extend(LONGER).blocking_wait().expect("it is held");
        let refused = second.lock_all(["b", "c"]).wait(Duration::ZERO).blocking_acquire();
        let kind = refused.expect_err("taken").kind().clone();
        assert!(matches!(kind, LockErrorKind::Acquire(AcquireError::Held { .. })), "{kind:?}");
        let holder = second.query("b").blocking_wait().expect("in bounds");
        assert!(holder.is_quorum && holder.occupancy == Occupancy::Held, "{holder:?}");
        let holder = second.query("c").blocking_wait().expect("in bounds");
        assert_eq!(holder.occupancy, Occupancy::Free, "{holder:?}");
        let parts: Handover = set.hand_over().blocking_wait().expect("it is held");
        let adopted = second.adopt(&parts.resources, parts.token).wait(PATIENCE);
        let adopted = adopted.blocking_acquire().expect("its token is there");
        adopted.extend(LONGER).blocking_wait().expect("it is held");
        adopted.release().blocking_wait().expect("the client runs");
        for client in [first, second] {
            assert!(client.blocking_shutdown(PATIENCE).is_complete());
        }
        assert_eq!(node.keys(), Vec::<Vec<u8>>::new());
    }
}

#[test]
fn every_flavour_tells_at_once_that_its_keys_are_gone() {
    for flavour in Place::all() {
        let commands: [&[&[u8]]; 3] =
            [&[b"FLUSHALL"], &[b"FLUSHALL", b"ASYNC"], &[b"FLUSHDB", b"SYNC"]];
        for command in commands {
            let node = flavour.start();
            declare(core::slice::from_ref(&node), LONG);
            let mut owner = guarded::owner([&node], RestartGuard::On, LONG);
            owner.all_ready();
            assert_eq!(node.command(command), Reply::Simple("OK".to_owned()));
            owner.poll_until("a quarantine", |owner| {
                let why = owner.status(0).quarantine.map(|quarantine| quarantine.reason);
                why == Some(QuarantineReason::DataLost)
            });
            owner.finish([&node]);
        }
    }
}
