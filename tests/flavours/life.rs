//! Everything that a lock goes through, on a node of each flavour.

use redbolt::redlock::LostReason;
use redbolt::{Event, ExtendError};

use crate::place::Place;
use crate::support::servers::Node;
use crate::support::wire::Reply;
use crate::{LONGER, SHORTER, hold_all, is_long, names, owner};

const FOREIGN: &[u8] = b"the token of somebody else";

fn on_each(test: impl Fn(&Node)) {
    for flavour in Place::all() {
        test(&flavour.start());
    }
}

fn done(reply: Reply) {
    assert_eq!(reply, Reply::Integer(1));
}

fn no_keys(node: &Node) {
    assert_eq!(node.keys(), Vec::<Vec<u8>>::new());
}

#[test]
fn a_lock_is_taken_kept_and_given_back() {
    on_each(|node| {
        let mut owner = owner([node]);
        let lock = owner.hold("resource");
        let token = owner.engine.token(lock).expect("it is held");
        assert_eq!(node.get(b"resource").as_deref(), Some(token.as_ref()));
        assert!(node.pttl(b"resource") > 0 && !is_long(node.pttl(b"resource")));
        owner.extend_for(lock, LONGER);
        owner.extended();
        assert!(is_long(node.pttl(b"resource")));
        // It is granted, and shortens neither the key nor the validity.
        owner.extend_for(lock, SHORTER);
        owner.extended();
        assert!(is_long(node.pttl(b"resource")));
        assert!(owner.engine.remaining(lock) > SHORTER);
        owner.attempt("resource");
        owner.not_acquired();
        assert_eq!(node.get(b"resource").as_deref(), Some(token.as_ref()));
        let outcome = owner.let_go(lock);
        assert_eq!(outcome.released.len(), 1, "{outcome:?}");
        no_keys(node);
        owner.finish([node]);
    });
}

#[test]
fn the_lock_of_somebody_else_is_neither_kept_nor_given_back() {
    on_each(|node| {
        let mut owner = owner([node]);
        for ttl in [LONGER, SHORTER] {
            let lock = owner.hold("resource");
            node.set_px(b"resource", FOREIGN, SHORTER);
            owner.extend_for(lock, ttl);
            let error = owner.not_extended();
            assert_eq!(error, ExtendError::Lost(LostReason::Majority));
            assert_eq!(owner.lost(), LostReason::Majority);
            owner.all_answered();
            assert_eq!(node.get(b"resource").as_deref(), Some(FOREIGN));
            assert!(!is_long(node.pttl(b"resource")));
            done(node.command(&[b"DEL", b"resource"]));
        }
        let lock = owner.hold("resource");
        node.set_px(b"resource", FOREIGN, SHORTER);
        let outcome = owner.let_go(lock);
        // A native command does not tell the two apart.
        assert_eq!(outcome.foreign.union(outcome.absent).len(), 1, "{outcome:?}");
        assert_eq!(node.get(b"resource").as_deref(), Some(FOREIGN));
        done(node.command(&[b"DEL", b"resource"]));
        owner.finish([node]);
    });
}

#[test]
fn a_lock_that_has_vanished_is_never_made_again() {
    on_each(|node| {
        let mut owner = owner([node]);
        for ttl in [LONGER, SHORTER] {
            let lock = owner.hold("resource");
            done(node.command(&[b"DEL", b"resource"]));
            owner.extend_for(lock, ttl);
            let error = owner.not_extended();
            assert_eq!(error, ExtendError::Lost(LostReason::Majority));
            assert_eq!(owner.lost(), LostReason::Majority);
            owner.all_answered();
            no_keys(node);
        }
        let lock = owner.hold("resource");
        done(node.command(&[b"DEL", b"resource"]));
        let outcome = owner.let_go(lock);
        assert_eq!(outcome.absent.len(), 1, "{outcome:?}");
        owner.finish([node]);
    });
}

#[test]
fn a_key_that_somebody_made_persistent_gets_a_ttl_again() {
    on_each(|node| {
        let mut owner = owner([node]);
        let lock = owner.hold("resource");
        for ttl in [LONGER, SHORTER] {
            done(node.command(&[b"PERSIST", b"resource"]));
            owner.extend_for(lock, ttl);
            owner.extended();
            assert!(node.pttl(b"resource") > 0);
        }
        done(node.command(&[b"PERSIST", b"resource"]));
        let outcome = owner.let_go(lock);
        assert_eq!(outcome.released.len(), 1, "{outcome:?}");
        no_keys(node);
        owner.finish([node]);
    });
}

/// Data that is not a lock stays, alone and in a group, and nothing is tried again.
#[test]
fn data_of_another_type_is_left_alone() {
    on_each(|node| {
        let mut owner = owner([node]);
        let put_list = |key: &str| {
            done(node.command(&[b"DEL", key.as_bytes()]));
            done(node.command(&[b"RPUSH", key.as_bytes(), b"data"]));
        };
        for ttl in [LONGER, SHORTER] {
            let lock = owner.hold("alone");
            put_list("alone");
            owner.extend_for(lock, ttl);
            owner.not_extended();
            assert_eq!(owner.lost(), LostReason::Majority);
            done(node.command(&[b"DEL", b"alone"]));
        }
        let lock = owner.hold("alone");
        put_list("alone");
        let outcome = owner.let_go(lock);
        assert_eq!(outcome.foreign.len(), 1, "{outcome:?}");
        let resources = names(3);
        let locks = hold_all(&mut owner, &resources);
        put_list(&resources[1]);
        locks.iter().for_each(|lock| owner.release(*lock));
        let outcomes = locks.iter().map(|_| owner.released());
        assert_eq!(outcomes.map(|outcome| outcome.absent.len()).sum::<usize>(), 1);
        assert_eq!(owner.status(0).cleanup, 0);
        assert_eq!(node.keys(), [&b"alone"[..], resources[1].as_bytes()]);
        node.command(&[b"FLUSHALL"]);
        owner.finish([node]);
    });
}

#[test]
fn groups_of_every_size_are_kept_and_given_back() {
    on_each(|node| {
        let mut owner = owner([node]);
        for count in [2, 3, 16, 63, 64, 65, 128, 130] {
            let resources = names(count);
            let locks = hold_all(&mut owner, &resources);
            for ttl in [LONGER, SHORTER] {
                locks.iter().for_each(|lock| owner.extend_for(*lock, ttl));
                locks.iter().for_each(|_| owner.extended());
                let is_kept = |resource: &String| is_long(node.pttl(resource.as_bytes()));
                assert!(resources.iter().all(is_kept), "{count} locks, {ttl:?}");
            }
            locks.iter().for_each(|lock| owner.release(*lock));
            for _ in &locks {
                let outcome = owner.released();
                assert_eq!(outcome.released.len(), 1, "{outcome:?}");
            }
            no_keys(node);
        }
        owner.finish([node]);
    });
}

/// Each key of a group is answered for by itself.
#[test]
fn a_group_takes_what_is_ours_and_nothing_else() {
    on_each(|node| {
        let mut owner = owner([node]);
        let resources = names(8);
        let locks = hold_all(&mut owner, &resources);
        let [absent, foreign, persistent] = [1, 4, 6].map(|i: usize| resources[i].as_bytes());
        done(node.command(&[b"DEL", absent]));
        node.set_px(foreign, FOREIGN, SHORTER);
        done(node.command(&[b"PERSIST", persistent]));
        locks.iter().for_each(|lock| owner.release(*lock));
        for (index, lock) in locks.iter().enumerate() {
            let Event::Released { lock: released, outcome } = owner.next() else {
                panic!("not released")
            };
            assert_eq!(released, *lock, "a group is answered in the order of its keys");
            let said = [outcome.released.len(), outcome.absent.len(), outcome.foreign.len()];
            let expected = match index {
                1 => [0, 1, 0],
                4 => [0, 0, 1],
                _ => [1, 0, 0],
            };
            assert_eq!(said, expected, "lock {index}");
        }
        assert_eq!(node.keys(), [foreign]);
        assert_eq!(node.get(foreign).as_deref(), Some(FOREIGN));
        done(node.command(&[b"DEL", foreign]));
        owner.finish([node]);
    });
}

#[test]
fn forgotten_scripts_are_brought_back() {
    on_each(|node| {
        let mut owner = owner([node]);
        for count in [1, 5] {
            let resources = names(count);
            let locks = hold_all(&mut owner, &resources);
            node.command(&[b"SCRIPT", b"FLUSH"]);
            locks.iter().for_each(|lock| owner.extend_for(*lock, SHORTER));
            locks.iter().for_each(|_| owner.extended());
            node.command(&[b"SCRIPT", b"FLUSH"]);
            locks.iter().for_each(|lock| owner.release(*lock));
            locks.iter().for_each(|_| assert_eq!(owner.released().released.len(), 1));
            no_keys(node);
        }
        assert!(node.calls("eval") >= 3, "nothing went by its text");
        owner.finish([node]);
    });
}
