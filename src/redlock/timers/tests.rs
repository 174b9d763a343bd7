use core::cell::Cell;

use super::*;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

#[test]
fn a_later_deadline_leaves_the_entry_and_an_earlier_one_moves_it() {
    let mut timers = Timers::with_capacity(4);
    timers.set(3, at(50));
    timers.set(3, at(90));
    assert_eq!(timers.next(), Some(at(50)));
    timers.set(3, at(20));
    assert_eq!(timers.next(), Some(at(20)));
    assert_eq!(timers.pop(at(19)), None);
    assert_eq!(timers.pop(at(20)), Some(3));
    assert_eq!(timers.pop(Instant::FAR_FUTURE), None);
}

#[test]
fn a_question_looks_at_some_thousand_entries_at_most() {
    let mut timers = Timers::with_capacity(0);
    (0..50_000).for_each(|slot| timers.set(slot, at(u64::from(slot))));
    let looks = Cell::new(0);
    let none = |_| {
        looks.set(looks.get() + 1);
        None
    };
    assert_eq!(timers.first_by(at(100), none), None);
    assert_eq!(looks.take(), 101, "each that is due by then");
    let found = timers.first_by(at(60_000), none);
    assert!(found.is_some_and(|found| found < at(60_000)), "too early rather than too late");
    assert_eq!(looks.take(), LOOKS);
    let late = timers.first_by(at(60_000), |slot| Some(at(u64::from(slot) + 3)));
    assert_eq!(late, Some(at(3)), "the others are not before");
    let one = timers.first_by(at(60_000), |slot| (slot == 1).then_some(at(1)));
    assert!(one.is_some_and(|one| one <= at(1)), "a question that ends early: {one:?}");
}

#[test]
fn agrees_with_a_sorted_list_under_random_use() {
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut timers = Timers::with_capacity(64);
        let mut model: Vec<Option<u64>> = vec![None; 64];
        for _ in 0..500 {
            let slot = rng.usize(..64);
            let by = rng.u64(..1_000);
            // Some are due later than their entries come up, and some not at all.
            let due = |slot: u32| {
                let when = model[slot as usize].filter(|_| slot % 8 < 2);
                when.map(|when| at(when + u64::from(slot % 8) * 100))
            };
            let first = (0..64).filter_map(due).min().filter(|first| *first <= at(by));
            assert_eq!(timers.first_by(at(by), due), first, "seed {seed}");
            match rng.u8(..4) {
                _ if rng.u8(..) == 0 => {
                    timers.clear_all();
                    model.fill(None);
                }
                0 | 1 => {
                    let when = rng.u64(..1_000);
                    timers.set(slot as u32, at(when));
                    model[slot] = Some(model[slot].map_or(when, |old| old.min(when)));
                }
                2 => {
                    if model.iter().flatten().count() <= FEW {
                        model[slot] = None;
                    }
                    timers.clear(slot as u32);
                }
                _ => {
                    let earliest = model.iter().flatten().min().copied();
                    assert_eq!(timers.next(), earliest.map(at), "seed {seed}");
                    let popped = timers.pop(at(500));
                    assert_eq!(popped.is_some(), earliest.is_some_and(|when| when <= 500));
                    if let Some(slot) = popped {
                        assert_eq!(model[slot as usize].take(), earliest, "seed {seed}");
                    }
                }
            }
        }
    }
}
