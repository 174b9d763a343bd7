use super::*;
use crate::redlock::node::identity::identity;
use crate::redlock::validity::Drift;
use QuarantineReason::{DataLost, EvictedKeys, FirstContact, NewReplicationId, Restarted};
use RestartGuard::{Durable, On, Strict};

const SPAN: Duration = Duration::from_secs(60);
const SECOND: u64 = 1_000_000;
/// The time of the look, by the node and by the client.
const TIME: u64 = 1_700_000_000 * SECOND;

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn config(guard: RestartGuard, step: u64) -> RedlockConfig {
    let drift = Drift::new(5_000, secs(step));
    RedlockConfig { restart_guard: guard, drift, ..RedlockConfig::default() }
}

/// Returns a testimony of a witness that was born this many seconds ago, after 9 looks.
fn word(found: Found, age: u64) -> Testimony {
    let born = TIME - age * SECOND;
    Testimony {
        found,
        time: TIME,
        born,
        wall: born,
        origin: TIME - 900 * SECOND,
        constants: Constants::open(60_000, 3),
        unseen: (0, 0),
        count: 10,
    }
}

fn evidence(word: Testimony) -> Evidence {
    let identity = identity(1);
    Evidence { identity, is_durable: false, testimony: Some(word), wall: Some(TIME) }
}

#[test]
fn a_client_agrees_with_its_number_of_nodes_and_no_shorter_max_ttl() {
    let longer = NodeError::MaxTtlTooLong { ours: 60_000, recorded: 59_999 };
    let other = |recorded| Some(NodeError::OtherNodes { ours: 3, recorded });
    let closed = |of: Constants| Constants { is_closed: true, ..of };
    let open = Constants::open;
    let rows = [
        (open(60_000, 3), None),
        (open(u64::MAX, 3), None),
        (open(59_999, 3), Some(longer)),
        (open(60_000, 5), other(5)),
        (open(1, 1), other(1)),
        (closed(open(60_000, 3)), Some(NodeError::Reconfiguring)),
        (closed(open(1, 0)), Some(NodeError::Reconfiguring)),
    ];
    let config = RedlockConfig { max_ttl: secs(60), ..config(On, 0) };
    for (recorded, expected) in rows {
        assert_eq!(disagreement(&config, 3, recorded), expected, "{recorded:?}");
    }
}

#[test]
fn the_age_at_first_contact_is_the_smaller_one_of_two_clocks_less_their_step() {
    let same = |age| word(Found::Same, age);
    let by_wall = |age: u64| Testimony { wall: TIME - age * SECOND, ..same(50) };
    let declared = Testimony { born: 0, wall: 0, ..same(0) };
    let late = Testimony { wall: TIME + SECOND, ..same(50) };
    let rows = [
        (On, 0, same(50), 50),
        (On, 3, same(50), 47),
        (On, 3, same(2), 0),
        (On, 0, by_wall(20), 20),
        (On, 0, by_wall(70), 50),
        (On, 5, by_wall(20), 15),
        (On, 0, late, 0),
        (On, 0, declared, TIME / SECOND),
        (On, 0, word(Found::Nothing, 0), 0),
        (On, 0, word(Found::Other, 0), 0),
        (Strict, 0, same(50), 0),
        (Strict, 0, declared, 0),
        (Durable, 0, same(50), 50),
    ];
    for (guard, step, word, age) in rows {
        let found = judge(None, &evidence(word), &config(guard, step));
        assert_eq!(found, Some((secs(age), FirstContact)), "{guard:?}, {step} s, {word:?}");
    }
    let no_wall = Evidence { wall: None, ..evidence(same(50)) };
    assert_eq!(judge(None, &no_wall, &config(On, 0)), Some((secs(0), FirstContact)));
    let no_word = Evidence { testimony: None, ..evidence(same(50)) };
    assert_eq!(judge(None, &no_word, &config(On, 0)), Some((secs(0), FirstContact)));
}

#[test]
fn the_age_of_a_durable_node_counts_from_the_first_witness_of_its_data() {
    let rows = [
        (Durable, true, Found::Same, 1, 900 - 1),
        (Durable, true, Found::Other, 1, 900 - 1),
        (Durable, true, Found::Nothing, 1, 0),
        (Durable, false, Found::Same, 1, 50 - 1),
        (Durable, false, Found::Other, 1, 0),
        (On, true, Found::Same, 1, 50 - 1),
        (On, true, Found::Other, 1, 0),
        (Strict, true, Found::Same, 1, 0),
    ];
    for (guard, is_durable, found, step, age) in rows {
        let evidence = Evidence { is_durable, ..evidence(word(found, 50)) };
        let verdict = judge(None, &evidence, &config(guard, step));
        assert_eq!(verdict, Some((secs(age), FirstContact)), "{guard:?}, {is_durable}, {found:?}");
    }
}

#[test]
fn the_same_data_is_believed_as_before_and_what_was_lost_is_noticed() {
    let then = Testimony { count: 9, ..word(Found::Same, 50) };
    let same = word(Found::Same, 50);
    let lost = Some((secs(0), DataLost));
    let rows = [
        (Some(then), Some(same), None),
        (Some(then), Some(word(Found::Same, 500)), None),
        (Some(then), Some(Testimony { born: 0, ..same }), None),
        (Some(then), Some(word(Found::Nothing, 0)), lost),
        (Some(then), Some(word(Found::Other, 0)), lost),
        (Some(then), Some(word(Found::Same, 49)), lost),
        (Some(then), Some(Testimony { count: 9, ..same }), lost),
        (Some(then), Some(Testimony { count: 1, ..same }), lost),
        (Some(then), None, None),
        (None, None, None),
    ];
    for guard in [On, Strict, Durable] {
        for (then, now, expected) in rows {
            let past = Past { identity: identity(1), testimony: then };
            let found = Evidence { testimony: now, is_durable: true, ..evidence(same) };
            let verdict = judge(Some(&past), &found, &config(guard, 0));
            assert_eq!(verdict, expected, "{guard:?}, {then:?}, {now:?}");
        }
    }
}

/// While a client may not read the witness, somebody can flush the node unseen.
#[test]
fn the_first_word_of_a_witness_counts_for_what_it_tells() {
    let past = Past { identity: identity(1), testimony: None };
    let rows = [
        (On, word(Found::Same, 50), 50),
        (On, word(Found::Nothing, 0), 0),
        (Durable, word(Found::Same, 50), 900),
        (Durable, word(Found::Nothing, 0), 0),
        (Strict, word(Found::Same, 50), 0),
    ];
    for (guard, found, age) in rows {
        let evidence = Evidence { is_durable: true, ..evidence(found) };
        let verdict = judge(Some(&past), &evidence, &config(guard, 0));
        assert_eq!(verdict, Some((secs(age), FirstContact)), "{guard:?}, {found:?}");
    }
}

/// A client that knew another process, or other data of the process, takes no witness for it.
#[test]
fn another_identity_has_no_credit() {
    let other = identity(2);
    let known = identity(1);
    let rows = [
        (other, Restarted),
        (Identity { replication: other.replication, ..known }, NewReplicationId),
        (Identity { replication: None, ..known }, NewReplicationId),
        (Identity { evicted: Some(1), ..known }, EvictedKeys),
        (Identity { evicted: None, ..known }, EvictedKeys),
    ];
    let past = Past { identity: known, testimony: Some(word(Found::Same, 500)) };
    for (identity, reason) in rows {
        for guard in [On, Strict, Durable] {
            let found = Evidence { identity, ..evidence(word(Found::Same, 500)) };
            let verdict = judge(Some(&past), &found, &config(guard, 0));
            assert_eq!(verdict, Some((secs(0), reason)), "{guard:?}, {identity:?}");
        }
    }
}

#[test]
fn a_durable_node_keeps_its_age_through_a_restart_if_its_file_has_all_that_was_seen() {
    let then = Testimony { count: 9, ..word(Found::Same, 500) };
    let past = Past { identity: identity(1), testimony: Some(then) };
    let back = word(Found::Other, 0);
    let rows = [
        (Durable, true, back, 900),
        (Durable, true, word(Found::Same, 3), 900),
        (Durable, false, back, 0),
        (Durable, true, Testimony { count: 9, ..back }, 0),
        (Durable, true, Testimony { origin: then.origin + 1, ..back }, 0),
        (Durable, true, word(Found::Nothing, 0), 0),
        (On, true, back, 0),
        (Strict, true, back, 0),
    ];
    for (guard, is_durable, word, age) in rows {
        let found = Evidence { identity: identity(2), is_durable, ..evidence(word) };
        let verdict = judge(Some(&past), &found, &config(guard, 0));
        assert_eq!(verdict, Some((secs(age), Restarted)), "{guard:?}, {is_durable}, {word:?}");
    }
}

/// The clock of the client at the look.
const NOW: Instant = Instant::from_nanos(1_000_000_000_000);

/// Returns a gap that began and ended this many seconds before the look.
fn gap(began: u64, ended: u64) -> Gap {
    let unseen = (TIME - began * SECOND, TIME - ended * SECOND);
    let word = Testimony { unseen, ..word(Found::Same, 800) };
    Gap::read(NOW, NOW, &word, None).expect("there is a gap")
}

#[test]
fn a_gap_counts_from_its_end() {
    assert_eq!(Gap::read(NOW, NOW, &word(Found::Same, 1), None), None);
    assert_eq!(gap(200, 10).over_at(&config(On, 0), SPAN), NOW + secs(50));
    assert_eq!(gap(200, 10).over_at(&config(On, 4), SPAN), NOW + secs(54));
    // The clock of the node went back an hour: the gap is where it was.
    let known = gap(200, 10);
    let unseen = known.raw;
    let back = Testimony { time: TIME - 3_600 * SECOND, unseen, ..word(Found::Same, 1) };
    let found = Gap::read(NOW, NOW + secs(20), &back, Some(known)).expect("there is a gap");
    assert_eq!(found.over_at(&config(On, 0), SPAN), NOW + secs(50));
}

#[test]
fn another_node_was_idle_if_nobody_looked_at_it_meanwhile() {
    use Alibi::{Idle, InUse, Silent};
    let about = gap(200, 10);
    let rows = [
        // The age of the witness of the other node, its gap, and what it says.
        (800, Some(gap(200, 10)), Idle),
        (800, Some(gap(300, 10)), Idle),
        (800, Some(gap(300, 0)), Idle),
        (800, Some(gap(180, 10)), Idle),
        // One second for the handshake.
        (800, Some(gap(179, 11)), Idle),
        (800, Some(gap(90, 10)), Idle),
        (800, Some(gap(89, 10)), InUse),
        (800, Some(gap(200, 12)), InUse),
        (800, Some(gap(400, 205)), InUse),
        (800, None, InUse),
        // Nothing is left of what the node had seen.
        (11, None, Silent),
        (11, Some(gap(200, 10)), Silent),
        (12, None, InUse),
    ];
    for (age, gap, expected) in rows {
        let service = Service::read(NOW, NOW, &word(Found::Same, age), gap);
        let found = service.alibi(&about, NOW, SPAN, secs(1));
        assert_eq!(found, expected, "{age} s, {gap:?}");
    }
    for found in [Found::Nothing, Found::Other] {
        let service = Service::read(NOW, NOW, &word(found, 0), Some(gap(200, 10)));
        assert_eq!(service.alibi(&about, NOW, SPAN, secs(1)), Silent);
    }
    // A shorter gap: what another process granted behind one more round may not be over.
    let short = gap(70, 5);
    let service = |began| Service::read(NOW, NOW, &word(Found::Same, 800), Some(gap(began, 5)));
    for (began, expected) in [(70, Idle), (69, Idle), (68, InUse)] {
        let found = service(began).alibi(&short, NOW, SPAN, secs(1));
        assert_eq!(found, expected, "from {began} s ago");
    }
}

#[test]
fn a_late_answer_makes_no_node_look_as_idle_as_another() {
    use Alibi::{Idle, InUse, Silent};
    let about = gap(200, 10);
    let read = |age, began: u64, ended: u64, late| {
        let unseen = (TIME - began * SECOND, TIME - ended * SECOND);
        let word = Testimony { unseen, ..word(Found::Same, age) };
        let gap = Gap::read(NOW, NOW + secs(late), &word, None).expect("there is a gap");
        (gap, Service::read(NOW, NOW + secs(late), &word, Some(gap)))
    };
    let rows = [
        // Witness, begin and end, and how late the answer came, and what the node says.
        (800, 200, 10, 5, Idle),
        // The answer was given when the look left, or when it came: nobody knows.
        (800, 200, 12, 5, InUse),
        (800, 200, 15, 5, InUse),
        (12, 400, 205, 5, InUse),
        (11, 400, 205, 5, Silent),
    ];
    for (age, began, ended, late, expected) in rows {
        let (_, service) = read(age, began, ended, late);
        let found = service.alibi(&about, NOW + secs(late), SPAN, secs(1));
        assert_eq!(found, expected, "{age} s, {began}, {ended}, {late} s late");
    }
    // The same for the node that was out of service, and its quarantine begins at the latest.
    let (about, service) = (read(800, 200, 10, 5).0, read(800, 200, 10, 0).1);
    assert_eq!(service.alibi(&about, NOW + secs(5), SPAN, secs(1)), InUse);
    assert_eq!(about.over_at(&config(On, 0), SPAN), NOW + secs(55));
}
