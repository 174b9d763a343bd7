//! One request in the book: what it asked for, how far it has come, and until when its lock is
//! believed.

use super::terms::Terms;
use crate::log::{Record, What};

const NANOS_PER_MS: u64 = 1_000_000;

pub(super) struct Request {
    /// In the order of their names: the order in which a client names them makes no difference.
    pub(super) resources: Vec<String>,
    pub(super) adopts: Option<String>,
    pub(super) token: Option<String>,
    /// The numbers that the client was told, in their order.
    pub(super) told: Vec<Told>,
    pub(super) stage: Stage,
    /// The time during which the lock is believed in, once it is held.
    pub(super) from: u64,
    pub(super) until: u64,
    /// When the client asked, for how many milliseconds, for how many it would wait, and for how
    /// many the lock may be kept.
    wanted: u64,
    ttl: u64,
    wait: u64,
    keeps: u64,
    is_fenced: bool,
    /// Another request of the same client has passed its lock on to this one.
    pub(super) is_received: bool,
    /// When the client has asked for a new number that is under way.
    drawing: Option<u64>,
    /// The extension under way: when the client asked, and for how many milliseconds.
    extending: Option<(u64, u64)>,
}

/// A number: when its attempt or its draw began, if this request has one, and when the client was
/// told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) fence: u64,
    pub(super) since: Option<u64>,
    pub(super) at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Wanted,
    Held,
    Releasing,
    /// The client gave the token away.
    Given,
    /// The lock went to another request of the same client.
    Passed,
    Ended,
}

impl Request {
    /// A request that was just made, by a record that says so.
    pub(super) fn new(record: &Record) -> Self {
        let mut request = Self {
            resources: Vec::new(),
            adopts: None,
            token: None,
            told: Vec::new(),
            stage: Stage::Wanted,
            from: 0,
            until: 0,
            wanted: record.at,
            ttl: 0,
            wait: 0,
            keeps: 0,
            is_fenced: false,
            is_received: false,
            drawing: None,
            extending: None,
        };
        if let What::Wanted { resources, ttl, wait, keeps, adopts, is_fenced } = &record.what {
            (request.resources, request.adopts) = (resources.clone(), adopts.clone());
            request.resources.sort_unstable();
            (request.ttl, request.wait, request.keeps) = (*ttl, *wait, *keeps);
            request.is_fenced = *is_fenced;
        }
        request
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Given | Stage::Passed | Stage::Ended)
    }

    /// Returns whether the client was told a number, or has asked for one.
    pub(super) fn has_number(&self) -> bool {
        self.is_fenced || self.drawing.is_some() || !self.told.is_empty()
    }

    /// Takes the next step of this request. The error says why the step is wrong.
    pub(super) fn step(&mut self, record: &Record, terms: &Terms) -> Result<(), String> {
        let at = record.at;
        match (&record.what, self.stage, self.extending) {
            (What::Failed { .. }, Stage::Wanted, _) => self.stage = Stage::Ended,
            (What::Held { token, until, fence }, Stage::Wanted, _) => {
                self.stage = Stage::Held;
                self.token = Some(token.clone());
                (self.from, self.until) = (at, *until);
                let since = self.adopts.is_none().then(|| self.start(*until, terms));
                self.told.extend(fence.map(|fence| Told { fence, since, at }));
                // The number of a lock that is adopted is that of its former owner.
                if self.adopts.is_none() && fence.is_some() != self.is_fenced {
                    return Err("with a number that was not asked for, or without".to_owned());
                }
                // A lock that was over before the client could ask makes no claim.
                if *until > 0 {
                    self.check_claim(*until, self.ttl, self.wanted, at, terms)?;
                }
            }
            (&What::Extending { ttl }, Stage::Held, None) => self.extending = Some((at, ttl)),
            (&What::Extended { until }, Stage::Held, Some((asked, ttl))) => {
                self.extending = None;
                self.prolong(until)?;
                self.check_claim(until, ttl, asked, at, terms)?;
            }
            (What::Drawing, Stage::Held, _) if self.drawing.is_none() => self.drawing = Some(at),
            // The answer can have been on its way when the client began to release.
            (&What::Drawn { fence }, Stage::Held | Stage::Releasing, _) => {
                let since = self.drawing.take().ok_or("that nobody has asked for")?;
                self.told.push(Told { fence, since: Some(since), at });
            }
            (What::NotDrawn { .. }, Stage::Held | Stage::Releasing, _) => {
                self.drawing.take().ok_or("that nobody has asked for")?;
            }
            (&What::Renewed { until }, Stage::Held, _) => {
                self.prolong(until)?;
                self.check_claim(until, self.ttl, self.wanted, at, terms)?;
                self.check_hold(until)?;
            }
            // An extension under way ends with the release of its lock.
            (What::NotExtended { .. }, Stage::Held | Stage::Releasing, Some(_)) => {
                self.extending = None;
            }
            (&What::Releasing { seen }, Stage::Held, _) => {
                self.stage = Stage::Releasing;
                self.end(at, seen)?;
            }
            (What::Released, Stage::Releasing, None) => self.stage = Stage::Ended,
            (What::Passed, Stage::Releasing, None) => self.stage = Stage::Passed,
            (What::Gave, Stage::Releasing, None) => self.stage = Stage::Given,
            (&What::Lost { seen, .. }, Stage::Held, None) => {
                self.stage = Stage::Ended;
                self.end(at, seen)?;
            }
            (_, stage, extending) => {
                return Err(format!("of a request that is {stage:?}, extending: {extending:?}"));
            }
        }
        Ok(())
    }

    /// Returns when the attempt began that was granted until then: the validity counts from there.
    fn start(&self, until: u64, terms: &Terms) -> u64 {
        until.saturating_sub(terms.validity(self.ttl)).max(self.wanted)
    }

    fn prolong(&mut self, until: u64) -> Result<(), String> {
        let before = self.until;
        self.until = until;
        if until < before { Err(format!("shortened from {before}")) } else { Ok(()) }
    }

    /// Returns whether this request is an adoption of the same resources as those of another one of
    /// its client, which goes before the other.
    pub(super) fn overtakes(&self, other: &Self) -> bool {
        self.adopts.is_some() && self.resources == other.resources
    }

    /// Checks that a request that nobody ended has used its wait. A client that is slow ends later.
    pub(super) fn check_patience(
        &self,
        at: u64,
        is_overtaken: bool,
        terms: &Terms,
    ) -> Result<(), String> {
        let until = self.wanted + self.wait * NANOS_PER_MS;
        let early = until.saturating_sub(at);
        if early > terms.left_over(self.ttl, self.wait, is_overtaken) {
            let (early, wait) = (early / NANOS_PER_MS, self.wait);
            return Err(format!("given up {early} ms before the end of a wait of {wait} ms"));
        }
        Ok(())
    }

    /// Checks that a validity counts from a time between the question and the answer.
    fn check_claim(
        &self,
        until: u64,
        ttl: u64,
        asked: u64,
        at: u64,
        terms: &Terms,
    ) -> Result<(), String> {
        let validity = terms.validity(ttl);
        if until > at + validity {
            return Err(format!("valid for more than a ttl and its drift from {at}"));
        }
        // Of a lock that was passed on, half can be left.
        let least = if self.is_received { validity / 2 } else { validity };
        if until < asked + least {
            return Err(format!("valid for less than a ttl and its drift from {asked}"));
        }
        Ok(())
    }

    /// Checks that a lock is kept alive for no longer than was asked for.
    fn check_hold(&self, until: u64) -> Result<(), String> {
        let most = self.from + self.keeps.max(self.ttl) * NANOS_PER_MS;
        if until > most || self.keeps == 0 {
            return Err(format!("kept alive until {until}, not to be kept after {most}"));
        }
        Ok(())
    }

    /// Ends the belief, now at the latest.
    fn end(&mut self, at: u64, seen: u64) -> Result<(), String> {
        let until = self.until;
        // What the client was told counts, not what the client should have been told.
        self.until = until.min(at).max(seen);
        if seen >= until && seen > 0 {
            return Err(format!("seen as held, but valid until {until}"));
        }
        Ok(())
    }
}
