//! [`Database`], one numbered database: binary strings under binary keys, with optional deadlines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The memory of a key beyond its own bytes, roughly: two tree entries and two allocations.
const OVERHEAD: usize = 128;

/// Keys are in byte order, so that no output ever depends on a hash seed.
///
/// Times are whole milliseconds of the master's clock. As in Redis, a key is dead once `now >
/// deadline`, and so still alive at the deadline itself. Every method that takes `now` treats a
/// dead key as absent, whether or not [`Database::reap`] has taken the memory back.
#[derive(Clone, Debug, Default)]
pub(super) struct Database {
    keys: BTreeMap<Arc<[u8]>, Entry>,
    /// The keys with a deadline and no others, the earliest deadline first. Both trees share the
    /// allocation of a key.
    deadlines: BTreeSet<(u64, Arc<[u8]>)>,
    bytes: usize,
    /// The number of keys that the scripts of the witness have written.
    witnesses: usize,
    /// An operator has declared that no client can hold a lock here. True of a new database until
    /// the first loss of a witness.
    is_declared: bool,
    /// The largest fencing number of each stripe, of which there are 16,384.
    fences: BTreeMap<u16, i64>,
}

#[derive(Clone, Debug)]
struct Entry {
    value: Box<[u8]>,
    deadline: Option<u64>,
    /// A script of the witness has written the key.
    is_witness: bool,
}

impl Entry {
    fn is_dead(&self, now: u64) -> bool {
        self.deadline.is_some_and(|deadline| now > deadline)
    }

    /// Whether nothing but the tree of keys and the sum of bytes knows of the entry.
    fn is_plain(&self) -> bool {
        self.deadline.is_none() && !self.is_witness
    }
}

/// How long a key will still live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ttl {
    Absent,
    Forever,
    Millis(u64),
}

impl Database {
    /// Sets `key` with its deadline, and replaces any earlier value and deadline.
    pub(super) fn insert(&mut self, key: &[u8], value: &[u8], deadline: Option<u64>) {
        self.put(key, Entry { value: value.into(), deadline, is_witness: false });
    }

    /// Returns the fencing number of a stripe, if there is one.
    pub(super) fn fence(&self, stripe: u16) -> Option<i64> {
        self.fences.get(&stripe).copied()
    }

    /// Sets the fencing number of a stripe.
    pub(super) fn set_fence(&mut self, stripe: u16, number: i64) {
        self.fences.insert(stripe, number);
    }

    /// Sets a key of the witness, without a deadline.
    pub(super) fn insert_witness(&mut self, key: &[u8], value: &[u8]) {
        // The declaration outlives a new value, and no other end of the key.
        let is_declared = self.is_declared;
        self.put(key, Entry { value: value.into(), deadline: None, is_witness: true });
        self.is_declared = is_declared;
    }

    fn put(&mut self, key: &[u8], entry: Entry) {
        if entry.is_plain() {
            if let Some(old) = self.keys.get_mut(key).filter(|old| old.is_plain()) {
                let bytes = self.bytes.saturating_sub(old.value.len());
                self.bytes = bytes.saturating_add(entry.value.len());
                *old = entry;
                return;
            }
        }
        self.forget(key);
        let key: Arc<[u8]> = Arc::from(key);
        self.bytes = self.bytes.saturating_add(cost(&key, &entry.value));
        if let Some(deadline) = entry.deadline {
            self.deadlines.insert((deadline, Arc::clone(&key)));
        }
        self.witnesses += usize::from(entry.is_witness);
        self.keys.insert(key, entry);
    }

    /// Whether a script of the witness has written this key, dead keys included.
    pub(super) fn is_witness(&self, key: &[u8]) -> bool {
        self.keys.get(key).is_some_and(|entry| entry.is_witness)
    }

    /// Whether an operator has declared that no client can hold a lock here.
    pub(super) fn is_declared(&self) -> bool {
        self.is_declared
    }

    /// Declares that no client can hold a lock here, or takes the declaration back.
    pub(super) fn declare(&mut self, is_declared: bool) {
        self.is_declared = is_declared;
    }

    /// Gives a key a new deadline. Does nothing where there is no such key.
    pub(super) fn set_deadline(&mut self, key: &[u8], deadline: u64) {
        if let Some((key, mut entry)) = self.keys.remove_entry(key) {
            if let Some(old) = entry.deadline.replace(deadline) {
                self.deadlines.remove(&(old, Arc::clone(&key)));
            }
            self.deadlines.insert((deadline, Arc::clone(&key)));
            self.keys.insert(key, entry);
        }
    }

    /// Deletes `key`. Returns whether the key was alive.
    pub(super) fn remove(&mut self, key: &[u8], now: u64) -> bool {
        self.forget(key).is_some_and(|entry| !entry.is_dead(now))
    }

    /// The keys that are alive, in byte order, without those of the witness.
    pub(super) fn keys(&self, now: u64) -> impl Iterator<Item = &[u8]> {
        let entries = self.keys.iter();
        let locks = entries.filter(move |(_, entry)| !entry.is_dead(now) && !entry.is_witness);
        locks.map(|(key, _)| &**key)
    }

    /// Returns how many keys are alive and begin so, as the scripts count them: 0 where there are
    /// more than a thousand keys.
    pub(super) fn count_labels(&self, begin: &[u8], now: u64) -> usize {
        const FEW: usize = 1_000;
        let alive = self.keys.iter().filter(|(_, entry)| !entry.is_dead(now));
        let labels = alive.filter(|(key, _)| key.starts_with(begin));
        if self.len(now) > FEW { 0 } else { labels.count() }
    }

    /// Takes back the memory of at most `max` dead keys, the longest dead first. Returns how many.
    pub(super) fn reap(&mut self, now: u64, max: usize) -> usize {
        let mut reaped = 0;
        while reaped < max {
            let Some((deadline, key)) = self.deadlines.first().cloned() else { break };
            if now <= deadline {
                break;
            }
            self.forget(&key);
            reaped += 1;
        }
        reaped
    }

    pub(super) fn get(&self, key: &[u8], now: u64) -> Option<&[u8]> {
        let entry = self.keys.get(key).filter(|entry| !entry.is_dead(now))?;
        Some(&entry.value)
    }

    pub(super) fn ttl(&self, key: &[u8], now: u64) -> Ttl {
        match self.keys.get(key) {
            Some(Entry { deadline: None, .. }) => Ttl::Forever,
            Some(Entry { deadline: Some(deadline), .. }) if now <= *deadline => {
                Ttl::Millis(deadline - now)
            }
            _ => Ttl::Absent,
        }
    }

    /// The number of keys that are alive. Costs a step per dead key that has not been reaped.
    pub(super) fn len(&self, now: u64) -> usize {
        self.keys.len() - self.dead(now)
    }

    /// The number of keys that are alive and have a deadline.
    pub(super) fn expiring(&self, now: u64) -> usize {
        self.deadlines.len() - self.dead(now)
    }

    /// The number of keys that take up memory, dead keys included, without those of the witness.
    pub(super) fn stored(&self) -> usize {
        // Each key of the witness is one of the keys.
        self.keys.len() - self.witnesses
    }

    /// The number of keys that the scripts of the witness have written.
    pub(super) fn witnesses(&self) -> usize {
        self.witnesses
    }

    /// An estimate of the memory in use, dead keys included.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of dead keys: at most `deadlines.len()`, which is at most `keys.len()`.
    fn dead(&self, now: u64) -> usize {
        self.deadlines.iter().take_while(|(deadline, _)| now > *deadline).count()
    }

    fn forget(&mut self, key: &[u8]) -> Option<Entry> {
        let (key, entry) = self.keys.remove_entry(key)?;
        self.bytes = self.bytes.saturating_sub(cost(&key, &entry.value));
        if let Some(deadline) = entry.deadline {
            self.deadlines.remove(&(deadline, key));
        }
        if entry.is_witness {
            self.witnesses -= 1;
            self.is_declared = false;
        }
        Some(entry)
    }
}

/// The memory of a key, an estimate. Both lengths are of memory that exists, so that the sum is far
/// below the end of a `usize`.
fn cost(key: &[u8], value: &[u8]) -> usize {
    key.len().saturating_add(value.len()).saturating_add(OVERHEAD)
}
