use super::*;

#[test]
fn a_resource_is_left_to_others_for_as_long_as_they_need_to_come_back() {
    let ms = Duration::from_millis;
    // configured, round trip and gap in ms
    let rows = [(50, 0, 50), (50, 1, 50), (50, 12, 50), (50, 60, 240), (50, 300, 1_200)];
    for (configured, round_trip, expected) in rows {
        assert_eq!(gap(ms(configured), ms(round_trip)), ms(expected), "{round_trip} ms");
    }
    assert_eq!(gap(ms(0), ms(300)), ms(0), "nothing is left to others");
    assert_eq!(gap(ms(2_000), ms(300)), ms(2_000));
    assert_eq!(gap(ms(50), Duration::MAX), Duration::MAX);
}

#[test]
fn the_range_starts_from_the_round_trip_and_doubles_up_to_the_cap() {
    let micros = Duration::from_micros;
    let cap = Duration::from_millis(100);
    let rows = [
        // what comes before, retries, round trip in µs, least and most pause in µs
        (After::Attempt, 0, 0, 50, 200),
        (After::Attempt, 0, 100, 100, 400),
        (After::Attempt, 1, 100, 200, 800),
        (After::Attempt, 3, 100, 800, 3_200),
        (After::Attempt, 10, 100, 25_000, 100_000),
        (After::Attempt, u32::MAX, 100, 25_000, 100_000),
        // Clients with pauses shorter than a round trip would meet again and again.
        (After::Attempt, 0, 20_000, 20_000, 80_000),
        (After::Attempt, 1, 20_000, 40_000, 160_000),
        (After::Attempt, 10, 20_000, 80_000, 320_000),
        (After::Attempt, u32::MAX, 60_000, 240_000, 960_000),
        (After::Attempt, u32::MAX, 1_000_000, 4_000_000, 16_000_000),
        (After::Look { others: 0 }, 0, 100, 100, 400),
        (After::Look { others: 0 }, u32::MAX, 100, 25_000, 100_000),
        (After::Look { others: 1 }, u32::MAX, 20_000, 25_000, 100_000),
        (After::Look { others: 1 }, u32::MAX, 60_000, 60_000, 240_000),
        (After::Look { others: 9 }, u32::MAX, 60_000, 135_000, 540_000),
        (After::Look { others: 99 }, u32::MAX, 60_000, 240_000, 960_000),
    ];
    for (after, retries, round_trip, least, most) in rows {
        let mut rng = fastrand::Rng::with_seed(1);
        let pauses: Vec<_> =
            (0..1_000).map(|_| pause(after, retries, micros(round_trip), cap, &mut rng)).collect();
        let shortest = pauses.iter().min().expect("a thousand pauses");
        let longest = pauses.iter().max().expect("a thousand pauses");
        assert!(*shortest >= micros(least) && *longest <= micros(most), "{retries}");
        let spread = micros(most - least);
        assert!(*longest - *shortest > spread * 9 / 10, "{retries}: no real spread");
    }
}
