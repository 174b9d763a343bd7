//! Which nodes take part in fencing numbers.

use super::*;

impl Rig {
    /// Acquires a lock of which the first node draws no number, because a right is missing there.
    fn deny_first(&mut self) {
        self.fenced("r");
        self.sent(0);
        self.reply(0, "-ERR The user executing the script can't run this command or subcommand");
        self.draw(1, 0);
        self.draw(2, 0);
        assert_eq!(self.fence(), 0);
        self.sent(0);
    }
}

#[test]
fn a_missing_right_bars_the_node_from_numbers_alone() {
    let mut rig = Rig::new(3);
    rig.deny_first();
    rig.fenced("r2");
    assert_eq!((rig.bar(0), rig.bar(1)), (Some(FenceBar::Denied), None));
    assert_eq!(rig.sent(0), [""; 0]);
    rig.acquire("r3", NO_WAIT);
    assert_eq!(rig.sent(0), ["SET r3 #3 NX PX 10000"]);
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there").to_string();
    assert!(status.contains("no part in fencing numbers: no right to hget"), "{status}");
}

#[test]
fn a_right_that_is_given_later_needs_no_new_session() {
    let mut rig = Rig::with(3, |config| (config.max_ttl, config.repair) = (TTL, false));
    rig.deny_first();
    rig.fenced("r2");
    assert_eq!((rig.sent(0), rig.bar(0)), (vec![], Some(FenceBar::Denied)));
    rig.draw(1, 1);
    rig.draw(2, 1);
    assert_eq!(rig.fence(), 1);
    // The next look is no later than that.
    rig.advance(rig.redlock.config().quarantine() / 3);
    rig.events();
    rig.fenced("r3");
    assert_eq!(rig.bar(0), None);
    assert!(rig.sent(0).iter().any(|call| call.contains(" r3 redbolt:fence ")));
}

#[test]
fn a_node_whose_clock_is_wrong_takes_no_part_and_an_event_says_so() {
    let mut rig = Rig::unconnected(3, |_| ());
    // 11 s: more than twice the skew.
    rig.masters[2].ahead = 11_000_000;
    rig.connect_all(3);
    rig.fenced("r");
    assert_eq!(rig.bar(2), Some(FenceBar::ClockOff));
    assert!(rig.redlock.poll_event().is_some_and(|event| event == Event::Node(node(2))));
    assert_eq!((rig.sent(0).len(), rig.sent(1).len(), rig.sent(2).len()), (1, 1, 0));
    rig.draw(0, 0);
    rig.draw(1, 0);
    assert_eq!(rig.fence(), 0);
    rig.acquire("plain", NO_WAIT);
    assert_eq!(rig.sent(2), ["SET plain #2 NX PX 10000"], "a lock needs no such clock");
}

#[test]
fn no_majority_of_clocks_means_no_number_at_all() {
    let mut rig = Rig::unconnected(3, |_| ());
    rig.masters[1].ahead = 20_000_000;
    rig.masters[2].ahead = 40_000_000;
    rig.connect_all(3);
    rig.fenced("r");
    rig.advance(ms(1));
    let AcquireError::NoQuorum(outcomes) = rig.no_lock() else { panic!("another error") };
    assert_eq!(outcomes.as_slice(), [NodeOutcome::NoFences; 3]);
    // Who has given up the guard has given up this promise too.
    let mut rig = Rig::unconnected(3, |config| config.restart_guard = RestartGuard::Off);
    rig.masters[1].ahead = 20_000_000;
    rig.masters[2].ahead = 40_000_000;
    rig.connect_all(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.draw(1, 0);
    assert_eq!(rig.fence(), 0);
}

#[test]
fn a_node_that_may_have_forgotten_numbers_takes_no_part_for_longer_than_for_locks() {
    let mut rig = Rig::with(3, |config| config.max_ttl = Duration::from_secs(10));
    rig.close(0);
    rig.masters[0].flush();
    rig.connect_as(0, 9, "");
    // Locks are safe again after 10 s and their drift; numbers after 12 s.
    rig.advance(Duration::from_millis(10_200));
    assert_eq!(rig.state(0), NodeState::Ready);
    rig.fenced("r");
    assert!(matches!(rig.bar(0), Some(FenceBar::TooYoung { .. })), "{:?}", rig.bar(0));
    assert_eq!(rig.sent(0), [""; 0]);
    rig.draw(1, 0);
    rig.draw(2, 0);
    rig.advance(Duration::from_secs(2));
    rig.events();
    rig.fenced("r2");
    assert_eq!(rig.bar(0), None);
    assert!(rig.sent(0).iter().any(|sent| sent.contains(" r2 redbolt:fence ")));
}

/// Other nodes excuse an idle time by the locks that have ended since. The numbers of a process
/// that had the name meanwhile can be larger than those which the node draws now.
#[test]
fn an_idle_time_that_is_excused_for_locks_is_not_excused_for_numbers() {
    let rig = Rig::with(3, |config| config.max_ttl = Duration::from_secs(10));
    let mut other = rig.later(Duration::from_secs(16));
    other.connect_all(3);
    assert_eq!([0, 1, 2].map(|index| other.state(index)), [NodeState::Ready; 3]);
    other.fenced("r");
    assert!(matches!(other.bar(0), Some(FenceBar::TooYoung { .. })), "{:?}", other.bar(0));
    other.advance(ms(1));
    let AcquireError::NoQuorum(outcomes) = other.no_lock() else { panic!("another error") };
    assert_eq!(outcomes.as_slice(), [NodeOutcome::NoFences; 3]);
    let lock = other.acquire("plain", NO_WAIT);
    assert!(other.sent(0).iter().any(|sent| sent.starts_with("SET plain")), "{lock:?}");
    other.advance(Duration::from_millis(12_200));
    other.events();
    other.fenced("r");
    assert_eq!([0, 1, 2].map(|index| other.bar(index)), [None; 3]);
}

/// P3: the data of a node that was started anew is too young for numbers, also where the node had
/// drawn before.
#[test]
fn a_node_that_was_started_anew_is_not_asked_to_accept_a_number() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.draw(0, 0);
    rig.close(0);
    rig.masters[0].flush();
    rig.connect_as(0, 9, "");
    rig.draw(1, 7);
    let is_asked = |rig: &mut Rig, index| rig.sent(index).join(" ").contains("EVALSHA raise");
    assert!(is_asked(&mut rig, 1) && !is_asked(&mut rig, 0));
    rig.reply(1, ":1");
    rig.draw(2, 9);
    assert!(is_asked(&mut rig, 2), "two are left");
    rig.reply(2, ":1");
    assert!(matches!(rig.event(), Event::Acquired { fence: Some(_), .. }));
}

/// Nobody has asked the node for a number since it could not draw one.
#[test]
fn a_request_without_room_is_not_told_why_a_node_could_not_draw_long_ago() {
    let mut rig = Rig::with(1, |config| (config.max_ttl, config.max_pipeline) = (TTL, 1));
    rig.fenced("r");
    rig.sent(0);
    rig.reply(0, "-ERR The user executing the script can't run this command or subcommand");
    rig.fenced("r");
    assert_eq!(rig.bar(0), Some(FenceBar::Denied));
    rig.events();
    rig.advance(rig.redlock.config().quarantine() / 3);
    rig.acquire("x", NO_WAIT);
    let options = AcquireOptions::new().fenced();
    let short = rig.redlock.acquire_with(rig.now, &["r"], ms(200), NO_WAIT, &options);
    let lock = short.expect("in bounds");
    // Before the node counts as stalled.
    rig.now = rig.now + rig.redlock.config().node_timeout(ms(200));
    rig.redlock.handle_timeout(rig.now);
    let failed = Event::AcquireFailed { lock, error: AcquireError::NoRoom };
    let events = rig.events();
    assert!(events.contains(&failed), "{events:?}");
}
