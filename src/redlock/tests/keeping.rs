//! Renewals and warnings.

use super::*;

const HOLD: Duration = Duration::from_secs(60);

impl Rig {
    /// Lets all nodes confirm the one extension that has left for them.
    fn confirm(&mut self) {
        for index in 0..self.redlock.nodes().len() {
            let sent = self.sent(index);
            assert!(sent.iter().all(|sent| sent.starts_with("EVALSHA extend ")), "{sent:?}");
            sent.iter().for_each(|_| self.reply(index, ":1"));
        }
    }

    /// Lets the first two nodes confirm the extensions that have left for them.
    fn confirm_late(&mut self) {
        for index in 0..2 {
            self.sent(index);
            self.reply(index, ":1");
        }
    }

    /// Lets time pass until something leaves for node 0. Returns how long that took.
    fn until_output(&mut self) -> Duration {
        let start = self.now;
        self.until(|rig| rig.has_output(0));
        self.now - start
    }
}

#[test]
fn a_lock_that_is_kept_alive_is_renewed_after_a_third_of_its_ttl() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.redlock.keep_alive(rig.now, lock, TTL, HOLD).expect("it is held");
    for _ in 0..5 {
        let pause = rig.until_output();
        assert!(pause > TTL / 4 && pause < TTL * 2 / 5, "{pause:?}");
        let started = rig.now;
        rig.confirm();
        let valid_until = Drift::default().valid_until(started, TTL);
        assert_eq!(rig.event(), Event::Extended { lock, valid_until });
    }
}

#[test]
fn renewals_end_with_max_hold_and_the_lock_with_them() {
    let mut rig = Rig::new(1);
    let lock = rig.held("r");
    let start = rig.now;
    rig.redlock.keep_alive(rig.now, lock, TTL, ms(25_000)).expect("it is held");
    let events = loop {
        let mut events = Vec::new();
        rig.until(|rig| {
            events = rig.events();
            !events.is_empty() || rig.has_output(0)
        });
        if !events.is_empty() {
            break events;
        }
        rig.confirm();
        assert!(matches!(rig.event(), Event::Extended { .. }));
    };
    assert_eq!(events, [Event::Lost { lock, reason: LostReason::MaxHold }]);
    let held = rig.now - start;
    assert!(held > ms(24_000) && held <= ms(25_000), "held for {held:?}");
}

/// Many short renewals would each set the warning again, until no time is left for the warning.
#[test]
fn the_last_renewal_leaves_time_for_the_warning() {
    let mut rig = Rig::new(1);
    let lock = rig.held("r");
    rig.redlock.warn(rig.now, lock, ms(3_000)).expect("it is held");
    rig.redlock.keep_alive(rig.now, lock, TTL, ms(35_400)).expect("it is held");
    let mut renewals = 0;
    let warned = loop {
        let mut events = Vec::new();
        rig.until(|rig| {
            events = rig.events();
            !events.is_empty() || rig.has_output(0)
        });
        let planned =
            |event: &Event| matches!(event, Event::Expiring { reason: LostReason::MaxHold, .. });
        if events.iter().any(planned) {
            break rig.now;
        }
        rig.confirm();
        renewals += 1;
    };
    assert!(renewals < 20, "{renewals} renewals");
    rig.events();
    assert_eq!(rig.wait(), [Event::Lost { lock, reason: LostReason::MaxHold }]);
    assert_eq!(rig.now - warned, ms(2_999), "the warning, then the loss");
}

#[test]
fn a_renewal_that_fails_is_repeated_until_the_validity_ends_and_says_nothing() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.redlock.keep_alive(rig.now, lock, TTL, HOLD).expect("it is held");
    let end = rig.now + rig.redlock.remaining(rig.now, lock);
    let mut asked = 0;
    while rig.redlock.is_held(rig.now, lock) {
        rig.until(|rig| rig.has_output(0) || !rig.redlock.is_held(rig.now, lock));
        asked += rig.outputs[0].len();
        for index in 0..3 {
            let count = rig.sent(index).len();
            (0..count).for_each(|_| rig.reply(index, "-ERR something"));
        }
    }
    assert_eq!(rig.event(), Event::Lost { lock, reason: LostReason::Expired });
    assert_eq!(rig.now, end - RedlockConfig::default().lost_lead);
    assert!((5..60).contains(&asked), "asked {asked} times");
}

/// To ask busy nodes once more would only make them busier.
#[test]
fn a_renewal_that_is_not_answered_yet_is_not_repeated() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.redlock.keep_alive(rig.now, lock, TTL, HOLD).expect("it is held");
    rig.until_output();
    let started = rig.now;
    // Just before the connections are given up.
    rig.advance(ms(4_900));
    assert_eq!(rig.sent(0).len(), 1);
    rig.confirm_late();
    let valid_until = Drift::default().valid_until(started, TTL);
    assert_eq!(rig.event(), Event::Extended { lock, valid_until });
}

#[test]
fn one_renewal_that_is_answered_late_in_the_validity_saves_the_lock() {
    let mut rig = Rig::new(3);
    let lock = rig.held("r");
    rig.redlock.keep_alive(rig.now, lock, TTL, HOLD).expect("it is held");
    while rig.redlock.remaining(rig.now, lock) > ms(300) {
        rig.until(|rig| rig.has_output(0) || rig.redlock.remaining(rig.now, lock) < ms(300));
        for index in 0..3 {
            let count = rig.sent(index).len();
            (0..count).for_each(|_| rig.reply(index, "-ERR something"));
        }
    }
    rig.until_output();
    rig.confirm();
    assert!(matches!(rig.event(), Event::Extended { .. }));
    assert!(rig.redlock.remaining(rig.now, lock) > TTL / 2);
}

#[test]
fn an_extension_of_the_callers_own_goes_before_a_renewal_under_way() {
    let mut rig = Rig::new(1);
    let lock = rig.held("r");
    rig.redlock.keep_alive(rig.now, lock, TTL, HOLD).expect("it is held");
    rig.until_output();
    rig.redlock.extend(rig.now, lock, 2 * TTL).expect("a renewal does not stand in the way");
    rig.reply(0, ":1");
    assert_eq!(rig.events(), [], "the answer to the renewal is not the answer to the extension");
    assert_eq!(rig.redlock.extend(rig.now, lock, TTL), Err(RequestError::ExtensionPending));
    rig.sent(0);
    rig.reply(0, ":1");
    assert!(matches!(rig.event(), Event::Extended { .. }));
    assert!(rig.redlock.remaining(rig.now, lock) > TTL * 3 / 2);
}

#[test]
fn renewals_of_many_locks_leave_in_few_groups() {
    const LOCKS: usize = 200;
    let mut rig = Rig::new(1);
    for number in 0..LOCKS {
        let lock = rig.held(&format!("r{number}"));
        rig.redlock.keep_alive(rig.now, lock, TTL, HOLD).expect("it is held");
        rig.advance(ms(1));
    }
    let (mut requests, mut renewed) = (0, 0);
    while renewed < LOCKS {
        rig.until_output();
        for request in rig.sent(0) {
            let words: Vec<_> = request.split(' ').collect();
            let keys: usize = words[2].parse().expect("a script call names the number of keys");
            let answers = format!("*{keys}{}", "\r\n:1".repeat(keys));
            rig.reply(0, if keys == 1 { ":1" } else { &answers });
            requests += 1;
            renewed += keys;
        }
    }
    assert!(requests < LOCKS / 6, "{requests} requests");
}

#[test]
fn a_warning_comes_once_for_each_validity() {
    let mut rig = Rig::new(1);
    let lock = rig.held("r");
    rig.redlock.warn(rig.now, lock, ms(2_000)).expect("it is held");
    let [Event::Expiring { lock: warned, valid_until, reason: LostReason::Expired }] =
        rig.wait()[..]
    else {
        panic!("no warning")
    };
    assert_eq!((warned, valid_until - rig.now), (lock, ms(2_000)));
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    rig.sent(0);
    rig.reply(0, ":1");
    assert!(matches!(rig.event(), Event::Extended { .. }));
    assert!(matches!(rig.wait()[..], [Event::Expiring { .. }]));
    assert!(matches!(rig.wait()[..], [Event::Lost { .. }]));
}

#[test]
fn a_warning_that_is_due_already_comes_at_once() {
    let mut rig = Rig::new(1);
    let lock = rig.held("r");
    rig.redlock.warn(rig.now, lock, 2 * TTL).expect("it is held");
    rig.advance(Duration::ZERO);
    assert!(matches!(rig.event(), Event::Expiring { .. }));
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let mut rig = Rig::new(1);
    let lock = rig.held("r");
    let max = RedlockConfig::default().max_hold;
    let keep = |rig: &mut Rig, ttl, hold| rig.redlock.keep_alive(rig.now, lock, ttl, hold);
    assert_eq!(
        keep(&mut rig, TTL, max + ms(1)),
        Err(RequestError::HoldTooLong { hold: max + ms(1), max })
    );
    assert_eq!(
        keep(&mut rig, ms(1), HOLD),
        Err(RequestError::TtlTooShort { ttl: ms(1), least: ms(10) })
    );
    rig.redlock.release(rig.now, lock).expect("it is held");
    assert_eq!(keep(&mut rig, TTL, HOLD), Err(RequestError::NotHeld));
}

/// A lock over three nodes is kept alive. One node hangs, one confirms, and the connection of one
/// breaks and is back at once: before or after this node was asked.
#[test]
fn a_renewal_is_repeated_where_a_majority_is_there_again() {
    for (ttl, breaks_before) in [(7_000, false), (2_000, false), (7_000, true), (2_000, true)] {
        let mut rig = Rig::new(3);
        let lock = rig.redlock.acquire(rig.now, b"r", ms(ttl), NO_WAIT).expect("in bounds");
        for index in 0..3 {
            rig.sent(index);
            rig.reply(index, "+OK");
        }
        rig.event();
        rig.redlock.keep_alive(rig.now, lock, ms(ttl), HOLD).expect("it is held");
        if breaks_before {
            rig.close(1);
        }
        rig.until(|rig| rig.has_output(0));
        (0..3).filter(|index| !breaks_before || *index != 1).for_each(|index| {
            rig.sent(index);
        });
        rig.reply(2, ":1");
        if !breaks_before {
            rig.close(1);
        }
        rig.connect(1);
        rig.events();
        let mut events = Vec::new();
        rig.until(|rig| {
            events.extend(rig.events());
            for index in [1, 2] {
                rig.sent(index).iter().for_each(|_| rig.reply(index, ":1"));
            }
            events.iter().any(|event| matches!(event, Event::Lost { .. } | Event::Extended { .. }))
        });
        assert!(matches!(events[..], [Event::Extended { .. }]), "{ttl}: {events:?}");
    }
}

#[test]
fn warnings_that_nobody_reads_are_bounded() {
    let mut rig = Rig::with(1, |config| config.max_locks = 4);
    let lock = rig.held("r");
    let mut refused = None;
    for _ in 0..1_000 {
        let answer = rig.redlock.warn(rig.now, lock, 2 * TTL);
        refused = refused.or_else(|| answer.err());
        rig.redlock.handle_timeout(rig.now);
    }
    assert_eq!(refused, Some(RequestError::Full { max: 4 }));
    assert!(rig.events().len() < 100);
    assert_eq!(rig.redlock.warn(rig.now, lock, TTL), Ok(()));
}
