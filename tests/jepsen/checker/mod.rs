//! The rules that a log must keep, whatever happened.
//!
//! The checker knows the records, and nothing of their origin: no clients, no nodes, no faults. The
//! promise is judged by what the clients believed. A client believes in a lock from the moment at
//! which the client learned of the grant. The belief ends at the last validity that the client was
//! told, or when the client began to release the lock, or when the client was told of the loss. In
//! between, every look had the answer yes. A stopped client may look at any moment after it goes
//! on, so stopping does not shorten a belief, and only the validity ends it.
//!
//! - [`terms`] computes how long a lock may be believed, a second time and not with the library;
//! - [`book`] has all requests and all votes, and judges each record when it comes;
//! - [`request`] is one request, with the steps that may follow, and [`queries`] are the questions
//!   who holds a resource;
//! - [`numbers`] are the fencing numbers and their order, and [`storage`] is what the register did
//!   with them;
//! - [`weather`] is what was done to nodes and clients, and excuses what is slow.

mod book;
mod numbers;
mod queries;
mod request;
mod storage;
mod terms;
#[cfg(test)]
mod tests;
mod weather;

use std::collections::BTreeMap;

use self::book::Book;
pub(crate) use self::terms::Terms;
use crate::log::Entry;

/// The findings in a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) grants: usize,
    /// The grants of each client that had any.
    pub(crate) by_client: BTreeMap<u32, usize>,
    /// How many of the grants were for several resources.
    pub(crate) sets: usize,
    /// How many of the grants were adoptions, and how many of these brought a fencing number.
    pub(crate) adoptions: usize,
    pub(crate) brought: usize,
    pub(crate) extensions: usize,
    /// How often a client has seen that a lock was kept alive.
    pub(crate) renewals: usize,
    /// The number of locks that were lost.
    pub(crate) losses: usize,
    /// How often a child of a client's process was refused something.
    pub(crate) refusals: usize,
    /// How many requests have failed that nobody ended: each has used its wait, or is a finding.
    pub(crate) waits: usize,
    /// How many questions were answered.
    pub(crate) answers: usize,
    /// How often a client has shut down, and how often a quorum of nodes had nothing wrong then.
    pub(crate) shutdowns: [usize; 2],
    /// How many fencing numbers clients were told, how many of them for sets, how many for locks
    /// that were held already, and how many numbers have nodes accepted that others had drawn.
    pub(crate) numbers: usize,
    pub(crate) set_numbers: usize,
    pub(crate) draws: usize,
    pub(crate) raised: usize,
    /// How many numbers came twice, were out of order, or were not accepted by a majority: each is
    /// a fault too. The first two count in each resource.
    pub(crate) twice: usize,
    pub(crate) out_of_order: usize,
    pub(crate) unaccepted: usize,
    /// How often the register has let somebody in, and how often it has refused a late one.
    pub(crate) writes: usize,
    pub(crate) late_writes: usize,
    /// Pairs of clients that believed in the same resource at the same time.
    pub(crate) double_holds: Vec<DoubleHold>,
    /// All other broken rules, in words.
    pub(crate) faults: Vec<String>,
}

/// Two beliefs that overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DoubleHold {
    pub(crate) first: Belief,
    pub(crate) second: Belief,
}

/// The belief in a lock on `resource` at every moment of `from..until`, in nanoseconds since boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Belief {
    pub(crate) client: u32,
    pub(crate) request: u64,
    pub(crate) resource: String,
    pub(crate) from: u64,
    pub(crate) until: u64,
}

/// A reader of a log, entry by entry.
pub(crate) struct Checker(Book);

impl Checker {
    pub(crate) fn new(terms: Terms) -> Self {
        Self(Book::new(terms))
    }

    /// Reads the next entry. The records of one request must be in the order in which its client
    /// wrote them, and the votes before the records of clients that had read them.
    pub(crate) fn read(&mut self, entry: &Entry) {
        self.0.enter(entry);
    }

    /// Judges what was read so far.
    pub(crate) fn judge(&self) -> Verdict {
        let beliefs = self.0.beliefs();
        let mut verdict = self.0.findings().clone();
        verdict.faults.extend(self.0.contradictions(&beliefs));
        let (shutdowns, faults) = self.0.shutdowns();
        verdict.faults.extend(faults);
        verdict.shutdowns = shutdowns;
        self.0.judge_numbers(&mut verdict);
        Verdict { double_holds: double_holds(beliefs), ..verdict }
    }
}

/// Returns the overlaps of beliefs in the same resource. The clients make no difference: one client
/// must not hold a resource twice either.
fn double_holds(beliefs: Vec<Belief>) -> Vec<DoubleHold> {
    let mut found = Vec::new();
    let mut by_resource: BTreeMap<String, Vec<Belief>> = BTreeMap::new();
    for belief in beliefs.into_iter().filter(|belief| belief.from < belief.until) {
        by_resource.entry(belief.resource.clone()).or_default().push(belief);
    }
    for mut beliefs in by_resource.into_values() {
        beliefs.sort_by_key(|belief| (belief.from, belief.until));
        // Of all beliefs that began before, the longest overlaps if any does.
        let mut longest: Option<Belief> = None;
        for second in beliefs {
            if let Some(first) = longest.clone().filter(|first| second.from < first.until) {
                found.push(DoubleHold { first, second: second.clone() });
            }
            if longest.as_ref().is_none_or(|longest| longest.until < second.until) {
                longest = Some(second);
            }
        }
    }
    found
}
