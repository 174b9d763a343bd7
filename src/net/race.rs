//! Connecting to a host that has several addresses: to one after the other, until one is up.
//!
//! A name such as `localhost` may stand for addresses at which nobody listens, or which cannot be
//! reached from here. An address that fails is followed by the next one at once, and one that says
//! nothing by the next one a moment later, while the attempts before go on (as RFC 8305 has it).

use core::time::Duration;
use std::vec::IntoIter;

use mio::{Registry, Token};
use smallvec::SmallVec;

use super::connection::Connection;
use super::transport::Target;
use crate::redlock::NodeError;
use crate::time::Instant;

/// The most addresses of a name that are tried.
pub(super) const MAX_ADDRESSES: usize = 16;

/// The time without an answer after which the next address is tried as well: the value that RFC
/// 8305 recommends.
const PATIENCE: Duration = Duration::from_millis(250);

/// The attempts to connect to one node. The first that comes up ends the others.
pub(super) struct Race {
    left: IntoIter<Target>,
    running: SmallVec<[Connection; 1]>,
    /// The time at which the next address is tried, whatever the others do.
    next_at: Instant,
    patience: Duration,
    /// Why the first attempt that failed did: the system has put the best address first.
    failure: Option<NodeError>,
}

/// What has come of the attempts so far.
pub(super) enum Progress {
    Up(Connection),
    Pending,
    /// No address is left, or there was none.
    Failed(NodeError),
}

impl Race {
    /// Creates a race between these addresses, which may take as long as `within`. Nothing happens
    /// before the first [`go_on`](Self::go_on).
    pub(super) fn new(mut targets: Vec<Target>, within: Duration) -> Self {
        targets.truncate(MAX_ADDRESSES);
        // All addresses have their turn before the end.
        let share = within / u32::try_from(targets.len().max(1)).unwrap_or(u32::MAX);
        Self {
            left: targets.into_iter(),
            running: SmallVec::new(),
            next_at: Instant::ZERO,
            patience: PATIENCE.min(share),
            failure: None,
        }
    }

    /// Returns when to call [`go_on`](Self::go_on), if no event comes before.
    pub(super) fn next_at(&self) -> Instant {
        if self.left.as_slice().is_empty() { Instant::FAR_FUTURE } else { self.next_at }
    }

    /// Looks at all attempts, and tries the next addresses if their time has come. All sockets have
    /// the same token.
    pub(super) fn go_on(&mut self, now: Instant, registry: &Registry, token: Token) -> Progress {
        let mut index = 0;
        while let Some(connection) = self.running.get_mut(index) {
            match connection.is_connected() {
                Ok(true) => {
                    let winner = self.running.swap_remove(index);
                    self.end(registry);
                    return Progress::Up(winner);
                }
                Ok(false) => index += 1,
                Err(error) => {
                    self.running.swap_remove(index).close(registry);
                    self.failed(error);
                }
            }
        }
        while self.running.is_empty() || now >= self.next_at {
            let Some(target) = self.left.next() else { break };
            match Connection::open(&target, registry, token) {
                Ok(connection) => {
                    self.running.push(connection);
                    self.next_at = now + self.patience;
                }
                Err(error) => self.failed(error),
            }
        }
        if !self.running.is_empty() {
            return Progress::Pending;
        }
        Progress::Failed(self.failure.unwrap_or(NodeError::NameNotResolved))
    }

    /// Notes a failure. The next address need not wait.
    fn failed(&mut self, error: NodeError) {
        self.failure.get_or_insert(error);
        self.next_at = Instant::ZERO;
    }

    /// Ends all attempts.
    pub(super) fn end(&mut self, registry: &Registry) {
        self.running.drain(..).for_each(|connection| connection.close(registry));
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::{SocketAddr, TcpListener, TcpStream};

    use mio::{Events, Poll};

    use super::*;
    use crate::net::clock::Clock;

    const TOKEN: Token = Token(0);
    const LONG: Duration = Duration::from_secs(60);

    fn listener() -> (TcpListener, Target) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        (listener, Target::Tcp(address))
    }

    /// An address at which nobody listens.
    fn dead() -> Target {
        listener().1
    }

    /// An address at which nobody answers, as long as the sockets are there: the queue of its
    /// listener is full.
    fn mute() -> (Target, TcpListener, TcpStream) {
        let (listener, target) = listener();
        rustix::net::listen(&listener, 0).expect("a shorter queue");
        let Target::Tcp(address) = &target else { panic!("an address") };
        let stream = TcpStream::connect(address).expect("the queue has one place");
        (target, listener, stream)
    }

    /// Goes on at each event, at this time, until the race is decided.
    fn decide(race: &mut Race, poll: &mut Poll, now: Instant) -> Progress {
        let mut events = Events::with_capacity(MAX_ADDRESSES);
        loop {
            match race.go_on(now, poll.registry(), TOKEN) {
                Progress::Pending => {}
                progress => return progress,
            }
            poll.poll(&mut events, Some(LONG)).expect("a poll");
            assert!(!events.is_empty(), "nothing happens");
        }
    }

    fn is_up(progress: &Progress) -> bool {
        matches!(progress, Progress::Up(_))
    }

    #[test]
    fn an_address_at_which_nobody_listens_is_followed_by_the_next_at_once() {
        let (listener, alive) = listener();
        let mut poll = Poll::new().expect("a poll");
        let mut race = Race::new(vec![dead(), dead(), alive], LONG);
        // The time stands still.
        assert!(is_up(&decide(&mut race, &mut poll, Clock::now())));
        listener.accept().expect("a connection");
    }

    #[test]
    fn an_address_that_says_nothing_does_not_hold_up_the_next_for_long() {
        let (listener, alive) = listener();
        let (mute, _listener, _stream) = mute();
        let mut poll = Poll::new().expect("a poll");
        let mut race = Race::new(vec![mute, alive], LONG);
        let begin = Clock::now();
        assert!(matches!(race.go_on(begin, poll.registry(), TOKEN), Progress::Pending));
        let due = race.next_at();
        assert_eq!(due, begin + PATIENCE);
        let before = begin + (PATIENCE - Duration::from_nanos(1));
        assert!(matches!(race.go_on(before, poll.registry(), TOKEN), Progress::Pending));
        assert_eq!(race.running.len(), 1);
        assert!(is_up(&decide(&mut race, &mut poll, due)));
        assert_eq!((race.running.len(), race.next_at()), (0, Instant::FAR_FUTURE));
        listener.accept().expect("a connection");
    }

    #[test]
    fn a_race_without_a_winner_tells_why_the_best_address_failed() {
        let mut poll = Poll::new().expect("a poll");
        let nowhere = || Target::Tcp(SocketAddr::from(([0; 8], 0)));
        let refused = NodeError::Connect(ErrorKind::ConnectionRefused);
        for (targets, expected) in
            [(vec![dead(), nowhere()], refused), (Vec::new(), NodeError::NameNotResolved)]
        {
            let Progress::Failed(error) =
                decide(&mut Race::new(targets, LONG), &mut poll, Clock::now())
            else {
                panic!("nobody listens")
            };
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn all_addresses_have_their_turn_before_the_end() {
        let second = Duration::from_secs(1);
        for (count, patience) in [(1, 250), (2, 250), (4, 250), (5, 200), (10, 100), (99, 62)] {
            let race = Race::new(vec![dead(); count], second);
            assert_eq!(race.patience.as_millis(), patience, "{count} addresses");
            assert_eq!(race.left.len(), count.min(MAX_ADDRESSES));
        }
    }
}
