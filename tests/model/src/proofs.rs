//! What must hold, with the number of states in which it does.

use crate::table::{Case, holds};
use crate::world::{Clocks, Form, Numbers, Part, World};

/// The protocol.
const SCRIPT: Form = Form { numbers: Numbers::Clock, split: false, blind: false };
/// The protocol, but the second script does not look at the key.
pub const BLIND: Form = Form { blind: true, ..SCRIPT };
/// The numbers of a majority instead of clocks of masters.
pub const HEAL: Form = Form { numbers: Numbers::Heal, ..SCRIPT };
/// `SET` and `HINCRBY`.
pub const COUNT: Form = Form { numbers: Numbers::Count, split: true, blind: true };
/// `SET` and `ZADD GT CH`.
pub const NATIVE: Form = Form { numbers: Numbers::Estimate, split: true, blind: true };

/// One crash. Clocks are off by a quarter of a tick either way.
pub fn clocks() -> Clocks {
    Clocks {
        horizon: 3,
        ttl: 2,
        quarantine: 2,
        unit: 8,
        skew: 2,
        window: 1,
        crashes: 1,
        stale: false,
        extensions: false,
        fills: false,
    }
}

/// No crash, and clocks that are right.
pub fn calm() -> Clocks {
    Clocks { horizon: 3, skew: 0, crashes: 0, ..clocks() }
}

/// One crash, and clocks that are right: numbers come from others, or from nowhere near a clock.
pub fn right() -> Clocks {
    Clocks { skew: 0, ..clocks() }
}

/// Returns all proofs of a change.
pub fn all() -> Vec<Case> {
    let mut all = without_clocks();
    all.extend(of_holders());
    all.extend(with_clocks());
    all.extend(of_cheaper_forms());
    all
}

/// Returns the proofs of a night.
pub fn of_a_night() -> Vec<Case> {
    vec![
        holds("free, storage", 15_302_523, 32, || World::<3, 3> {
            storage: true,
            ..World::free(&[0])
        }),
        holds("free", 9_446_925, 26, || World::<3, 3>::free(&[0, 2])),
        holds("free, requests twice, two raises", 2_710_674, 24, || World::<3, 2> {
            again: 2,
            raises: 2,
            ..World::free(&[0, 2])
        }),
        holds("free, neighbours in a stripe", 3_282_935, 27, || World::<3, 3> {
            parts: [Part::FIRST, Part::SECOND, Part::FIRST],
            one_stripe: true,
            ..World::free(&[0])
        }),
        holds("clocks, two crashes", 4_109_732, 24, || {
            World::<3, 2>::timed(&[0], Clocks { crashes: 2, ..clocks() })
        }),
        holds("clocks, a crash, an heir, storage", 7_004_508, 34, || World::<3, 3> {
            parts: [Part::FIRST, Part::HEIR, Part::FIRST],
            storage: true,
            ..World::timed(&[0], right())
        }),
        holds("clocks, no crash, more time", 6_350_187, 32, || World::<3, 3>::timed(&[0], calm())),
        holds("blind RAISE, clocks, a crash", 4_142_802, 24, || World::<3, 2> {
            form: BLIND,
            ..World::timed(&[0], clocks())
        }),
        holds("SET and HINCRBY, clocks, a crash", 12_043_103, 30, || World::<3, 2> {
            form: COUNT,
            ..World::timed(&[0], clocks())
        }),
        holds("SET with ZADD GT, clocks, a crash", 6_445_710, 23, || World::<3, 2> {
            form: Form { split: false, ..NATIVE },
            ..World::timed(&[], clocks())
        }),
        holds("SET and ZADD GT, a crash", 5_946_975, 29, || World::<3, 2> {
            form: NATIVE,
            ..World::timed(&[], right())
        }),
    ]
}

fn without_clocks() -> Vec<Case> {
    vec![
        holds("free, storage", 100_589, 21, || World::<3, 2> {
            storage: true,
            ..World::free(&[0, 1, 3])
        }),
        holds("free, storage", 96_065, 25, || World::<4, 2> {
            storage: true,
            ..World::free(&[0, 2])
        }),
        holds("free, storage", 1_036_608, 28, || World::<5, 2> {
            storage: true,
            ..World::free(&[0, 2])
        }),
        holds("free", 1_471_397, 26, || World::<3, 3>::free(&[0])),
        holds("free, a request twice, two raises", 382_326, 23, || World::<3, 2> {
            again: 1,
            raises: 2,
            ..World::free(&[0, 2])
        }),
    ]
}

fn of_holders() -> Vec<Case> {
    vec![
        holds("free, an heir, storage", 173_354, 28, || World::<3, 3> {
            parts: [Part::FIRST, Part::HEIR, Part::FIRST],
            storage: true,
            ..World::free(&[0])
        }),
        holds("free, a number for a lock without, storage", 32_500, 23, || World::<3, 3> {
            parts: [Part::PLAIN, Part::HEIR, Part::FIRST],
            storage: true,
            ..World::free(&[0, 2])
        }),
        holds("free, two locks and a set of both", 835_868, 26, || World::<3, 3> {
            parts: [Part::FIRST, Part::SECOND, Part::BOTH],
            ..World::free(&[0])
        }),
        holds("free, neighbours in a stripe", 18_495, 18, || World::<3, 2> {
            parts: [Part::FIRST, Part::SECOND],
            one_stripe: true,
            ..World::free(&[0, 2])
        }),
    ]
}

fn with_clocks() -> Vec<Case> {
    vec![
        holds("clocks, a crash, far proposals", 5_810_065, 23, || {
            World::<3, 2>::timed(&[0, 200], clocks())
        }),
        holds("clocks, a crash, old numbers back", 2_338_711, 23, || {
            World::<3, 2>::timed(&[0], Clocks { stale: true, ..clocks() })
        }),
        holds("clocks, a crash, extended, filled", 2_135_995, 28, || {
            let kept = Clocks { extensions: true, fills: true, ..right() };
            World::<3, 2>::timed(&[0], kept)
        }),
        holds("clocks, a crash, old numbers back, storage", 1_298_444, 27, || World::<3, 2> {
            storage: true,
            ..World::timed(&[0], Clocks { stale: true, ..right() })
        }),
        holds("clocks, a crash, an heir", 896_628, 28, || World::<3, 3> {
            parts: [Part::FIRST, Part::HEIR, Part::FIRST],
            ..World::timed(&[0], right())
        }),
        holds("clocks, no crash", 3_302_029, 31, || {
            World::<3, 3>::timed(&[0], Clocks { horizon: 2, ..calm() })
        }),
        holds("healed, a crash", 488_660, 26, || World::<3, 2> {
            form: HEAL,
            ..World::timed(&[0, 3], right())
        }),
    ]
}

fn of_cheaper_forms() -> Vec<Case> {
    vec![
        holds("blind RAISE, free", 93_438, 19, || World::<3, 2> {
            form: BLIND,
            again: 1,
            ..World::free(&[0, 2])
        }),
        holds("blind RAISE, a crash", 602_971, 24, || World::<3, 2> {
            form: BLIND,
            ..World::timed(&[0], right())
        }),
        holds("SET and HINCRBY, free", 80_423, 24, || World::<3, 2> {
            form: COUNT,
            ..World::free(&[0])
        }),
        holds("SET and HINCRBY, a crash", 1_777_417, 30, || World::<3, 2> {
            form: COUNT,
            ..World::timed(&[0], right())
        }),
        holds("SET with HINCRBY, clocks, a crash", 1_897_458, 24, || World::<3, 2> {
            form: Form { split: false, ..COUNT },
            ..World::timed(&[0], clocks())
        }),
        holds("SET and ZADD GT, free", 252_964, 24, || World::<3, 2> {
            form: NATIVE,
            ..World::free(&[1, 3])
        }),
        holds("SET with ZADD GT, a crash", 865_333, 23, || World::<3, 2> {
            form: Form { split: false, ..NATIVE },
            ..World::timed(&[], right())
        }),
    ]
}
