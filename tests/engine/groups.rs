//! Group commit on real servers: many releases or extensions in one script call, each with a fate
//! of its own.

use std::time::Duration;

use redbolt::{Event, LockId, NodeState};

use crate::owner::{Owner, TTL, config};
use crate::support::servers::{Cluster, Node};
use crate::support::until;
use crate::support::wire::Reply;

const FOREIGN: &[u8] = b"somebody else's";

/// More than one group, and the last not full.
const LOCKS: u8 = 150;

fn hold_many(owner: &mut Owner) -> Vec<LockId> {
    let locks: Vec<_> = (0..LOCKS).map(|number| owner.acquire([number])).collect();
    locks.iter().for_each(|_| _ = owner.acquired());
    owner.all_answered();
    locks
}

/// What has become of the key with this number before the group comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Ours,
    Deleted,
    Overwritten,
    List,
    Persistent,
}

impl Fate {
    fn of(number: u8) -> Self {
        use Fate::{Deleted, List, Ours, Overwritten, Persistent};
        [Ours, Deleted, Overwritten, List, Persistent][usize::from(number % 5)]
    }

    fn befall(self, node: &Node, key: &[u8]) {
        match self {
            Self::Ours => {}
            Self::Deleted => _ = node.command(&[b"DEL", key]),
            Self::Overwritten => node.set_px(key, FOREIGN, TTL / 2),
            Self::List => {
                node.command(&[b"DEL", key]);
                node.command(&[b"RPUSH", key, b"element"]);
            }
            Self::Persistent => _ = node.command(&[b"PERSIST", key]),
        }
    }

    fn is_ours(self) -> bool {
        matches!(self, Self::Ours | Self::Persistent)
    }
}

/// FAULTS 60, FAULTS 61: one call, and each key is judged by itself.
#[test]
fn each_key_of_a_group_has_its_own_answer() {
    for forgets_scripts in [false, true] {
        let node = Node::start();
        let mut owner = Owner::of([node.addr()]);
        let locks = hold_many(&mut owner);
        for number in 0..LOCKS {
            Fate::of(number).befall(&node, &[number]);
        }
        if forgets_scripts {
            node.command(&[b"SCRIPT", b"FLUSH"]);
        }
        locks.iter().for_each(|lock| owner.extend(*lock));
        for _ in 0..LOCKS {
            match owner.next() {
                Event::Extended { lock, .. } => assert!(fate(&locks, lock).is_ours()),
                Event::ExtendFailed { lock, .. } => {
                    assert!(!fate(&locks, lock).is_ours());
                    owner.lost();
                }
                other => panic!("{other:?}"),
            }
        }
        owner.all_answered();
        for number in 0..LOCKS {
            let ttl = node.pttl(&[number]);
            match Fate::of(number) {
                Fate::Ours | Fate::Persistent => assert!((30_001..=60_000).contains(&ttl)),
                Fate::Overwritten => assert!(ttl <= 30_000, "{ttl}"),
                Fate::Deleted => assert_eq!(ttl, -2),
                Fate::List => assert_eq!(ttl, -1),
            }
        }
        assert!(owner.status(0).counters.scripts < 40, "{:?}", owner.status(0).counters);

        let held = locks.iter().filter(|lock| fate(&locks, **lock).is_ours());
        held.for_each(|lock| owner.release(*lock));
        while !owner.has_nothing_open() {
            owner.turn();
        }
        while owner.next_now().is_some() {}
        for number in 0..LOCKS {
            if matches!(Fate::of(number), Fate::Overwritten | Fate::List) {
                assert_eq!(node.command(&[b"DEL", &[number]]), Reply::Integer(1));
            }
        }
        owner.finish([&node]);
    }
}

fn fate(locks: &[LockId], lock: LockId) -> Fate {
    let number = locks.iter().position(|other| *other == lock).expect("one of ours");
    Fate::of(u8::try_from(number).expect("there are fewer"))
}

/// FAULTS 60: the same for releases.
#[test]
fn a_group_of_releases_deletes_what_is_ours_and_nothing_else() {
    let node = Node::start();
    let mut owner = Owner::of([node.addr()]);
    let locks = hold_many(&mut owner);
    for number in 0..LOCKS {
        Fate::of(number).befall(&node, &[number]);
    }
    locks.iter().for_each(|lock| owner.release(*lock));
    for _ in 0..LOCKS {
        let Event::Released { lock, outcome } = owner.next() else { panic!("not released") };
        let found = [outcome.released, outcome.absent, outcome.foreign].map(|set| set.len());
        match fate(&locks, lock) {
            Fate::Ours | Fate::Persistent => assert_eq!(found, [1, 0, 0]),
            Fate::Overwritten => assert_eq!(found, [0, 0, 1]),
            // A group takes data that is not a string for absent.
            Fate::Deleted | Fate::List => assert_eq!(found, [0, 1, 0]),
        }
    }
    assert!(owner.status(0).counters.scripts < 10, "{:?}", owner.status(0).counters);
    let foreign =
        (0..LOCKS).filter(|number| matches!(Fate::of(*number), Fate::Overwritten | Fate::List));
    assert_eq!(node.keys(), foreign.clone().map(|number| vec![number]).collect::<Vec<_>>());
    for number in foreign {
        node.command(&[b"DEL", &[number]]);
    }
    owner.finish([&node]);
}

/// FAULTS 21, FAULTS 22: one group is on its way and another waits when the connection dies.
#[test]
fn groups_that_died_with_their_connection_are_made_up_for() {
    let cluster = Cluster::start(3);
    let mut config = config(cluster.addrs());
    config.redlock.close_timeout = Duration::from_secs(1);
    config.redlock.node_timeout = Some(Duration::from_secs(1));
    config.redlock.connect_timeout = Duration::from_secs(1);
    let mut owner = Owner::new(config);
    owner.all_ready();
    let locks = hold_many(&mut owner);
    cluster[2].stop();
    let (first, rest) = locks.split_at(1);
    first.iter().for_each(|lock| _ = owner.let_go(*lock));
    rest.iter().for_each(|lock| owner.release(*lock));
    rest.iter().for_each(|_| _ = owner.released());
    owner.poll_until("the end of the session", |owner| {
        !matches!(owner.status(2).state, NodeState::Ready | NodeState::Stalled)
    });
    assert_eq!(owner.status(2).cleanup, usize::from(LOCKS));
    cluster[2].cont();
    owner.all_ready();
    owner.finish(cluster.iter());
}

/// PEERS 3.8: what many locks want at the same time costs a few calls.
#[test]
fn what_gathers_leaves_in_few_calls() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let locks = hold_many(&mut owner);
    locks.iter().for_each(|lock| owner.release(*lock));
    locks.iter().for_each(|_| _ = owner.released());
    owner.all_answered();
    assert!(until(TTL, || cluster.iter().all(|node| node.calls("mget") == 3)));
    for (_, _, status) in owner.engine.nodes() {
        assert_eq!(status.counters.scripts, 3, "64 + 64 + 22");
    }
    owner.finish(cluster.iter());
}
