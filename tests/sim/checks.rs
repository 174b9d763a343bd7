//! What must be true of every world, checked from outside.
//!
//! The checks never ask the code under test. They see the bytes that masters execute and clients
//! receive, the calls and the events, and the true time.

use core::fmt;
use core::hash::BuildHasherDefault;
use std::collections::HashMap;
use std::time::Duration;

use redbolt::redlock::{Drift, LockId, RedlockConfig, Token};
use redbolt::time::Instant;
use smallvec::SmallVec;

use crate::client::Client;
use crate::fences::Fences;
use crate::master::{MASTERS_MAX, Node};
use crate::mixer::Mixer;
use crate::names::{self, Resources};
use crate::thrift::{Thrift, Uses};
use crate::world::CLIENTS_MAX;

/// The most keys that one request may name, and the most tokens that one request may look for.
const GROUP: usize = 64;

/// The facts about a world that the checks need.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) quorum: usize,
    pub(crate) drift: Drift,
    pub(crate) max_ttl: u64,
    /// The greatest error of a clock of this world, in parts per million.
    pub(crate) rate_max: i64,
    /// The world keeps to the model of SAFETY.md, so locks exclude each other.
    pub(crate) excludes: bool,
    /// Masters that may have forgotten locks must not vote.
    pub(crate) quarantines: bool,
    /// How old the data of a master must be before its fencing numbers count.
    pub(crate) fence_span: u64,
}

/// A vote: `+OK` to a `SET`, or 1 to an extension.
#[derive(Clone, Copy)]
pub(crate) struct Vote {
    pub(crate) token: Token,
    pub(crate) master: usize,
    /// The master was fit to vote when it executed the request, by its own words (S10).
    pub(crate) is_fit: bool,
    /// The time at which the master was last suspected of amnesia, as it executed the request.
    pub(crate) suspect_at: u64,
    /// The time at which an extension was sent, by the clock of the client.
    pub(crate) extended_at: Option<Instant>,
}

/// One attempt, as seen on the wire.
pub(crate) struct Attempt {
    /// No byte of the attempt left before this time, by the clock of the client.
    sent_at: Instant,
    ttl: Duration,
    /// The slots on which the attempt was executed, one bit each.
    asked: u32,
    /// The masters whose votes have reached the client and may be counted.
    voters: u32,
    /// A client has held a lock by this attempt: from then on masters may be given the key again.
    was_granted: bool,
    /// By client and master: the last extension of the client that the master agreed to, once the
    /// vote has reached the client and may be counted. Two clients extend a lock that changes
    /// hands.
    agreed_at: [[Instant; MASTERS_MAX]; CLIENTS_MAX],
    /// The true time at which the first request was executed.
    pub(crate) seen_at: u64,
    pub(crate) uses: Uses,
    /// By client: how many extensions and adoptions were asked for.
    pub(crate) extensions: [u64; CLIENTS_MAX],
}

pub(crate) struct Checks {
    pub(crate) rules: Rules,
    pub(crate) attempts: HashMap<Token, Attempt, BuildHasherDefault<Mixer>>,
    pub(crate) thrift: Thrift,
    pub(crate) fences: Fences,
    /// A command was executed or a lock was granted since the last check.
    pub(crate) is_touched: bool,
    violation: Option<Violation>,
}

impl Rules {
    /// Returns the true time that passes in a span, by the fastest clock.
    fn span(&self) -> u64 {
        let span = self.max_ttl + nanos(drift(self.drift, Duration::from_nanos(self.max_ttl)));
        self.by_fastest(span)
    }

    /// Returns the true time that passes in `span`, by the fastest clock.
    fn by_fastest(&self, span: u64) -> u64 {
        // Witnesses tell microseconds.
        let ticks = 2_000;
        let fast = 1_000_000 + u128::from(self.rate_max.unsigned_abs());
        (u128::from(span) * 1_000_000 / fast) as u64 - ticks
    }
}

impl Attempt {
    fn new(now: u64, sent_at: Instant, ttl: Duration) -> Self {
        Self {
            sent_at,
            ttl,
            asked: 0,
            voters: 0,
            was_granted: false,
            agreed_at: [[Instant::ZERO; MASTERS_MAX]; CLIENTS_MAX],
            seen_at: now,
            uses: Uses::default(),
            extensions: [0; CLIENTS_MAX],
        }
    }
}

/// The first broken rule, and the time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Violation {
    pub(crate) at: u64,
    pub(crate) what: String,
}

impl Checks {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            attempts: HashMap::default(),
            thrift: Thrift::new(),
            fences: Fences::default(),
            is_touched: false,
            violation: None,
        }
    }

    /// Records a broken rule. Later ones only follow from the first and do not count.
    #[cold]
    pub(crate) fn fail(&mut self, at: u64, what: fmt::Arguments<'_>) {
        self.violation.get_or_insert_with(|| Violation { at, what: what.to_string() });
    }

    pub(crate) fn violation(&mut self) -> Option<Violation> {
        self.violation.take()
    }

    /// Returns whether the vote of a master counts that was last suspected of amnesia at
    /// `suspect_at`. The vote does not count before a span has passed by the fastest clock.
    fn trusts(&self, now: u64, suspect_at: u64) -> bool {
        !self.rules.quarantines || now >= suspect_at + self.rules.span()
    }

    /// Returns the same for a fencing number, which was accepted by then.
    pub(crate) fn trusts_numbers(&self, now: u64, suspect_at: u64) -> bool {
        let span = self.rules.by_fastest(self.rules.fence_span);
        !self.rules.quarantines || now >= suspect_at + span
    }

    /// Records that a master executed a `SET`.
    pub(crate) fn asked(
        &mut self,
        now: u64,
        (client, slot): (usize, usize),
        token: Token,
        resources: Resources,
        sent_at: Instant,
        ttl: Duration,
    ) {
        self.is_touched = true;
        let Self { attempts, thrift, rules, .. } = self;
        let attempt = attempts.entry(token).or_insert_with(|| {
            thrift.attempted(client, resources);
            Attempt::new(now, sent_at, ttl)
        });
        attempt.sent_at = attempt.sent_at.min(sent_at);
        let bit = 1 << slot;
        // Nobody is told of the lock on one resource that a set takes on its way.
        let is_step = !resources.is_set() && thrift.has_sets(client);
        let has_quorum = attempt.voters.count_ones() as usize >= rules.quorum;
        let may_hold = attempt.was_granted || (is_step && has_quorum);
        let is_known = attempt.asked & bit != 0 && !may_hold;
        attempt.asked |= bit;
        if is_known {
            self.fail(now, format_args!("S1: client {client} used {token} twice on node {slot}"));
        }
    }

    /// Forgets the votes for a token that its client is allowed to use again.
    pub(crate) fn begins_anew(&mut self, token: &Token) {
        self.attempts.remove(token);
        self.fences.begins_anew(token);
    }

    /// Records that a client received a vote. What the master may have forgotten must be over now:
    /// nobody believes in the vote before (S11).
    pub(crate) fn voted(&mut self, now: u64, client: usize, vote: &Vote) {
        let Vote { token, master, is_fit, suspect_at, extended_at } = *vote;
        let counts = is_fit && self.trusts(now, suspect_at);
        let Some(attempt) = self.attempts.get_mut(&token).filter(|_| counts) else { return };
        match extended_at {
            None => attempt.voters |= 1 << master,
            // Votes arrive in the order in which the requests were sent.
            Some(at) => attempt.agreed_at[client][master] = at,
        }
    }

    /// Checks a command, other than `SET … NX`, that touched an existing key.
    pub(crate) fn compared(
        &mut self,
        now: u64,
        client: usize,
        names_old: bool,
        old: Option<Token>,
        new: Option<Token>,
    ) {
        self.is_touched = true;
        if old == new || (new.is_none() && names_old) {
            return;
        }
        match (old, new) {
            (None, Some(token)) => {
                self.fail(now, format_args!("S7: client {client} created {token} anew"));
            }
            (Some(token), None) => {
                self.fail(now, format_args!("S5: client {client} deleted {token} for another"));
            }
            _ => self.fail(now, format_args!("S4: client {client} replaced {old:?} by {new:?}")),
        }
    }

    /// Records that a client believes in a lock until `valid_until`. Returns the time at which the
    /// attempt was sent.
    pub(crate) fn granted(&mut self, now: u64, token: Token, valid_until: Instant) -> Instant {
        self.is_touched = true;
        let Some(attempt) = self.attempts.get_mut(&token) else {
            self.fail(now, format_args!("S3: {token} was granted and no master was asked"));
            return Instant::ZERO;
        };
        attempt.was_granted = true;
        let Attempt { sent_at, ttl, voters, .. } = *attempt;
        let votes = voters.count_ones() as usize;
        if votes < self.rules.quorum {
            let need = self.rules.quorum;
            self.fail(now, format_args!("S3: {token} was granted with {votes} of {need} votes"));
        }
        self.lasts(now, token, valid_until, sent_at, ttl);
        sent_at
    }

    /// Records that a client learned of a granted extension, wanted since `started`, or of a lock
    /// that the client began to adopt then. Returns the time at which the last necessary request
    /// was sent.
    pub(crate) fn extended(
        &mut self,
        now: u64,
        client: usize,
        token: Token,
        started: Instant,
    ) -> Instant {
        self.is_touched = true;
        let agreed_at = self.attempts.get(&token).map(|attempt| attempt.agreed_at[client]);
        let agreed = agreed_at.into_iter().flatten().filter(|at| *at >= started);
        let mut agreed: SmallVec<[Instant; MASTERS_MAX]> = agreed.collect();
        let (votes, need) = (agreed.len(), self.rules.quorum);
        if votes < need {
            self.fail(now, format_args!("S7: {token} was extended with {votes} of {need} votes"));
        }
        agreed.sort_unstable_by(|a, b| b.cmp(a));
        agreed.get(need - 1).copied().unwrap_or(started)
    }

    /// Checks that a validity from `start` does not reach beyond `start + ttl − drift`.
    pub(crate) fn lasts(
        &mut self,
        now: u64,
        token: Token,
        valid_until: Instant,
        start: Instant,
        ttl: Duration,
    ) {
        let most = start + ttl.saturating_sub(drift(self.rules.drift, ttl));
        if valid_until > most {
            let over = valid_until - most;
            self.fail(now, format_args!("S2: {token} is valid for {over:?} too long"));
        }
    }

    /// Checks that no two clients believe in the same resource. A client whose clock has stood
    /// still does not count until a majority of the masters has told.
    pub(crate) fn exclusion(&mut self, true_now: u64, clients: &[Client]) {
        if !self.rules.excludes {
            return;
        }
        // Most often nobody has what another has, and then nobody needs to know who.
        let (mut held, mut is_shared) = ([0; 2], false);
        for client in clients {
            let held = &mut held[usize::from(client.prefix.is_empty())];
            for lock in client.believed(client.clock(true_now)) {
                is_shared |= *held & lock.resources.0 != 0;
                *held |= lock.resources.0;
            }
        }
        if is_shared {
            self.name_holders(true_now, clients);
        }
    }

    /// Says which two clients believe in the same resource.
    #[cold]
    fn name_holders(&mut self, true_now: u64, clients: &[Client]) {
        let mut holders = [[None; names::COUNT]; 2];
        for client in clients {
            let now = client.clock(true_now);
            for lock in client.believed(now) {
                for resource in lock.resources.iter() {
                    let holder = &mut holders[usize::from(client.prefix.is_empty())][resource];
                    let other: Option<(usize, LockId)> = holder.replace((client.name, lock.id));
                    if let Some(other) = other {
                        let both = (other, (client.name, lock.id));
                        self.fail(true_now, format_args!("two holders of {resource}: {both:?}"));
                    }
                }
            }
        }
    }

    /// Checks that the memory of a client is bounded by the configuration.
    pub(crate) fn memory(&mut self, now: u64, client: &Client) {
        let (redlock, at, name) = (&client.redlock, client.clock(now), client.name);
        let RedlockConfig { max_locks, max_pipeline, max_cleanup, .. } = *redlock.config();
        if redlock.in_use() > max_locks {
            self.fail(now, format_args!("client {name} has more than {max_locks} locks"));
        }
        for status in redlock.nodes().into_iter().filter_map(|node| redlock.node(at, node)) {
            // A `SET` and its release; a release per lock; the extensions; the looks for tokens;
            // the handshake.
            let most = 3 * max_pipeline + 2 * max_locks + GROUP + 20;
            if status.in_flight > most {
                let waits = status.in_flight;
                self.fail(now, format_args!("client {name} waits for {waits} replies of a node"));
            }
            // Tokens that the client is just looking for cannot make room for one more.
            if status.cleanup > max_cleanup.max(GROUP + 1) {
                let tokens = status.cleanup;
                self.fail(now, format_args!("S6: client {name} looks for {tokens} tokens"));
            }
        }
    }

    /// Checks that each lock in which a client believes stands on a majority: these masters have
    /// the key, or have forgotten the key and may not vote for another before the lock ends.
    pub(crate) fn standing(&mut self, true_now: u64, nodes: &[Node], clients: &[Client]) {
        if !self.rules.excludes || !core::mem::take(&mut self.is_touched) {
            return;
        }
        for client in clients {
            let now = client.clock(true_now);
            for lock in client.believed(now) {
                let holds = |node: &Node, resource: usize| {
                    node.holds(true_now, names::key(client.prefix, resource), &lock.token)
                };
                let stands = |node: &&Node| {
                    lock.resources.iter().all(|resource| holds(node, resource))
                        || true_now < node.forgot_at + self.rules.max_ttl
                };
                let (votes, all) = (nodes.iter().filter(stands).count(), nodes.len());
                if 2 * votes <= all {
                    let id = lock.id;
                    let what = format!("{id:?} is believed and stands on {votes} of {all}");
                    return self.fail(true_now, format_args!("{what}"));
                }
            }
        }
    }
}

/// The formula of SAFETY.md written once more, not the one under test.
fn drift(drift: Drift, ttl: Duration) -> Duration {
    let Drift { rate_ppm, step, .. } = drift;
    ttl * rate_ppm / 500_000 + step + Duration::from_millis(2)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
