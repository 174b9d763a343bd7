//! Native commands that a server has, but does not run for us: a script does the same.

use redbolt::NodeState;

use crate::owner::Owner;
use crate::place::Place;
use crate::support::wire::Reply;
use crate::{LONGER, hold_all, names, owner};

fn ok() -> Reply {
    Reply::Simple("OK".to_owned())
}

/// An access list that was written for `SET` and scripts.
#[test]
fn a_user_who_may_run_only_the_commands_of_old_locks_by_scripts() {
    let rules = "on >pw ~* +ping +select +info +command +script|load +set +get +getrange +mget \
                 +del +exists +pttl +pexpire +eval +evalsha";
    for flavour in Place::all() {
        let node = flavour.start();
        let mut set_user: Vec<&[u8]> = vec![b"ACL", b"SETUSER", b"app"];
        set_user.extend(rules.split(' ').map(str::as_bytes));
        assert_eq!(node.command(&set_user), ok());
        let mut owner = Owner::of([node.url_of("app:pw")]);
        owner.all_ready();
        for _ in 0..3 {
            let lock = owner.hold("resource");
            owner.extend(lock);
            owner.extended();
            let outcome = owner.let_go(lock);
            assert_eq!(outcome.released.len(), 1, "{outcome:?}");
        }
        let locks = hold_all(&mut owner, &names(3));
        locks.iter().for_each(|lock| owner.release(*lock));
        locks.iter().for_each(|_| assert_eq!(owner.released().released.len(), 1));
        let status = owner.status(0);
        let refusals = u64::from(flavour.native.is_some());
        assert_eq!(status.counters.errors, refusals, "the native command is tried once");
        assert_eq!((status.state, status.counters.failures), (NodeState::Ready, 0));
        owner.finish([&node]);
    }
}

/// FAULTS 45: no new lock can be had, but what is held is kept and given back.
#[test]
fn locks_are_kept_on_a_server_whose_memory_is_full() {
    for flavour in Place::all() {
        let node = flavour.start();
        let limit = |bytes: &[u8]| {
            assert_eq!(node.command(&[b"CONFIG", b"SET", b"maxmemory", bytes]), ok());
        };
        let mut owner = owner([&node]);
        let alone = owner.hold("resource");
        let locks = hold_all(&mut owner, &names(3));
        limit(b"1");
        owner.extend_for(alone, LONGER);
        owner.extended();
        locks.iter().for_each(|lock| owner.extend_for(*lock, LONGER));
        locks.iter().for_each(|_| owner.extended());
        owner.attempt("another");
        owner.not_acquired();
        owner.let_go(alone);
        locks.iter().for_each(|lock| owner.release(*lock));
        locks.iter().for_each(|_| assert_eq!(owner.released().released.len(), 1));
        limit(b"0");
        owner.finish([&node]);
    }
}
