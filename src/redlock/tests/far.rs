//! Nodes that are far away: how long they are waited for, and what is said when that is not enough.

use super::*;

/// A machine whose nodes answer each after a round trip of its own, in milliseconds.
struct Far {
    rig: Rig,
    round_trips: Vec<u64>,
    /// The nodes that have no key for a compare.
    lacking: Vec<usize>,
    /// Requests on their way: when the reply comes, from which node, and the reply.
    owed: Vec<(Instant, usize, String)>,
}

impl Far {
    /// Connects to nodes with these round trips, whose connections take as long to come up.
    fn new(round_trips: &[u64]) -> Self {
        Self::with(round_trips, round_trips, |_| ())
    }

    /// Connects to nodes whose connections come up after `connects`.
    fn with(round_trips: &[u64], connects: &[u64], change: fn(&mut RedlockConfig)) -> Self {
        let mut rig = Rig::unconnected(round_trips.len(), change);
        // Nodes that are nearer are there earlier.
        let mut order: Vec<_> = (0..round_trips.len()).collect();
        order.sort_unstable_by_key(|index| connects[*index]);
        let start = rig.now;
        for index in order {
            rig.now = (start + ms(connects[index])).max(rig.now);
            rig.open(index);
            // The handshake takes a round trip; those of the others have not begun.
            let sent = rig.now;
            rig.transmit(index);
            rig.now = sent + ms(round_trips[index]);
            rig.shake_hands(index);
        }
        rig.events();
        Self { rig, round_trips: round_trips.to_vec(), lacking: Vec::new(), owed: Vec::new() }
    }

    /// Lets time pass until the machine has an event about a lock, while all nodes answer that are
    /// not `silent`. Free keys are granted. Returns the event, and how long it took.
    fn next(&mut self, silent: &[usize]) -> (Event, Duration) {
        let start = self.rig.now;
        for _ in 0..10_000 {
            if let Some(event) = self.rig.events().pop() {
                return (event, self.rig.now - start);
            }
            for (index, round_trip) in self.round_trips.iter().enumerate() {
                for command in self.rig.sent(index) {
                    let reply = match () {
                        () if command.starts_with("SET") => "+OK".to_owned(),
                        // The clock of each node is another one.
                        () if command.starts_with("EVALSHA acquire-fenced") => {
                            format!(":{}", micros(self.rig.now) + index as u64)
                        }
                        () if self.lacking.contains(&index) => ":0".to_owned(),
                        () => ":1".to_owned(),
                    };
                    if !silent.contains(&index) {
                        self.owed.push((self.rig.now + ms(*round_trip), index, reply));
                    }
                }
            }
            self.owed.sort_by_key(|(at, ..)| *at);
            let due = self.rig.redlock.poll_timeout().map(|(at, _)| at);
            let reply = self.owed.first().map(|(at, ..)| *at);
            let at = due.into_iter().chain(reply).min().expect("something is to come");
            if reply == Some(at) {
                let (at, index, reply) = self.owed.remove(0);
                self.rig.now = at.max(self.rig.now);
                self.rig.reply(index, &reply);
            } else {
                self.rig.advance(at - self.rig.now);
            }
        }
        panic!("nothing happens");
    }

    /// Acquires and releases a lock. Returns how long the first took.
    fn cycle(&mut self, ttl: Duration) -> Duration {
        let lock = self.rig.redlock.acquire(self.rig.now, b"r", ttl, NO_WAIT).expect("in bounds");
        let (event, took) = self.next(&[]);
        assert!(matches!(event, Event::Acquired { .. }), "{event:?}");
        self.rig.redlock.release(self.rig.now, lock).expect("it is held");
        let (event, _) = self.next(&[]);
        assert!(matches!(event, Event::Released { .. }), "{event:?}");
        took
    }
}

/// The first attempt of a new client, and all later ones.
#[test]
fn far_nodes_grant_a_lock_in_one_round_trip_to_the_third_fastest() {
    let rows: [(&[u64], u64); 8] = [
        (&[30, 30, 30], 30),
        (&[60, 60, 60], 60),
        (&[150, 150, 150, 150, 150], 150),
        (&[300, 300, 300, 300, 300], 300),
        (&[1, 1, 1, 1, 300], 1),
        (&[1, 60, 150, 150, 300], 150),
        (&[300, 1, 1, 60, 300], 60),
        (&[300, 300, 1], 300),
    ];
    for (round_trips, expected) in rows {
        let mut far = Far::new(round_trips);
        for _ in 0..5 {
            assert_eq!(far.cycle(TTL), ms(expected), "{round_trips:?}");
        }
    }
}

/// The hedge follows the distance, as the patience does.
#[test]
fn far_nodes_of_a_majority_are_waited_for_before_others_are_asked() {
    for round_trips in [[26; 5], [60; 5], [150; 5]] {
        let mut far = Far::with(&round_trips, &round_trips, |config| config.ask = Ask::Majority);
        for _ in 0..10 {
            assert_eq!(far.cycle(TTL), ms(round_trips[0]));
        }
        assert_eq!(far.rig.redlock.counters().widened, 0, "{round_trips:?}");
    }
}

/// Nobody gives a node the key that it lacks, before the lock has an owner again.
#[test]
fn an_adoption_waits_for_the_far_nodes_that_have_the_token_where_near_ones_lack_it() {
    let rows: [(&[u64], &[usize], u64); 4] = [
        (&[1, 1, 1, 60, 60], &[], 1),
        (&[1, 1, 1, 60, 60], &[0], 60),
        (&[1, 1, 1, 60, 150], &[0, 1], 150),
        (&[16, 16, 16, 16, 60, 60, 150], &[0, 5], 60),
    ];
    for (round_trips, lacking, expected) in rows {
        let mut far = Far::new(round_trips);
        far.lacking = lacking.to_vec();
        let token = Token::from_bytes([7; 20]);
        far.rig.redlock.adopt(far.rig.now, &["r"], token, TTL, NO_WAIT).expect("in bounds");
        let (event, took) = far.next(&[]);
        assert!(matches!(event, Event::Acquired { .. }), "{round_trips:?} {lacking:?}: {event:?}");
        assert_eq!(took, ms(expected), "{round_trips:?} {lacking:?}");
    }
}

/// A proxy, a tunnel or a mesh takes the connection at once, and its other end is far away.
#[test]
fn a_connection_that_a_proxy_took_does_not_make_a_far_node_near() {
    for round_trip in [60, 150, 300] {
        let mut far = Far::with(&[round_trip; 3], &[0; 3], |_| ());
        assert_eq!(far.cycle(TTL), ms(round_trip));
    }
}

#[test]
fn a_ttl_that_is_too_short_for_far_nodes_is_said_to_be() {
    let rows: [(u64, u64, u64); 3] = [(100, 60, 25), (1_000, 300, 250), (10, 60, 3)];
    for (ttl, round_trip, limit) in rows {
        let mut far = Far::new(&[round_trip; 3]);
        far.rig.redlock.acquire(far.rig.now, b"r", ms(ttl), NO_WAIT).expect("in bounds");
        let (Event::AcquireFailed { error, .. }, took) = far.next(&[]) else {
            panic!("a lock with a ttl of {ttl} ms");
        };
        assert_eq!(took.as_millis(), u128::from(limit));
        let expected = format!(
            "the nodes are too far away for this ttl: a quorum of them answers after \
             {round_trip}ms, and an attempt waits for {}ms at most (0: no reply in time, ",
            if ttl == 10 { 4 } else { limit },
        );
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(matches!(error, AcquireError::TooFar { .. }));
    }
}

/// Nodes whose clocks are far apart draw different numbers, and are asked twice.
#[test]
fn a_ttl_that_is_too_short_for_a_second_trip_is_said_to_be() {
    let mut far = Far::with(&[60; 3], &[60; 3], |config| config.node_timeout = Some(ms(90)));
    let mut ask = |ttl| {
        let options = AcquireOptions::new().fenced();
        let Rig { redlock, now, .. } = &mut far.rig;
        redlock.acquire_with(*now, &["r"], ms(ttl), NO_WAIT, &options).expect("in bounds");
        far.next(&[])
    };
    let (event, took) = ask(200);
    let Event::AcquireFailed { error, .. } = event else { panic!("{event:?}") };
    assert_eq!(took, ms(98));
    let expected = "the nodes are too far away for this ttl: a quorum of them answers after 120ms, \
                    and an attempt waits for 98ms at most (0: granted, ";
    assert!(error.to_string().starts_with(expected), "{error}");
    let (event, took) = ask(300);
    assert!(matches!(event, Event::Acquired { fence: Some(_), .. }), "{event:?}");
    assert_eq!(took, ms(120));
}

/// An extension may ask for a shorter ttl than the lock had.
#[test]
fn an_extension_by_a_ttl_that_is_too_short_for_far_nodes_is_said_to_be() {
    let mut far = Far::new(&[60; 3]);
    let lock = far.rig.redlock.acquire(far.rig.now, b"r", TTL, NO_WAIT).expect("in bounds");
    assert!(matches!(far.next(&[]).0, Event::Acquired { .. }));
    far.rig.redlock.extend(far.rig.now, lock, ms(100)).expect("it is held");
    let (Event::ExtendFailed { error, .. }, took) = far.next(&[]) else {
        panic!("an extension by 100 ms")
    };
    assert_eq!(took, ms(25));
    let expected = "the nodes are too far away for this ttl: a quorum of them answers after 60ms, \
                    and an extension waits for 25ms at most (0: no reply in time, ";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert!(matches!(error, ExtendError::TooFar { .. }));
    // The cause of a node that hangs is another.
    far.rig.redlock.extend(far.rig.now, lock, TTL).expect("it is held");
    let (event, _) = far.next(&[0, 1]);
    assert!(matches!(event, Event::ExtendFailed { error: ExtendError::NoQuorum(_), .. }));
}

/// Somebody elsewhere who was refused comes back within four round trips.
#[test]
fn a_resource_is_left_to_others_for_some_round_trips_of_far_nodes() {
    let rows = [(1, 25, 50), (60, 120, 240), (300, 600, 1_200)];
    for (round_trip, least, most) in rows {
        let mut far = Far::new(&[round_trip; 3]);
        // The first locks show how far away the nodes are.
        for _ in 0..3 {
            far.cycle(TTL);
        }
        let first = far.rig.redlock.acquire(far.rig.now, b"r", TTL, TTL).expect("in bounds");
        assert!(matches!(far.next(&[]).0, Event::Acquired { .. }));
        let next = far.rig.redlock.acquire(far.rig.now, b"r", TTL, TTL).expect("in bounds");
        far.rig.advance(ms(2_000));
        far.rig.redlock.release(far.rig.now, first).expect("it is held");
        assert!(matches!(far.next(&[]).0, Event::Released { .. }));
        let (event, took) = far.next(&[]);
        assert!(matches!(event, Event::Acquired { lock, .. } if lock == next), "{event:?}");
        // The pause began with the release, whose answer took a round trip as well.
        assert!(took >= ms(least) && took <= ms(most), "{round_trip}: {took:?}");
    }
}

#[test]
fn near_nodes_that_hang_are_waited_for_no_longer_than_before() {
    let mut far = Far::new(&[1, 1, 1, 1, 300]);
    far.cycle(TTL);
    far.rig.acquire("r", NO_WAIT);
    let (event, took) = far.next(&[0, 1]);
    // The far node would make the quorum, and a retry would need it as well.
    assert!(matches!(event, Event::Acquired { .. }), "{event:?}");
    assert_eq!(took, ms(300));
    let mut far = Far::new(&[1, 1, 1, 1, 300]);
    far.cycle(TTL);
    far.rig.acquire("r", NO_WAIT);
    let (event, took) = far.next(&[0, 1, 2]);
    assert!(matches!(event, Event::AcquireFailed { error: AcquireError::NoQuorum(_), .. }));
    assert_eq!(took, ms(50));
}

/// After a refusal the others are not waited for: a retry finds the near nodes free.
#[test]
fn votes_that_are_split_among_near_nodes_do_not_wait_for_a_far_one() {
    let mut far = Far::new(&[1, 1, 1, 1, 300]);
    far.cycle(TTL);
    let rig = &mut far.rig;
    rig.acquire("r", NO_WAIT);
    (0..5).for_each(|index| drop(rig.sent(index)));
    rig.advance(ms(1));
    ["+OK", "+OK", "$-1", "$-1"].iter().enumerate().for_each(|(index, vote)| {
        rig.reply(index, vote);
    });
    rig.advance(ms(48));
    assert_eq!(rig.events(), []);
    rig.advance(ms(1));
    assert!(matches!(rig.event(), Event::AcquireFailed { .. }));
}

/// A node that is asked all the time is not stalled as long as it answers in its own time.
#[test]
fn a_far_node_among_near_ones_takes_part_in_every_lock() {
    let mut far = Far::new(&[1, 1, 1, 1, 150]);
    for _ in 0..40 {
        assert_eq!(far.cycle(TTL), ms(1));
        assert_eq!(far.rig.state(4), NodeState::Ready);
    }
    let asked = far.rig.redlock.node(far.rig.now, node(4)).expect("it is there").counters.asked;
    assert_eq!(asked, 41 - 1, "every attempt has asked it");
}

#[test]
fn a_far_node_that_hangs_is_skipped_after_some_of_its_round_trips() {
    let mut far = Far::new(&[150; 3]);
    far.cycle(TTL);
    far.cycle(TTL);
    let rig = &mut far.rig;
    rig.acquire("r", NO_WAIT);
    (0..3).for_each(|index| drop(rig.sent(index)));
    rig.advance(ms(290));
    assert_eq!(rig.state(0), NodeState::Ready);
    rig.advance(ms(400));
    assert_eq!(rig.state(0), NodeState::Stalled);
}

/// The caller's own word counts, for near nodes and for far ones.
#[test]
fn a_node_timeout_of_the_request_is_kept_exactly() {
    for (timeout, ends_after) in [(20, 20), (400, 300)] {
        let mut far = Far::new(&[300; 3]);
        let options = AcquireOptions::new().node_timeout(ms(timeout));
        let asked = far.rig.redlock.acquire_with(far.rig.now, &["r"], ms(1_000), NO_WAIT, &options);
        asked.expect("in bounds");
        let (event, took) = far.next(&[]);
        assert_eq!(matches!(event, Event::Acquired { .. }), timeout > 300, "{event:?}");
        assert_eq!(took, ms(ends_after));
    }
}

/// A lock of which less than half is left fails, however long the caller lets it wait.
#[test]
fn a_lock_that_is_mostly_over_is_not_granted() {
    let mut far = Far::new(&[300; 3]);
    let options = AcquireOptions::new().node_timeout(ms(5_000));
    let asked = far.rig.redlock.acquire_with(far.rig.now, &["r"], ms(500), NO_WAIT, &options);
    asked.expect("in bounds");
    let (event, took) = far.next(&[]);
    let Event::AcquireFailed { error: AcquireError::TooFar { limit, .. }, .. } = event else {
        panic!("a lock with half of its validity gone: {event:?}");
    };
    assert_eq!((limit, took), (ms(493) / 2, ms(493) / 2));
}
