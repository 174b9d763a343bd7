//! The comparisons between parsers, and how the parsers are measured. `fuzz/hiredis` has the same.

use std::hint::black_box;
use std::time::Duration;

use redbolt::Clock;

use crate::inputs::{Input, bulks, nested_first, nested_last, table};
use crate::reading::Reader;
use crate::replies::{GROUP, Replies, in_groups, one_by_one};

/// Enough replies that the branch predictor cannot learn them; a few thousand are soon learned, and
/// no connection says the same thing twice.
pub(crate) const MANY: usize = 64_000;

/// How many bytes a measurement reads: enough for about a millisecond.
const BYTES: usize = 400_000;

/// Measurements of each decoder. The decoders take turns, so that other work on the machine meets
/// all of them.
pub(crate) const ROUNDS: usize = 41;

/// One comparison.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) replies: Replies,
    pub(crate) piece: usize,
    /// Whether the replies are those to locks, for which the parser is made.
    pub(crate) is_for_locks: bool,
    /// Whether ours is by its tokens, as nested replies are best read, or by its elements.
    pub(crate) by_tokens: bool,
}

pub(crate) fn all() -> [Case; 9] {
    let case = |name, replies, piece, is_for_locks, by_tokens| Case {
        name,
        replies,
        piece,
        is_for_locks,
        by_tokens,
    };
    let locks = |name, replies| case(name, replies, usize::MAX, true, false);
    let whole = |name, replies| case(name, replies, usize::MAX, false, true);
    let bytewise = |name, replies, by_tokens| case(name, replies, 1, false, by_tokens);
    let many = |input: fn() -> Input| repeated(input().replies);
    [
        locks("locks one by one", one_by_one(MANY)),
        locks("locks in groups", in_groups(MANY / GROUP)),
        case("500 bulks", many(|| bulks(500)), usize::MAX, false, false),
        whole("nested last", many(nested_last)),
        whole("nested first", many(nested_first)),
        whole("table", many(|| table(50))),
        bytewise("bytewise: locks", one_by_one(MANY / 64), false),
        bytewise("bytewise: 50 bulks", bulks(50).replies, false),
        bytewise("bytewise: nested", nested_first().replies, true),
    ]
}

/// Returns these replies so often that a measurement has enough bytes.
fn repeated(replies: Replies) -> Replies {
    let times = BYTES.div_ceil(replies.bytes.len());
    let mut all = Replies::new();
    (0..times).for_each(|_| all.push(&replies.bytes, replies.mark));
    all
}

/// Returns how long a reader takes for the replies, in pieces of this size.
pub(crate) fn time<R: Reader>(replies: &Replies, piece: usize) -> Duration {
    let start = Clock::now();
    assert_eq!(R::read(black_box(&replies.bytes), piece), replies.mark);
    Clock::now() - start
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
