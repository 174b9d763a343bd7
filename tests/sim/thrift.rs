//! How often clients may ask: bounds on the requests for a lock, which follow from the settings.
//!
//! **Attempts.** Between the end of an attempt and the beginning of the next one lies a pause of at
//! least a quarter of a range. The range begins with 200 µs or four round trips, and doubles up to
//! `retry_max` or 16 round trips, whichever is longer. So a request that has lasted for a time `t`
//! has made at most as many attempts as such pauses fit into `t`, and two more: the first, and a
//! last one whose pause was cut short. A round trip is at least half a latency, because an estimate
//! begins with the shorter one of a connect and a round trip. Without a quorum of connections there
//! is no estimate, and the pause can be as short as 50 µs; then a connection must come up before
//! the next attempt, so each connection allows for one more. An adoption that goes first ends an
//! attempt without a pause.
//!
//! A request that waits for longer than one round of all who contend makes pauses down to a
//! twentieth: `retry_max` counts as a twentieth here.
//!
//! **Looks** at the door, and what follows them, come behind pauses of up to `retry_max` or four
//! round trips. A look goes to one node. An attempt that follows a look at once has no pause of its
//! own. A push about a lock wakes each request of the client that listens for the key, and its
//! pauses begin with the shortest range again; the end of a connection, and a push about all keys,
//! wake those that listen there.
//!
//! **Steps.** A set that has waited for long takes its resources one by one, each by a request of
//! its own that makes the same pauses. Steps end, and begin again after twice the time, from
//! [`LEAST_PATIENCE`] on. Each resource is asked for in its turn, so all requests for one of them
//! last together no longer than the set waits.
//!
//! One attempt is one request on each node: rule S1 is checked apart. Nothing but a request for a
//! lock, or for a set with the resource, makes attempts. So the attempts of a client on equal
//! resources are at most the sum over these requests.
//!
//! **Releases.** A token is released once on a node, and once more if the vote comes late. Where
//! the answer stays unknown, the cleanup looks for the token at intervals that double from 50 ms,
//! until the ttl has passed, and once for each connection. Each of these can be sent in another
//! form, twice at most.
//!
//! **Everything else about a token** is a `SET`, repairs, extensions and renewals: as many as the
//! caller asks for, one repair for each of them and each node, and one for each 4.5 ms at most.

use std::time::Duration;

use redbolt::redlock::{RedlockConfig, Token};

use crate::checks::Checks;
use crate::clock::MS;
use crate::master::MASTERS_MAX;
use crate::names::Resources;
use crate::world::CLIENTS_MAX;

/// The shortest pause that a function of the caller can choose.
const LEAST_DELAY: u64 = 100_000;

/// The shortest first range.
const LEAST_RANGE: u64 = 200_000;

/// The shortest time between two renewals, or repairs, that nobody has asked for.
const LEAST_CARE: u64 = 4 * MS;

/// The shortest time for which a set waits before its first steps.
const LEAST_PATIENCE: Duration = Duration::from_millis(100);

/// The most pauses between the shortest range and the longest one, which begin again behind a push,
/// and the most requests of a client that listen for keys of one master.
const WOKEN: u64 = 32;

/// The most forms in which one request is sent: as it is, with the text of a script, key by key.
const FORMS: u64 = 3;

/// The pauses between the attempts of one request.
#[derive(Clone, Copy)]
pub(crate) struct Pauses {
    /// The least first range, and the least caps behind an attempt and behind a look, in
    /// nanoseconds.
    first: u64,
    cap: u64,
    cap_of_looks: u64,
    /// The most attempts.
    tries: u64,
}

/// The requests of all clients.
pub(crate) struct Thrift {
    accounts: [Account; CLIENTS_MAX],
    /// How many requests masters have executed, of all clients, looks at their data aside. With a
    /// short span there are more of those than of all others.
    pub(crate) executed: u64,
}

/// The requests of one client, and of those that were in its place before.
#[derive(Default)]
struct Account {
    attempts: Vec<(Resources, Attempts)>,
    /// Whether the client has asked for several resources at once.
    has_sets: bool,
    /// Looks at the door, for whatever resource.
    looks: u64,
    looks_allowed: u64,
    /// How many connections there were, and adoptions.
    spares: u64,
    /// By slot: how many connections there were.
    connections: [u32; MASTERS_MAX],
}

/// The attempts on some resources.
#[derive(Clone, Copy, Default)]
struct Attempts {
    made: u64,
    allowed: u64,
}

/// By client and slot: how often a token was released, and how often anything else was asked.
#[derive(Clone, Copy, Default)]
pub(crate) struct Uses {
    counts: [[[u16; 2]; MASTERS_MAX]; CLIENTS_MAX],
}

/// What a request that names a token does with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Release,
    Other,
}

impl Pauses {
    /// The pauses that the core chooses, where no round trip is shorter than `round_trip`.
    pub(crate) fn of(config: &RedlockConfig, round_trip: u64) -> Self {
        let retry_max = config.retry_max.as_nanos() as u64;
        let first = (4 * round_trip).max(LEAST_RANGE);
        let [cap, cap_of_looks] = [16, 4].map(|trips| (trips * round_trip).max(retry_max / 20));
        Self { first, cap, cap_of_looks, tries: u64::MAX }
    }

    /// Pauses of at least `least`, and so many tries.
    pub(crate) fn chosen(least: u64, tries: u64) -> Self {
        let range = 4 * least.max(LEAST_DELAY);
        Self { first: range, cap: range, cap_of_looks: range, tries }
    }

    pub(crate) fn one_try() -> Self {
        Self::chosen(0, 1)
    }

    /// Returns how many attempts can be made within `time`.
    pub(crate) fn within(self, time: Duration) -> u64 {
        self.count(time, self.cap)
    }

    /// Returns how many looks at the door can be made within `time`.
    fn looks_within(self, time: Duration) -> u64 {
        self.count(time, self.cap_of_looks)
    }

    fn count(self, time: Duration, cap: u64) -> u64 {
        let mut left = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (mut range, mut attempts) = (self.first.min(cap), 2);
        while left >= range / 4 && attempts < self.tries {
            if range == cap {
                attempts += left / (range / 4);
                break;
            }
            left -= range / 4;
            attempts += 1;
            range = (2 * range).min(cap);
        }
        attempts.min(self.tries)
    }
}

impl Thrift {
    pub(crate) fn new() -> Self {
        Self { accounts: Default::default(), executed: 0 }
    }

    /// Records that a client has opened a connection.
    pub(crate) fn connected(&mut self, client: usize, slot: usize) {
        self.accounts[client].spares += 1;
        self.accounts[client].connections[slot] += 1;
    }

    /// Records that a master tells a client that it may have a lock, or that all keys may be gone.
    pub(crate) fn told(&mut self, client: usize) {
        self.accounts[client].spares += WOKEN;
    }

    /// Records that a master has executed the first request of an attempt.
    pub(crate) fn attempted(&mut self, client: usize, resources: Resources) {
        let account = &mut self.accounts[client];
        account.of(resources).made += 1;
        account.has_sets |= resources.is_set();
    }

    /// Records that a master executes this request, if it is a look at the door.
    pub(crate) fn looked(&mut self, client: usize, words: &[&[u8]]) {
        self.accounts[client].looks += u64::from(matches!(words, [b"GETRANGE", ..]));
    }

    /// Returns whether a client has made attempts on several resources at once.
    pub(crate) fn has_sets(&self, client: usize) -> bool {
        self.accounts[client].has_sets
    }

    /// Returns how many attempts a client has made on some resources.
    pub(crate) fn made(&mut self, client: usize, resources: Resources) -> u64 {
        self.accounts[client].of(resources).made
    }

    /// Records that a request has ended after `time`.
    pub(crate) fn ended(
        &mut self,
        client: usize,
        resources: Resources,
        pauses: Pauses,
        time: Duration,
    ) {
        let account = &mut self.accounts[client];
        account.of(resources).allowed += pauses.within(time);
        account.looks_allowed += pauses.looks_within(time);
        if time >= LEAST_PATIENCE && resources.is_set() {
            // The first request for a resource makes two attempts more than pauses fit, and so does
            // each that begins again.
            let rounds = (time.as_nanos() / LEAST_PATIENCE.as_nanos()).ilog2();
            let spare = 2 * u64::from(rounds);
            for resource in resources.iter() {
                account.of(Resources::one(resource)).allowed += pauses.within(time) + spare;
                account.looks_allowed += pauses.looks_within(time) + spare;
            }
        }
    }
}

impl Account {
    fn of(&mut self, resources: Resources) -> &mut Attempts {
        let place = self.attempts.iter().position(|(other, _)| *other == resources);
        let place = place.unwrap_or_else(|| {
            self.attempts.push((resources, Attempts::default()));
            self.attempts.len() - 1
        });
        &mut self.attempts[place].1
    }
}

impl Checks {
    /// Records that a client has asked to adopt a lock, in so many attempts.
    pub(crate) fn adopts(&mut self, client: usize, token: &Token, attempts: u64) {
        self.thrift.accounts[client].spares += 1;
        self.extends(client, token, attempts);
    }

    /// Records that a client has asked for extensions of a lock.
    pub(crate) fn extends(&mut self, client: usize, token: &Token, count: u64) {
        if let Some(attempt) = self.attempts.get_mut(token) {
            attempt.extensions[client] += count;
        }
    }

    /// Checks that no client made more attempts than its requests could need, once all have ended.
    pub(crate) fn thrift(&mut self, now: u64) {
        for (client, account) in self.thrift.accounts.iter().enumerate() {
            let (looks, most) = (account.looks, account.looks_allowed + account.spares);
            if looks > most {
                let what = format!("{looks} looks at the door, of {most}");
                return self.fail(now, format_args!("thrift: client {client} made {what}"));
            }
            for (resources, Attempts { made, allowed }) in &account.attempts {
                let most = allowed + account.spares;
                if *made > most {
                    let what = format!("{made} attempts on {resources:?}, of {most}");
                    return self.fail(now, format_args!("thrift: client {client} made {what}"));
                }
            }
        }
    }

    /// Checks that a client does not ask a node about a token more often than it can need to.
    pub(crate) fn used(
        &mut self,
        now: u64,
        (client, slot): (usize, usize),
        token: &Token,
        what: Use,
    ) {
        let most_masters = MASTERS_MAX as u64;
        let connections = u64::from(self.thrift.accounts[client].connections[slot]);
        let max_ttl = self.rules.max_ttl;
        let Some(attempt) = self.attempts.get_mut(token) else { return };
        let count = &mut attempt.uses.counts[client][slot][usize::from(what == Use::Other)];
        *count = count.saturating_add(1);
        let count = u64::from(*count);
        let most = match what {
            // Three entries of the cleanup list: the lost `SET`, the release and the late one.
            Use::Release => {
                let looks = 2 + u64::from((max_ttl / (20 * MS)).max(2).ilog2());
                FORMS * (3 + 3 * (looks + connections))
            }
            Use::Other => {
                let asked = attempt.extensions[client];
                let care = 2 * ((now - attempt.seen_at) / LEAST_CARE);
                FORMS * ((1 + asked) * (1 + most_masters) + 2 + care + connections)
            }
        };
        if count > most {
            let kind = if what == Use::Release { "releases" } else { "requests" };
            let what = format!("{count} {kind} of {token} on node {slot}, of {most}");
            self.fail(now, format_args!("thrift: client {client} made {what}"));
        }
    }
}
