//! One cluster of all flavours: each node is spoken to in its own way, and none of it shows.

use std::collections::HashMap;

use redbolt::{Event, LockId, NodeState};

use crate::owner::Owner;
use crate::place::{Place, Way};
use crate::support::flavours::{Flavour, REDIS_7, VALKEY_9, leave_out};
use crate::support::servers::Node;
use crate::{LONGER, SHORTER, names, owner};

/// Clusters with one node of each flavour: by TCP, by TLS, and by all ways. None where the two
/// flavours that differ most are not here.
fn mixed() -> Vec<Vec<(Place, Node)>> {
    let flavours = Flavour::all();
    let has = |name: &str| flavours.iter().any(|flavour| flavour.name == name);
    if !has(REDIS_7) || !has(VALKEY_9) {
        leave_out("all of it", &format!("a mixed cluster needs {REDIS_7} and {VALKEY_9}"));
        return Vec::new();
    }
    let ways = Way::all();
    let [first, last] = [ways[0], ways[ways.len() - 1]];
    let all = |number: usize| ways[number % ways.len()];
    let places = [Place::each(|_| first), Place::each(|_| last), Place::each(all)];
    let start = |place: Place| {
        let node = place.start();
        (place, node)
    };
    places.into_iter().map(|places| places.into_iter().map(start).collect()).collect()
}

fn nodes(cluster: &[(Place, Node)]) -> impl Iterator<Item = &Node> {
    cluster.iter().map(|(_, node)| node)
}

/// Nothing that a server said was an error, and no connection broke.
fn nothing_went_wrong(owner: &Owner, cluster: &[(Place, Node)]) {
    for ((flavour, _), (_, _, status)) in cluster.iter().zip(owner.engine.nodes()) {
        let counters = status.counters;
        let wrong = [counters.errors, counters.failures, counters.cleanup_dropped];
        assert_eq!((wrong, counters.connects), ([0; 3], 1), "{}: {status}", flavour.name);
        assert_eq!(status.state, NodeState::Ready, "{}", flavour.name);
    }
}

#[test]
fn one_lock_after_the_other_is_held_by_every_flavour() {
    const ROUNDS: u64 = 1_000;
    for cluster in mixed() {
        let mut owner = owner(nodes(&cluster));
        for round in 0..ROUNDS {
            let lock = owner.hold("resource");
            if round % 4 == 0 {
                owner.extend_for(lock, if round % 8 == 0 { LONGER } else { SHORTER });
                owner.extended();
            }
            owner.all_answered();
            if round % 100 == 0 {
                let token = owner.engine.token(lock).expect("it is held");
                let has = |node: &Node| node.get(b"resource").as_deref() == Some(token.as_ref());
                assert!(cluster.iter().all(|(_, node)| has(node)));
            }
            let outcome = owner.let_go(lock);
            let refused = outcome.absent.union(outcome.foreign);
            assert!(
                outcome.released.len() > cluster.len() / 2 && refused.is_empty(),
                "{outcome:?}"
            );
            owner.all_answered();
        }
        nothing_went_wrong(&owner, &cluster);
        for (flavour, node) in &cluster {
            assert_eq!(
                node.calls("delifeq") + node.calls("delex"),
                match flavour.native {
                    Some(_) => ROUNDS,
                    None => 0,
                }
            );
        }
        owner.finish(nodes(&cluster));
    }
}

#[test]
fn thousands_of_locks_at_the_same_time_go_through_every_flavour_without_a_failure() {
    const CYCLES: usize = 10_000;
    const AT_ONCE: usize = 64;
    for cluster in mixed() {
        let mut owner = owner(nodes(&cluster));
        let (mut begun, mut ended) = (0, 0);
        while ended < CYCLES {
            // A lock takes up its place until the slowest node has answered, long after the others.
            while begun < CYCLES && begun - ended < AT_ONCE && owner.engine.in_use() < 4 * AT_ONCE {
                owner.acquire(format!("resource:{begun}"));
                begun += 1;
            }
            let Some(event) = owner.next_now() else {
                owner.turn();
                continue;
            };
            match event {
                // Some are extended before they are given back, by more or by less than they have.
                Event::Acquired { lock, .. } if begun % 3 == 0 => {
                    owner.extend_for(lock, if begun % 2 == 0 { LONGER } else { SHORTER });
                }
                Event::Acquired { lock, .. } | Event::Extended { lock, .. } => owner.release(lock),
                Event::Released { outcome, .. } => {
                    // A node whose vote came too late for the decision was still asked before.
                    assert!(outcome.absent.is_empty() && outcome.foreign.is_empty(), "{outcome:?}");
                    ended += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        owner.all_answered();
        nothing_went_wrong(&owner, &cluster);
        for (flavour, node) in &cluster {
            assert!(node.calls("set") >= CYCLES as u64, "{} was passed over", flavour.name);
        }
        owner.finish(nodes(&cluster));
    }
}

/// Two engines want the same few resources. No two of them may believe in the same one.
#[test]
fn two_engines_exclude_each_other_over_every_flavour() {
    const CYCLES: usize = 2_000;
    for cluster in mixed() {
        let resources = names(8);
        let mut owners = [owner(nodes(&cluster)), owner(nodes(&cluster))];
        let mut wanted: [HashMap<LockId, usize>; 2] = [HashMap::new(), HashMap::new()];
        let mut holder: Vec<Option<usize>> = vec![None; resources.len()];
        let (mut begun, mut ended) = (0, 0);
        while ended < CYCLES {
            for (who, owner) in owners.iter_mut().enumerate() {
                while begun < CYCLES && wanted[who].len() < resources.len() / 2 {
                    let place = begun % resources.len();
                    wanted[who].insert(owner.acquire(&resources[place]), place);
                    begun += 1;
                }
                owner.turn();
                while let Some(event) = owner.next_now() {
                    match event {
                        Event::Acquired { lock, .. } => {
                            let place = wanted[who][&lock];
                            assert_eq!(holder[place].replace(who), None, "two hold the same");
                            owner.extend(lock);
                        }
                        Event::Extended { lock, .. } => {
                            assert_eq!(holder[wanted[who][&lock]].take(), Some(who));
                            owner.release(lock);
                            owner.flush();
                        }
                        Event::Released { lock, .. } => {
                            wanted[who].remove(&lock);
                            ended += 1;
                        }
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
        // What one of them still has to give back is left on a node for the other to see.
        owners.iter_mut().for_each(Owner::all_answered);
        for owner in owners {
            nothing_went_wrong(&owner, &cluster);
            owner.finish(nodes(&cluster));
        }
    }
}
