//! Locks that go to the next in line of the same client, without a word to the masters.

use redbolt::redlock::{LockId, Token};
use redbolt::time::Instant;

use crate::book::{Lock, State};
use crate::client::Client;
use crate::names::Resources;
use crate::net::Net;

/// A lock that its holder has released, and the next in line is about to have.
pub(crate) struct Passed {
    resources: Resources,
    token: Token,
    valid_until: Instant,
    since: Instant,
}

impl Client {
    /// Takes note that a lock goes to the next in line as it is.
    pub(crate) fn passed_on(&mut self, net: &mut Net, id: LockId) {
        let Some(lock) = self.known(net, id, State::Releasing) else { return };
        let Lock { resources, token, since, .. } = *lock;
        let (is_token_known, has_number) = (lock.is_token_known, lock.number.is_known());
        self.passed = Some(Passed { resources, token, valid_until: lock.released_until, since });
        if is_token_known || has_number {
            net.fail(format_args!("{id:?} was passed on, and others know its token or its number"));
        }
    }

    /// Returns whether a lock can have gone to a step of a set, and not to the lock `id`, which is
    /// acquired next. Nobody is told of steps.
    pub(crate) fn is_with_a_step(&self, passed: &Passed, id: LockId) -> bool {
        let acquired = self.locks.iter().find(|lock| lock.id == id);
        let mut wanted = self.locks.iter().filter(|lock| lock.state == State::Wanted);
        acquired.is_some_and(|lock| lock.resources != passed.resources)
            && wanted.any(|set| passed.resources.is_part_of(set.resources))
    }
}

/// Checks that a lock which was passed on is the same lock, and is believed for no longer than its
/// former owner could. Returns the beginning of its validity.
pub(crate) fn received(
    net: &mut Net,
    lock: &Lock,
    passed: Option<Passed>,
    token: Token,
    valid_until: Instant,
) -> Instant {
    let Some(passed) = passed else { return Instant::ZERO };
    let id = lock.id;
    if passed.token != token || passed.resources != lock.resources {
        net.fail(format_args!("{id:?} was passed on as another lock"));
    }
    if valid_until > passed.valid_until {
        net.fail(format_args!("{id:?} was passed on with more than a majority has confirmed"));
    }
    passed.since
}
