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
