//! The book of a log: all requests with what may still come, and all votes.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::request::{Request, Stage};
use super::terms::{Terms, Votes};
use super::{Belief, Verdict};
use crate::log::{Entry, Record, What};

/// A client and its number for a request.
type Key = (u32, u64);

pub(super) struct Book {
    terms: Terms,
    requests: BTreeMap<Key, Request>,
    /// The last request that was granted each token.
    tokens: HashMap<String, Key>,
    votes: HashMap<String, Votes>,
    left: HashSet<u32>,
    verdict: Verdict,
}

impl Book {
    pub(super) fn new(terms: Terms) -> Self {
        Self {
            terms,
            requests: BTreeMap::new(),
            tokens: HashMap::new(),
            votes: HashMap::new(),
            left: HashSet::new(),
            verdict: Verdict::default(),
        }
    }

    pub(super) fn enter(&mut self, entry: &Entry) {
        match entry {
            Entry::Record(record) => self.record(record),
            Entry::Vote(vote) => {
                self.votes.entry(vote.token.clone()).or_default().count(vote, &self.terms);
            }
        }
    }

    /// Returns the findings but double holds.
    pub(super) fn findings(&self) -> &Verdict {
        &self.verdict
    }

    /// Returns what clients have believed.
    pub(super) fn beliefs(&self) -> Vec<Belief> {
        let believes = |(&(client, request), entry): (&Key, &Request)| -> Vec<Belief> {
            let (from, until) = (entry.from, entry.until);
            let believe = |resource: String| Belief { client, request, resource, from, until };
            entry.resources.iter().cloned().map(believe).collect()
        };
        self.requests.iter().flat_map(believes).collect()
    }

    fn record(&mut self, record: &Record) {
        let key = (record.client, record.request);
        if self.left.contains(&record.client) {
            self.fault(record, "after its client has left");
        }
        match &record.what {
            What::Wanted { .. } => {
                let request = Request::new(record);
                if self.requests.insert(key, request).is_some() {
                    self.fault(record, "of a request that there has been");
                }
            }
            What::Left => self.leave(record),
            _ => self.step(record, key),
        }
    }

    fn step(&mut self, record: &Record, key: Key) {
        if let What::Held { token, .. } = &record.what {
            self.check_token(record, key, token);
        }
        let Some(request) = self.requests.get_mut(&key) else {
            return self.fault(record, "of a request that nobody made");
        };
        if let Err(why) = request.step(record, &self.terms) {
            return self.fault(record, &why);
        }
        self.check_wire(record, key);
        self.count(&record.what, key);
    }

    /// Checks that a token is used once, unless its last owner gave it away.
    fn check_token(&mut self, record: &Record, key: Key, token: &String) {
        let adopts = self.requests.get(&key).and_then(|request| request.adopts.as_ref());
        if adopts.is_some_and(|adopted| adopted != token) {
            return self.fault(record, "with another token than it adopts");
        }
        let is_adopted = adopts.is_some();
        match self.tokens.insert(token.clone(), key) {
            Some(other) if !is_adopted => {
                self.fault(record, &format!("with the token of {other:?}"));
            }
            Some(other) if self.requests.get(&other).is_none_or(|r| r.stage != Stage::Given) => {
                self.fault(record, &format!("adopts what {other:?} never gave"));
            }
            None if is_adopted => self.fault(record, "adopts what nobody had"),
            _ => {}
        }
    }

    /// Checks that a majority has said on the wire what the client says that it was told.
    fn check_wire(&mut self, record: &Record, key: Key) {
        let (What::Held { until, .. } | What::Extended { until } | What::Renewed { until }) =
            record.what
        else {
            return;
        };
        let token = self.requests.get(&key).and_then(|request| request.token.as_ref());
        let votes = token.and_then(|token| self.votes.get(token));
        let borne_out = votes.map_or(0, |votes| votes.until(&self.terms));
        if until > borne_out {
            self.fault(record, &format!("borne out by the wire only until {borne_out}"));
        }
    }

    fn count(&mut self, what: &What, key: Key) {
        let request = &self.requests[&key];
        match what {
            What::Held { .. } => {
                self.verdict.grants += 1;
                self.verdict.sets += usize::from(request.resources.len() > 1);
                self.verdict.adoptions += usize::from(request.adopts.is_some());
            }
            What::Extended { .. } => self.verdict.extensions += 1,
            What::Renewed { .. } => self.verdict.renewals += 1,
            What::Lost { .. } => self.verdict.losses += 1,
            _ => {}
        }
    }

    /// Checks a client that leaves. Such a client has been told the end of every request; a killed
    /// client may have been told nothing.
    fn leave(&mut self, record: &Record) {
        let of_client = (record.client, 0)..=(record.client, u64::MAX);
        let open = self.requests.range(of_client).filter(|(_, request)| !request.has_ended());
        let open: Vec<_> = open.map(|(key, request)| (key.1, request.stage)).collect();
        if !open.is_empty() {
            self.fault(record, &format!("with open requests: {open:?}"));
        }
        self.left.insert(record.client);
    }

    fn fault(&mut self, record: &Record, why: &str) {
        self.verdict.faults.push(format!("{record}: {why}"));
    }
}
