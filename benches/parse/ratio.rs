//! The promised comparisons: how much faster our parser reads than its peers.

use std::hint::black_box;
use std::time::Duration;

use redbolt::Clock;

use crate::inputs::{bulks, nested_first, nested_last, table};
use crate::naive::Naive;
use crate::peer::Peer2;
use crate::reading::{Reader, Redbolt, RedboltTokens};
use crate::redis_rs::RedisRs;
use crate::replies::{GROUP, Replies, in_groups, one_by_one};
use crate::{MANY, inputs};

/// How many times as long as ours `redis-protocol` must take for lock replies, at least.
const LEAST: f64 = 3.0;

/// The same for everything else, and for `redis-rs`: ours must be ahead.
const AHEAD: f64 = 1.0;

/// Measurements of each decoder. The decoders take turns, so that other work on the machine meets
/// all of them.
const ROUNDS: usize = 41;

/// How many bytes a measurement reads: enough for about a millisecond.
const BYTES: usize = 400_000;

/// One comparison.
struct Case {
    name: &'static str,
    replies: Replies,
    piece: usize,
    least: f64,
    /// Whether ours is by its tokens, as nested replies are best read, or by its elements.
    by_tokens: bool,
}

fn cases() -> [Case; 9] {
    let case =
        |name, replies, piece, least, by_tokens| Case { name, replies, piece, least, by_tokens };
    let locks = |name, replies| case(name, replies, usize::MAX, LEAST, false);
    let whole = |name, replies| case(name, replies, usize::MAX, AHEAD, true);
    let bytewise = |name, replies, by_tokens| case(name, replies, 1, AHEAD, by_tokens);
    let many = |input: fn() -> inputs::Input| repeated(input().replies);
    [
        locks("locks one by one", one_by_one(MANY)),
        locks("locks in groups", in_groups(MANY / GROUP)),
        case("500 bulks", many(|| bulks(500)), usize::MAX, AHEAD, false),
        whole("nested last", many(nested_last)),
        whole("nested first", many(nested_first)),
        whole("table", many(|| table(50))),
        bytewise("bytewise: locks", one_by_one(MANY / 64), false),
        bytewise("bytewise: 50 bulks", bulks(50).replies, false),
        bytewise("bytewise: nested", nested_first().replies, true),
    ]
}

/// Prints the ratios.
///
/// # Panics
///
/// Panics if a promised ratio is not reached.
pub(crate) fn check() {
    println!("times as long as redbolt, medians of {ROUNDS} rounds:");
    println!("{:<20} redis-protocol redis-rs naive elements tokens", "");
    for case in cases() {
        let Case { name, ref replies, piece, least, by_tokens } = case;
        let mut ratios = [const { Vec::new() }; 5];
        for _ in 0..ROUNDS {
            let ours = [time::<Redbolt>(replies, piece), time::<RedboltTokens>(replies, piece)];
            let times = [
                time::<Peer2>(replies, piece),
                time::<RedisRs>(replies, piece),
                time::<Naive>(replies, piece),
                ours[0],
                ours[1],
            ];
            let ours = ours[usize::from(by_tokens)];
            for (ratios, time) in ratios.iter_mut().zip(times) {
                ratios.push(time.as_secs_f64() / ours.as_secs_f64());
            }
        }
        let [peer, redis_rs, naive, elements, tokens] = ratios.map(median);
        println!(
            "{name:<20} {peer:>14.1} {redis_rs:>8.1} {naive:>5.1} {elements:>8.2} {tokens:>6.2}"
        );
        assert!(peer >= least, "{peer:.2} is less than {least}");
        assert!(redis_rs >= AHEAD, "{redis_rs:.2} is less than {AHEAD}");
    }
}

/// Returns these replies so often that a measurement has enough bytes.
fn repeated(replies: Replies) -> Replies {
    let times = BYTES.div_ceil(replies.bytes.len());
    let mut all = Replies::new();
    (0..times).for_each(|_| all.push(&replies.bytes, replies.mark));
    all
}

fn time<R: Reader>(replies: &Replies, piece: usize) -> Duration {
    let start = Clock::now();
    assert_eq!(R::read(black_box(&replies.bytes), piece), replies.mark);
    Clock::now() - start
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
