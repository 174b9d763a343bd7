//! A user with the rights of README.md and no others.

use std::time::Duration;

use redbolt::NodeState;
use redbolt::redlock::RestartGuard;

use crate::guarded::declare;
use crate::owner::{Owner, config};
use crate::place::Place;
use crate::support::rights::{LOADING, RIGHTS, TRACKING};
use crate::support::wire::Reply;
use crate::{LONGER, hold_all};

/// So long that no look comes by itself.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn a_user_with_the_documented_rights_takes_keeps_and_gives_back_locks() {
    for place in Place::all() {
        let node = place.start();
        let keys = ["~locks:*", "~redbolt:*"];
        let rules = [&["ACL", "SETUSER", "app", "reset", "on", ">pw"], &keys[..], &RIGHTS].concat();
        let rules = rules.into_iter().chain([LOADING]).chain(TRACKING).map(str::as_bytes);
        let reply = node.command(&rules.collect::<Vec<_>>());
        assert_eq!(reply, Reply::Simple("OK".to_owned()), "{}", place.name);
        declare(core::slice::from_ref(&node), LONG);
        let mut config = config([node.url_of("app:pw")]);
        config.redlock.restart_guard = RestartGuard::On;
        config.redlock.max_ttl = LONG;
        let mut owner = Owner::new(config);
        owner.all_ready();
        assert!(owner.status(0).tracks_witness, "{}", place.name);
        let lock = owner.hold("locks:a");
        owner.extend_for(lock, LONGER);
        owner.extended();
        assert_eq!(owner.let_go(lock).released.len(), 1);
        let names: Vec<_> = (0..20).map(|number| format!("locks:{number}")).collect();
        let locks = hold_all(&mut owner, &names);
        locks.iter().for_each(|lock| owner.extend_for(*lock, LONGER));
        locks.iter().for_each(|_| owner.extended());
        locks.iter().for_each(|lock| owner.release(*lock));
        locks.iter().for_each(|_| assert_eq!(owner.released().released.len(), 1));
        let Reply::Bulk(list) = node.command(&[b"CLIENT", b"LIST"]) else {
            panic!("CLIENT LIST answers with a text")
        };
        assert!(String::from_utf8_lossy(&list).contains("user=app"), "{}", place.name);
        let status = owner.status(0);
        let counters = status.counters;
        assert_eq!((status.state, status.error), (NodeState::Ready, None), "{}", place.name);
        assert_eq!((counters.connects, counters.failures), (1, 0), "{}", place.name);
        owner.finish([&node]);
    }
}
