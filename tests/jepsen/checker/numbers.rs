//! Fencing numbers: who has accepted them, that none comes twice, and their order.
//!
//! The three promises are those of `SAFETY.md`. Nothing that the nemesis does takes one of them
//! away: the masters' clocks stay within `fence_skew`, clients are told of flushes, and no name
//! moves twice within a span. So the same is checked in all weathers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::book::Key;
use crate::log::Accepted;

/// A number that a client was told, for one resource of its lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) owner: Key,
    pub(super) resource: String,
    pub(super) fence: u64,
    /// When the attempt or the draw began, and when the client was told. Nothing began for a number
    /// that came with an adoption: somebody has drawn it before.
    pub(super) since: Option<u64>,
    pub(super) known: u64,
    /// When the belief in the lock began, if there was one, and the last moment at which the lock
    /// can have been held.
    pub(super) from: Option<u64>,
    pub(super) until: u64,
}

/// What the wire says of numbers.
#[derive(Default)]
pub(super) struct Numbers {
    /// For each token and number the nodes that have accepted the number with that token.
    accepted: HashMap<(String, u64), BTreeSet<usize>>,
    /// The tokens and numbers of second trips.
    raised: HashSet<(String, u64)>,
}

impl Numbers {
    pub(super) fn accept(&mut self, accepted: &Accepted) {
        let key = (accepted.token.clone(), accepted.fence);
        if accepted.is_raised {
            self.raised.insert(key.clone());
        }
        self.accepted.entry(key).or_default().insert(accepted.node);
    }

    /// Returns how many numbers nodes have accepted that others had drawn.
    pub(super) fn raised(&self) -> usize {
        self.raised.len()
    }

    /// Checks that a quorum has accepted exactly this number, by scripts that saw this token.
    pub(super) fn check(&self, token: &str, fence: u64, quorum: usize) -> Result<(), String> {
        let nodes = self.accepted.get(&(token.to_owned(), fence)).map_or(0, BTreeSet::len);
        if nodes < quorum { Err(format!("number accepted by only {nodes} nodes")) } else { Ok(()) }
    }
}

/// Returns in words the numbers that came twice for one resource. A number that came with an
/// adoption is still the one that was drawn.
pub(super) fn twice(numbers: &[Number]) -> Vec<String> {
    let mut known: BTreeMap<(&str, u64), &Number> = BTreeMap::new();
    let mut found = Vec::new();
    for number in numbers.iter().filter(|number| number.since.is_some()) {
        if let Some(first) = known.insert((&number.resource, number.fence), number) {
            let Number { owner, resource, fence, .. } = number;
            found
                .push(format!("{owner:?}: {resource} has the number {fence} of {:?}", first.owner));
        }
    }
    found
}

/// Returns in words the numbers that are out of order: smaller than one that was known before their
/// attempt or draw began, or than one of a lock that was over before theirs was believed in.
pub(super) fn out_of_order(numbers: &[Number]) -> Vec<String> {
    let mut by_resource: BTreeMap<&str, Vec<&Number>> = BTreeMap::new();
    for number in numbers {
        by_resource.entry(&number.resource).or_default().push(number);
    }
    let mut found = BTreeMap::new();
    for numbers in by_resource.values() {
        let known = |number: &Number| Some(number.known + 1);
        let over = |number: &Number| Some(number.until);
        let by_start = overtaken(numbers, known, |number| number.since);
        let by_holding = overtaken(numbers, over, |number| number.from);
        for (before, number) in by_start.into_iter().chain(by_holding) {
            let Number { owner, resource, fence, .. } = number;
            let (larger, other) = (before.fence, before.owner);
            let words = format!("{owner:?}: {resource} has {fence} behind {larger} of {other:?}");
            found.entry((*owner, *fence, resource)).or_insert(words);
        }
    }
    found.into_values().collect()
}

/// Returns the numbers that begin when a larger one is over, each with the largest of those.
fn overtaken<'a>(
    numbers: &[&'a Number],
    over: impl Fn(&Number) -> Option<u64>,
    begins: impl Fn(&Number) -> Option<u64>,
) -> Vec<(&'a Number, &'a Number)> {
    let sorted = |time: &dyn Fn(&Number) -> Option<u64>| {
        let timed = numbers.iter().filter_map(|&number| Some((time(number)?, number)));
        let mut timed: Vec<_> = timed.collect();
        timed.sort_by_key(|(time, _)| *time);
        timed
    };
    let mut earlier = sorted(&over).into_iter().peekable();
    let mut largest: Option<&Number> = None;
    let mut found = Vec::new();
    for (begin, number) in sorted(&begins) {
        while let Some((_, before)) = earlier.next_if(|(end, _)| *end <= begin) {
            if largest.is_none_or(|largest| largest.fence < before.fence) {
                largest = Some(before);
            }
        }
        if let Some(before) = largest.filter(|before| before.fence > number.fence) {
            found.push((before, number));
        }
    }
    found
}
