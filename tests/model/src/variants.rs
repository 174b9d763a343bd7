//! The broken forms, each with the step at which the checker must refute it.

use crate::proofs::{COUNT, HEAL, NATIVE, calm, clocks, right};
use crate::table::{Case, refuted};
use crate::world::{Clocks, Form, Part, World};

/// A rule that is broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// The largest number of a majority is handed out without being recorded.
    NoSecondTrip,
    /// A master that has a number as large says yes all the same.
    NotLargerIsYes,
    /// The largest number of a majority is recorded as it is, as a register is read.
    LargestAsItIs,
    /// The number in the middle of a majority is handed out.
    Median,
    /// The number of a master that refused the key counts.
    RefusedCount,
    /// Half of the masters are a majority.
    Half,
    /// The number lives with the key, and ends with it.
    NumberDiesWithKey,
    /// A master draws without a look at its clock.
    NoClock,
    /// A master looks at its clock only where it has no number at all.
    ClockOnlyIfBlank,
    /// A master that has crashed is asked at once.
    NoQuarantine,
    /// A lock is granted although its validity is over.
    LateGrant,
    /// The numbers of others are read for a blank master before the quarantine is served.
    HealTooSoon,
    /// A blank master is given the numbers of one other master.
    HealByOne,
    /// A proposal may be ahead of the master's clock by any distance.
    FarProposals,
    /// The number of a set is larger than that of the set's first stripe.
    OneStripeOfSet,
    /// The floor is the master's clock when it is back, not behind the quarantine.
    FloorTooSoon,
    /// A request to record a number goes to a master that has come back, and does not look at the
    /// key there.
    RaiseAnywhere,
    /// A number counts although it is below the floor.
    NoFloor,
    /// A new holder reads before it writes.
    ReadBeforeMark,
    /// The storage does not compare numbers.
    AnyWrite,
}

/// A broken world of three masters.
fn free<const A: usize>(broken: Broken) -> World<3, A> {
    World { broken: Some(broken), ..World::free(&[0, 2]) }
}

/// The same, in which one request can be executed a second time.
fn again(broken: Broken) -> World<3, 2> {
    World { again: 1, ..free(broken) }
}

/// The same, with clocks.
fn timed<const A: usize>(broken: Broken, clocks: Clocks) -> World<3, A> {
    World { broken: Some(broken), ..World::timed(&[0], clocks) }
}

/// Returns all broken forms.
pub fn all() -> Vec<Case> {
    use Broken as B;
    let mut all = of_the_numbers();
    all.extend(of_clocks());
    all.extend([
        refuted("a new holder reads before it writes", "storage", 10, || World {
            storage: true,
            ..free::<2>(B::ReadBeforeMark)
        }),
        refuted("the storage compares nothing", "storage", 10, || World {
            storage: true,
            ..free::<2>(B::AnyWrite)
        }),
    ]);
    all
}

fn of_the_numbers() -> Vec<Case> {
    use Broken as B;
    vec![
        refuted("the largest is handed out without RAISE", "uniqueness", 8, || {
            free::<3>(B::NoSecondTrip)
        }),
        refuted("not larger is a yes, a token set twice", "uniqueness", 12, || {
            again(B::NotLargerIsYes)
        }),
        refuted("the largest as it is, a token set twice", "uniqueness", 13, || {
            again(B::LargestAsItIs)
        }),
        refuted("the median is handed out", "uniqueness", 11, || free::<3>(B::Median)),
        refuted("refused masters count", "order", 15, || {
            timed::<3>(B::RefusedCount, Clocks { horizon: 0, ..calm() })
        }),
        refuted("half is a quorum", "order", 6, || free::<2>(B::Half)),
        refuted("the number dies with the key", "order", 8, || free::<2>(B::NumberDiesWithKey)),
        refuted("a set looks at one of its stripes", "order", 8, || World {
            parts: [Part::FIRST, Part::SECOND, Part::BOTH],
            ..free::<3>(B::OneStripeOfSet)
        }),
    ]
}

fn of_clocks() -> Vec<Case> {
    use Broken as B;
    vec![
        refuted("no clock in the script", "order", 11, || timed::<2>(B::NoClock, clocks())),
        refuted("the clock only where blank, old number back", "order", 13, || {
            timed::<2>(B::ClockOnlyIfBlank, Clocks { stale: true, ..clocks() })
        }),
        refuted("asked at once after a crash", "order", 9, || {
            timed::<2>(B::NoQuarantine, clocks())
        }),
        refuted("a late grant", "exclusion", 10, || timed::<2>(B::LateGrant, clocks())),
        refuted("clocks of masters too far apart", "order", 14, || World::<3, 2> {
            ..World::timed(&[0], Clocks { skew: 8, ..clocks() })
        }),
        refuted("proposals not cut to the clock", "order", 11, || World {
            proposals: &[0, 60],
            ..timed::<2>(B::FarProposals, clocks())
        }),
        refuted("numbers read before the quarantine is served", "order", 14, || World {
            form: HEAL,
            ..timed::<2>(B::HealTooSoon, right())
        }),
        refuted("numbers read from one master", "order", 13, || World {
            form: HEAL,
            ..timed::<2>(B::HealByOne, right())
        }),
        refuted("counted, the floor taken too soon", "order", 14, || World {
            form: Form { split: false, ..COUNT },
            ..timed::<2>(B::FloorTooSoon, clocks())
        }),
        refuted("counted, without a floor", "order", 14, || World {
            form: Form { split: false, ..COUNT },
            ..timed::<2>(B::NoFloor, clocks())
        }),
        refuted("native numbers, a blind RAISE anywhere", "order", 13, || World {
            form: Form { split: false, ..NATIVE },
            ..timed::<2>(B::RaiseAnywhere, right())
        }),
        refuted("native numbers, clocks too far apart", "order", 11, || World::<3, 2> {
            form: Form { split: false, ..NATIVE },
            ..World::timed(&[], Clocks { skew: 8, ..clocks() })
        }),
    ]
}
