//! The book of a log: all requests with what may still come, and all votes.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::numbers::{self, Number, Numbers};
use super::queries::Queries;
use super::request::{Request, Stage};
use super::terms::{Terms, Votes};
use super::weather::Weather;
use super::{Belief, Verdict, storage};
use crate::log::{Deposit, Entry, Record, What};

/// A client and its number for a request.
pub(super) type Key = (u32, u64);

/// A shutdown with nothing held.
struct Shutdown {
    since: u64,
    end: Record,
    is_complete: bool,
}

pub(super) struct Book {
    terms: Terms,
    requests: BTreeMap<Key, Request>,
    /// The last request that was granted each token.
    tokens: HashMap<String, Key>,
    votes: HashMap<String, Votes>,
    numbers: Numbers,
    /// The lines of the register, in their order.
    deposits: Vec<Deposit>,
    queries: Queries,
    weather: Weather,
    /// When each client began to shut down.
    closing: HashMap<u32, u64>,
    /// The shutdowns that had an end.
    shutdowns: Vec<Shutdown>,
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
            numbers: Numbers::default(),
            deposits: Vec::new(),
            queries: Queries::default(),
            weather: Weather::default(),
            closing: HashMap::new(),
            shutdowns: Vec::new(),
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
            Entry::Empty(empty) => self.queries.lacks(empty),
            Entry::Accepted(accepted) => self.numbers.accept(accepted),
            Entry::Deposit(deposit) => self.deposits.push(deposit.clone()),
            Entry::Weather(weather) => self.weather.enter(weather),
        }
    }

    /// Returns the findings but double holds, contradictions and shutdowns.
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

    /// Judges the numbers and the register.
    pub(super) fn judge_numbers(&self, verdict: &mut Verdict) {
        let requests = self.requests.iter();
        let numbers: Vec<_> =
            requests.flat_map(|(key, request)| numbers_of(*key, request)).collect();
        let (twice, out_of_order) = (numbers::twice(&numbers), numbers::out_of_order(&numbers));
        verdict.raised = self.numbers.raised();
        (verdict.twice, verdict.out_of_order) = (twice.len(), out_of_order.len());
        verdict.writes = self.deposits.iter().filter(|deposit| deposit.is_accepted).count();
        verdict.late_writes = self.deposits.len() - verdict.writes;
        let faults = storage::faults(&self.deposits, &numbers);
        verdict.faults.extend(twice.into_iter().chain(out_of_order).chain(faults));
    }

    /// Returns the answers that were wrong because somebody had the lock.
    pub(super) fn contradictions(&self, beliefs: &[Belief]) -> Vec<String> {
        self.queries.contradictions(beliefs)
    }

    /// Judges the shutdowns: each must be fast and complete, if a quorum of nodes had nothing wrong
    /// for long enough. What the other nodes are owed holds nobody up. Returns how many there were,
    /// how many could be judged, and the faults.
    ///
    /// A watch says only afterwards that a process did not run, so that nothing is judged before.
    pub(super) fn shutdowns(&self) -> ([usize; 2], Vec<String>) {
        let mut faults = Vec::new();
        let mut judged = 0;
        for Shutdown { since, end, is_complete } in &self.shutdowns {
            let settled = since.saturating_sub(self.terms.settles);
            if self.weather.fair(self.terms.nodes, settled, end.at) < self.terms.quorum {
                continue;
            }
            judged += 1;
            let long = end.at.saturating_sub(*since);
            let took = long - self.weather.lateness(end.client, *since, end.at);
            if !is_complete || took > self.terms.shuts_down {
                let took = took / 1_000_000;
                let why = format!("after {took} ms, with nothing held and a quorum well");
                faults.push(format!("{end}: {why}"));
            }
        }
        ([self.shutdowns.len(), judged], faults)
    }

    fn record(&mut self, record: &Record) {
        let (key, at) = ((record.client, record.request), record.at);
        // The watch over a client ends a little later than the client.
        let is_over = self.left.contains(&record.client);
        if is_over && !matches!(record.what, What::Late { .. }) {
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
            What::Asking { resource } => self.queries.ask(key, at, resource),
            &What::Answered { is_free, .. } => {
                self.verdict.answers += 1;
                if let Err(why) = self.queries.answer(key, at, is_free, self.terms.quorum) {
                    self.fault(record, &why);
                }
            }
            What::Closing => _ = self.closing.insert(record.client, at),
            &What::Closed { is_complete } => self.close(record, is_complete),
            What::Forked { is_refused: true, .. } => self.verdict.refusals += 1,
            What::Forked { is_refused: false, .. } => self.fault(record, "by a child"),
            &What::Late { since } => self.weather.late(record.client, since, at),
            _ => self.step(record, key),
        }
    }

    fn step(&mut self, record: &Record, key: Key) {
        if let What::Held { token, fence, .. } = &record.what {
            self.check_brought(record, key, *fence);
            self.check_token(record, key, token);
        }
        let Some(request) = self.requests.get_mut(&key) else {
            return self.fault(record, "of a request that nobody made");
        };
        if let Err(why) = request.step(record, &self.terms) {
            return self.fault(record, &why);
        }
        self.check_wire(record, key);
        self.check_number(record, key);
        self.check_patience(record, key);
        self.count(&record.what, key);
    }

    /// Checks that a lock that is adopted has the number that its last owner was told last, or none
    /// if there was none.
    fn check_brought(&mut self, record: &Record, key: Key, fence: Option<u64>) {
        let adopts = self.requests.get(&key).and_then(|request| request.adopts.as_ref());
        let Some(adopts) = adopts else { return };
        let giver = self.tokens.get(adopts).and_then(|giver| self.requests.get(giver));
        let given = giver.and_then(|giver| giver.told.last()).map(|told| told.fence);
        if fence != given {
            self.fault(record, &format!("with another number than was given: {given:?}"));
        }
    }

    /// Checks that a token is used once, unless its last owner gave it away, or has passed its lock
    /// on to another request of the same client.
    fn check_token(&mut self, record: &Record, key: Key, token: &String) {
        let adopts = self.requests.get(&key).and_then(|request| request.adopts.as_ref());
        if adopts.is_some_and(|adopted| adopted != token) {
            return self.fault(record, "with another token than it adopts");
        }
        let is_adopted = adopts.is_some();
        match self.tokens.insert(token.clone(), key) {
            Some(other) if !is_adopted && self.was_passed(other, key) => {
                self.requests.get_mut(&key).into_iter().for_each(|taker| taker.is_received = true);
            }
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

    /// Returns whether one request has passed its lock on, which the other one now has.
    fn was_passed(&self, from: Key, to: Key) -> bool {
        let [from, to] = [from, to].map(|key| (key, self.requests.get(&key)));
        let (Some(giver), Some(taker)) = (from.1, to.1) else { return false };
        let is_same = from.0.0 == to.0.0 && giver.resources == taker.resources;
        is_same && giver.stage == Stage::Passed && !giver.has_number()
    }

    /// Checks that a request which has failed, and which nobody has ended, has used its wait.
    fn check_patience(&mut self, record: &Record, key: Key) {
        if !matches!(record.what, What::Failed { within: true, .. }) {
            return;
        }
        self.verdict.waits += 1;
        let request = &self.requests[&key];
        let mut later = self.requests.range(key..=(key.0, u64::MAX)).skip(1);
        let is_overtaken = later.any(|(_, later)| later.overtakes(request));
        if let Err(why) = request.check_patience(record.at, is_overtaken, &self.terms) {
            self.fault(record, &why);
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

    /// Checks that a majority has accepted on the wire the number that the client was told.
    fn check_number(&mut self, record: &Record, key: Key) {
        let (What::Held { fence: Some(fence), .. } | What::Drawn { fence }) = record.what else {
            return;
        };
        let token = self.requests.get(&key).and_then(|request| request.token.as_deref());
        let checked = self.numbers.check(token.unwrap_or(""), fence, self.terms.quorum);
        if let Err(why) = checked {
            self.verdict.unaccepted += 1;
            self.fault(record, &why);
        }
    }

    fn count(&mut self, what: &What, key: Key) {
        let request = &self.requests[&key];
        let is_set = usize::from(request.resources.len() > 1);
        match what {
            What::Held { fence, .. } => {
                let is_adopted = usize::from(request.adopts.is_some());
                let is_fenced = usize::from(fence.is_some());
                self.verdict.grants += 1;
                *self.verdict.by_client.entry(key.0).or_default() += 1;
                self.verdict.sets += is_set;
                self.verdict.adoptions += is_adopted;
                self.verdict.brought += is_fenced * is_adopted;
                self.verdict.numbers += is_fenced * (1 - is_adopted);
                self.verdict.set_numbers += is_fenced * (1 - is_adopted) * is_set;
            }
            What::Extended { .. } => self.verdict.extensions += 1,
            What::Drawn { .. } => {
                self.verdict.numbers += 1;
                self.verdict.draws += 1;
                self.verdict.set_numbers += is_set;
            }
            What::Renewed { .. } => self.verdict.renewals += 1,
            What::Lost { .. } => self.verdict.losses += 1,
            _ => {}
        }
    }

    /// Notes a client that has shut down with nothing held.
    fn close(&mut self, record: &Record, is_complete: bool) {
        let Some(since) = self.closing.remove(&record.client) else {
            return self.fault(record, "and nobody had begun to");
        };
        self.check_all_ended(record);
        self.shutdowns.push(Shutdown { since, end: record.clone(), is_complete });
    }

    /// Checks a client that leaves. Such a client has been told the end of every request; a killed
    /// client may have been told nothing.
    fn leave(&mut self, record: &Record) {
        self.check_all_ended(record);
        self.left.insert(record.client);
    }

    fn check_all_ended(&mut self, record: &Record) {
        let of_client = (record.client, 0)..=(record.client, u64::MAX);
        let open = self.requests.range(of_client).filter(|(_, request)| !request.has_ended());
        let open: Vec<_> = open.map(|(key, request)| (key.1, request.stage)).collect();
        if !open.is_empty() {
            self.fault(record, &format!("with open requests: {open:?}"));
        }
    }

    fn fault(&mut self, record: &Record, why: &str) {
        self.verdict.faults.push(format!("{record}: {why}"));
    }
}

/// Returns the numbers that the client of a request was told, each once for every resource of the
/// lock: the order counts in each of them.
fn numbers_of(owner: Key, request: &Request) -> impl Iterator<Item = Number> {
    let is_believed = request.from < request.until;
    let told = request.told.iter();
    let each = told.flat_map(|told| request.resources.iter().map(move |name| (told, name)));
    each.map(move |(told, resource)| Number {
        owner,
        resource: resource.clone(),
        fence: told.fence,
        since: told.since,
        known: told.at,
        from: is_believed.then_some(request.from),
        // Of a lock that was over before its client could ask, nobody knows the end.
        until: if request.until > 0 { request.until } else { u64::MAX },
    })
}
