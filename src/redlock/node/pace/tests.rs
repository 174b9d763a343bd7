use super::*;

const SPAN: Duration = Duration::from_secs(60);
const DRIFT: Drift = Drift::new(5_000, Duration::from_millis(50));

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::from_nanos(1_000_000_000_000) + ms(millis)
}

/// A look that leaves and is answered at these times of ours, and what the node tells.
fn look((sent, answered): (u64, u64), time: u64) -> Reading {
    Reading { time: 1_700_000_000_000_000 + time * 1_000, sent: at(sent), answered: at(answered) }
}

#[test]
fn a_node_is_ahead_if_its_clock_shows_more_than_the_drift_allows() {
    // Of 20,000 ms at the node, the drift takes 200 + 50 + 2.
    let rows = [
        // sent and answered by our clock, time of the node, ahead by
        ((20_000, 20_004), 20_002, None),
        ((20_000, 20_004), 20_257, None),
        ((20_000, 20_004), 20_260, Some(264)),
        ((20_000, 20_004), 21_000, Some(1_004)),
        ((20_000, 20_004), 90_000, Some(70_004)),
        // The machine has stood still while the look was on its way.
        ((10, 19), 5_000, Some(4_994)),
        // The answer came late: the node may have read its clock just before.
        ((20_000, 29_000), 29_000, None),
        ((20_000, 29_000), 30_000, Some(10_004)),
        // The clock of the node stands still, or was set back.
        ((20_000, 20_004), 0, None),
        ((20_000, 20_004), 19_000, None),
    ];
    for (times, time, ahead) in rows {
        let found = look(times, time).ahead_of(&look((0, 4), 0), DRIFT);
        let expected = ahead.map(|ahead| ms(ahead) + DRIFT.of(ms(time)));
        assert_eq!(found, expected, "{times:?}, {time}");
    }
    let back = Reading { time: 0, ..look((20_000, 20_004), 0) };
    assert_eq!(back.ahead_of(&look((0, 4), 0), DRIFT), None);
}

const ONE: RunId = RunId([1; 40]);
const OTHER: RunId = RunId([2; 40]);

/// A drift of next to nothing: what is ahead is found to two milliseconds.
const LITTLE: Drift = Drift::new(0, Duration::ZERO);

fn read(pace: &mut Pace, process: RunId, ours: u64, time: u64) -> Option<Duration> {
    pace.read(process, look((ours, ours), time), LITTLE, SPAN);
    pace.ahead(at(ours))
}

#[test]
fn only_times_of_one_process_are_compared() {
    let mut pace = Pace::new();
    assert_eq!(read(&mut pace, ONE, 0, 0), None);
    assert_eq!(read(&mut pace, OTHER, 20_000, 90_000), None);
    assert_eq!(read(&mut pace, ONE, 40_000, 200_000), None);
    assert_eq!(read(&mut pace, ONE, 60_000, 230_000), Some(ms(10_002)));
}

#[test]
fn what_a_node_is_ahead_adds_up_and_is_forgotten_after_a_span() {
    let mut pace = Pace::new();
    read(&mut pace, ONE, 0, 0);
    assert_eq!(read(&mut pace, ONE, 20_000, 21_000), Some(ms(1_002)));
    assert_eq!(read(&mut pace, ONE, 40_000, 41_000), Some(ms(1_002)));
    assert_eq!(read(&mut pace, ONE, 60_000, 63_000), Some(ms(3_004)));
    assert_eq!(pace.ahead(at(119_999)), Some(ms(3_004)));
    assert_eq!(pace.ahead(at(120_000)), None);
}

#[test]
fn a_loss_is_told_once_by_each_node() {
    let (mut told, mut late) = (Pace::new(), Pace::new());
    read(&mut told, ONE, 0, 0);
    read(&mut late, OTHER, 0, 0);
    assert_eq!(read(&mut told, ONE, 20_000, 30_000), Some(ms(10_002)));
    for pace in [&mut told, &mut late] {
        pace.caught_up();
        assert_eq!(pace.ahead(at(20_000)), None);
    }
    assert_eq!(read(&mut late, OTHER, 20_001, 30_001), Some(ms(10_002)), "the same loss");
    assert_eq!(read(&mut told, ONE, 40_000, 50_000), None);
    assert_eq!(read(&mut told, ONE, 60_000, 75_000), Some(ms(5_002)), "another loss");
}

#[test]
fn a_node_that_was_first_read_after_a_loss_tells_of_the_next() {
    let mut pace = Pace::new();
    read(&mut pace, ONE, 20_000, 30_000);
    pace.caught_up();
    assert_eq!(read(&mut pace, ONE, 40_000, 55_000), Some(ms(5_002)));
}
