use super::*;

const TTL: Duration = Duration::from_secs(1);

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn add(cleanup: &mut Cleanup, now: Instant, resource: &[u8], serial: u64) -> bool {
    let token = Token::of_attempt(&[0; 12], serial);
    cleanup.add(now, Names { count: 1, bytes: resource }, token, serial, TTL)
}

fn due(cleanup: &mut Cleanup, now: Instant) -> Vec<u64> {
    let mut serials = Vec::new();
    cleanup.take_due(now, |_, serial, _| serials.push(serial));
    serials
}

#[test]
fn a_token_is_looked_for_until_its_ttl_has_passed_since_the_first_check() {
    let mut cleanup = Cleanup::new(8);
    assert!(add(&mut cleanup, at(0), b"r", 1));
    // The node was down for an hour, so the first check comes late.
    let mut now = at(3_600_000);
    let first = now;
    let mut looks = 0;
    while cleanup.len() > 0 {
        for _ in due(&mut cleanup, now) {
            looks += 1;
            cleanup.retry_later(now, 0, 1);
        }
        if cleanup.len() > 0 {
            assert!(cleanup.due_at() > now);
            now = cleanup.due_at();
        }
    }
    assert_eq!(now, first + TTL);
    assert_eq!(looks, 5, "at 0, 50, 150, 350 and 750 ms");
}

#[test]
fn a_token_that_was_found_is_forgotten() {
    let mut cleanup = Cleanup::new(8);
    add(&mut cleanup, at(0), b"r", 1);
    assert_eq!(due(&mut cleanup, at(0)), [1]);
    assert_eq!(due(&mut cleanup, at(0)), [0; 0], "it is on its way");
    cleanup.settled(0, 1);
    assert_eq!(cleanup.len(), 0);
    assert_eq!(cleanup.due_at(), Instant::FAR_FUTURE);
}

#[test]
fn a_full_list_forgets_the_oldest() {
    let mut cleanup = Cleanup::new(2);
    assert!(add(&mut cleanup, at(0), b"a", 1));
    assert!(add(&mut cleanup, at(0), b"b", 2));
    assert!(!add(&mut cleanup, at(0), b"c", 3));
    let mut serials = due(&mut cleanup, at(0));
    serials.sort_unstable();
    assert_eq!(serials, [2, 3]);
}

#[test]
fn a_request_lost_with_its_connection_is_due_again() {
    let mut cleanup = Cleanup::new(2);
    add(&mut cleanup, at(0), b"a", 1);
    assert_eq!(due(&mut cleanup, at(0)), [1]);
    cleanup.lost(at(5), 0, 1);
    assert_eq!(due(&mut cleanup, at(5)), [1]);
}

#[test]
fn no_more_are_on_the_way_than_the_window_and_replies_open_it() {
    let mut cleanup = Cleanup::new(200);
    for serial in 0..100 {
        add(&mut cleanup, at(0), b"a", serial);
    }
    assert_eq!(due(&mut cleanup, at(0)).len(), WINDOW);
    assert_eq!(due(&mut cleanup, at(0)).len(), 0);
    cleanup.settled(0, 0);
    assert_eq!(due(&mut cleanup, at(0)).len(), 1);
}

/// A request keeps the entry that it names, however late the answer is. An answer to an entry
/// that is gone changes no other entry.
#[test]
fn agrees_with_a_model_under_random_use() {
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut cleanup = Cleanup::new(80);
        let mut now = at(0);
        let mut on_the_way: Vec<(u32, u64)> = Vec::new();
        for serial in 0..600 {
            match rng.u8(..6) {
                0 | 1 => {
                    add(&mut cleanup, now, b"r", serial);
                }
                2 => cleanup.take_due(now, |place, serial, _| on_the_way.push((place, serial))),
                3 => now = now + Duration::from_millis(rng.u64(..700)),
                _ if on_the_way.is_empty() => {}
                choice => {
                    let (place, serial) = on_the_way.swap_remove(rng.usize(..on_the_way.len()));
                    assert_eq!(cleanup.get(place).map(|entry| entry.serial), Some(serial));
                    match (choice, rng.bool()) {
                        (4, true) => cleanup.settled(place, serial),
                        (4, false) => cleanup.lost(now, place, serial),
                        _ => cleanup.retry_later(now, place, serial),
                    }
                    // A repeated answer changes nothing.
                    cleanup.settled(place, serial);
                }
            }
            let flying = cleanup.places.iter().flatten().filter(|entry| entry.in_flight);
            assert_eq!(flying.count(), on_the_way.len(), "seed {seed}");
            assert_eq!(cleanup.in_flight, on_the_way.len(), "seed {seed}");
            assert!(cleanup.len() <= 80 + WINDOW && on_the_way.len() <= WINDOW);
        }
        // From now on everything is answered: nothing is kept for ever.
        while cleanup.len() > 0 {
            cleanup.take_due(now, |place, serial, _| on_the_way.push((place, serial)));
            for (place, serial) in on_the_way.drain(..) {
                cleanup.retry_later(now, place, serial);
            }
            now = now.max(cleanup.due_at().min(now + TTL));
        }
    }
}
