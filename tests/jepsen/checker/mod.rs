//! The rules that a log must keep, whatever happened.
//!
//! The checker knows the records, and nothing of their origin: no clients, no nodes, no faults. The
//! promise is judged by what the clients believed. A client believes in a lock from the moment at
//! which the client learned of the grant. The belief ends at the last validity that the client was
//! told, or when the client began to release the lock, or when the client was told of the loss. In
//! between, every look had the answer yes. A stopped client may look at any moment after it goes
//! on, so stopping does not shorten a belief, and only the validity ends it.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::log::{Record, What};

#[cfg(test)]
mod tests;

/// The findings in a log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) grants: usize,
    pub(crate) extensions: usize,
    /// The number of locks that were lost.
    pub(crate) losses: usize,
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

/// Judges a whole log. The records of one client must be in the order in which the client wrote
/// them.
pub(crate) fn check(records: &[Record]) -> Verdict {
    let mut book = Book::default();
    for record in records {
        book.enter(record);
    }
    let beliefs = book.beliefs();
    let Book { mut verdict, .. } = book;
    verdict.double_holds = double_holds(beliefs);
    verdict
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

/// The requests of all clients, each with the events that may still come.
#[derive(Default)]
struct Book {
    requests: BTreeMap<(u32, u64), Request>,
    tokens: HashMap<String, (u32, u64)>,
    left: HashSet<u32>,
    verdict: Verdict,
}

struct Request {
    resource: String,
    stage: Stage,
    extending: bool,
    /// The time during which the lock is believed in, once it is held.
    from: u64,
    until: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Wanted,
    Held,
    Releasing,
    Ended,
}

impl Book {
    fn enter(&mut self, record: &Record) {
        let key = (record.client, record.request);
        if self.left.contains(&record.client) {
            self.fault(record, "after its client has left");
        }
        match &record.what {
            What::Wanted { resource } => {
                if self.requests.insert(key, Request::new(resource)).is_some() {
                    self.fault(record, "of a request that there has been");
                }
            }
            What::Left => self.leave(record),
            what => {
                if let What::Held { token, .. } = what {
                    if let Some(other) = self.tokens.insert(token.clone(), key) {
                        self.fault(record, &format!("with the token of {other:?}"));
                    }
                }
                let step = self.requests.get_mut(&key).map(|request| request.step(record));
                match step {
                    None => self.fault(record, "of a request that nobody made"),
                    Some(Err(why)) => self.fault(record, &why),
                    Some(Ok(())) => self.count(what),
                }
            }
        }
    }

    fn count(&mut self, what: &What) {
        match what {
            What::Held { .. } => self.verdict.grants += 1,
            What::Extended { .. } => self.verdict.extensions += 1,
            What::Lost { .. } => self.verdict.losses += 1,
            _ => {}
        }
    }

    /// Checks a client that leaves. Such a client has been told the end of every request; a killed
    /// client may have been told nothing.
    fn leave(&mut self, record: &Record) {
        let of_client = (record.client, 0)..=(record.client, u64::MAX);
        let open = self.requests.range(of_client).filter(|(_, r)| r.stage != Stage::Ended);
        let open: Vec<_> = open.map(|(key, request)| (key.1, request.stage)).collect();
        if !open.is_empty() {
            self.fault(record, &format!("with open requests: {open:?}"));
        }
        self.left.insert(record.client);
    }

    fn fault(&mut self, record: &Record, why: &str) {
        self.verdict.faults.push(format!("{record}: {why}"));
    }

    fn beliefs(&self) -> Vec<Belief> {
        let beliefs = self.requests.iter().map(|(&(client, request), entry)| Belief {
            client,
            request,
            resource: entry.resource.clone(),
            from: entry.from,
            until: entry.until,
        });
        beliefs.collect()
    }
}

impl Request {
    fn new(resource: &str) -> Self {
        let resource = resource.to_owned();
        Self { resource, stage: Stage::Wanted, extending: false, from: 0, until: 0 }
    }

    /// Takes the next step of this request. The error says why the step is wrong.
    fn step(&mut self, record: &Record) -> Result<(), String> {
        let (stage, extending) = (self.stage, self.extending);
        match (&record.what, stage, extending) {
            (What::Failed { .. }, Stage::Wanted, _) => self.stage = Stage::Ended,
            (&What::Held { until, .. }, Stage::Wanted, _) => {
                self.stage = Stage::Held;
                (self.from, self.until) = (record.at, until);
            }
            (What::Extending, Stage::Held, false) => self.extending = true,
            (&What::Extended { until }, Stage::Held, true) => {
                self.extending = false;
                if until < self.until {
                    return Err(format!("shortened from {}", self.until));
                }
                self.until = until;
            }
            // An extension under way ends with the release of its lock.
            (What::NotExtended { .. }, Stage::Held | Stage::Releasing, true) => {
                self.extending = false;
            }
            (&What::Releasing { seen }, Stage::Held, _) => {
                self.stage = Stage::Releasing;
                self.end(record.at, seen)?;
            }
            (What::Released, Stage::Releasing, false) => self.stage = Stage::Ended,
            (&What::Lost { seen, .. }, Stage::Held, false) => {
                self.stage = Stage::Ended;
                self.end(record.at, seen)?;
            }
            _ => return Err(format!("of a request that is {stage:?}, extending: {extending}")),
        }
        Ok(())
    }

    /// Ends the belief, now at the latest.
    fn end(&mut self, at: u64, seen: u64) -> Result<(), String> {
        let until = self.until;
        // What the client was told counts, not what the client should have been told.
        self.until = until.min(at).max(seen);
        if seen >= until { Err(format!("seen as held, but valid until {until}")) } else { Ok(()) }
    }
}
