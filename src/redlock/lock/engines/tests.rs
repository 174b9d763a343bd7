use super::*;
use crate::redlock::xxh64::xxh64_of_number;

fn engines(count: u64) -> Engines {
    let mut engines = Engines::default();
    (0..count).for_each(|number| engines.insert(xxh64_of_number(number, 7)));
    engines
}

#[test]
fn engines_are_counted_about() {
    // engines, least count, most count
    let rows = [(0, 0, 0), (1, 1, 1), (2, 2, 3), (10, 8, 12), (100, 85, 115), (300, 240, 360)];
    for (count, least, most) in rows {
        let counted = engines(count).count();
        assert!((least..=most).contains(&counted), "{count}: {counted}");
    }
    let most = engines(1_000_000).count();
    assert!((600..800).contains(&most), "{most}");
}

#[test]
fn somebody_of_whom_nothing_is_known_is_nobody_who_was_seen() {
    let many = engines(1_000_000);
    assert_eq!(many.without(Engines::SOMEBODY), many);
    assert_eq!(Engines::SOMEBODY.count(), 1);
    assert_eq!(engines(1).union(Engines::SOMEBODY).count(), 2);
}

#[test]
fn the_last_engine_is_forgotten_later_than_others() {
    let mut rng = fastrand::Rng::with_seed(7);
    let remembers =
        |_: &u32| !(0..30).fold(engines(1), |known, _| known.faded(&mut rng)).is_empty();
    let remembered = (0..200).filter(remembers).count();
    assert!((120..190).contains(&remembered), "{remembered} of 200");
}

#[test]
fn an_engine_counts_once_and_is_forgotten_one_day() {
    let (mut known, mut rng) = (engines(50), fastrand::Rng::with_seed(7));
    assert_eq!(known.union(engines(50)), known);
    let once = known.faded(&mut rng).count();
    assert!((40..50).contains(&once), "{once}");
    for _ in 0..1_000 {
        known = known.faded(&mut rng);
    }
    assert!(known.is_empty());
}
