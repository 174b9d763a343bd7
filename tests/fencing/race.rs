//! Many holders at once. Locks would not let them, but locks end by time, and then the storage is
//! on its own.

use std::thread;

use crate::fence;
use crate::fenced::bucket::Bucket;
use crate::fenced::object::FencedObject;
use crate::fenced::storage::{Storage, StorageError};
use crate::storages::on_each;

const HOLDERS: u64 = 8;

#[test]
fn holders_that_overlap_never_undo_what_was_accepted() {
    on_each(|storage| race(storage, 1));
}

/// An object in memory changes so fast that a single race shows nothing.
#[test]
fn an_object_is_put_only_over_the_one_that_was_compared() {
    let bucket = Bucket::default();
    race(&FencedObject::new(&bucket, "order"), 300);
}

/// Each holder adds its number to what it has read. A text that was accepted and then undone would
/// be missing in the end.
fn race(storage: &dyn Storage, rounds: u64) {
    let mut accepted = Vec::new();
    for round in 0..rounds {
        let newcomers = round * HOLDERS + 1..=(round + 1) * HOLDERS;
        let newest = *newcomers.end();
        thread::scope(|scope| {
            let start = |holder| scope.spawn(move || adds_itself(storage, holder));
            let holders: Vec<_> = newcomers.map(|holder| (holder, start(holder))).collect();
            for (holder, outcome) in holders {
                accepted.extend(outcome.join().expect("no panic").then_some(holder));
            }
        });
        let stored = storage.look().expect("it can be read");
        let stored: Vec<u64> = stored.split(' ').map(|n| n.parse().expect("a number")).collect();
        assert_eq!(stored, accepted, "in the order of the numbers, and nothing is missing");
        assert_eq!(stored.last(), Some(&newest), "nobody is newer than the last one");
    }
}

/// Returns whether the storage has accepted what this holder has written.
fn adds_itself(storage: &dyn Storage, holder: u64) -> bool {
    let add = || {
        let seen = storage.mark_and_read(fence(holder))?;
        let text = if seen.is_empty() { holder.to_string() } else { format!("{seen} {holder}") };
        storage.write(fence(holder), &text)
    };
    match add() {
        Ok(()) => true,
        Err(StorageError::Late) => false,
        Err(StorageError::Failed(why)) => panic!("{why}"),
    }
}
