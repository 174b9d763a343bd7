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
}

fn cases() -> [Case; 9] {
    let whole = |name, replies, least| Case { name, replies, piece: usize::MAX, least };
    let bytewise = |name, replies| Case { name, replies, piece: 1, least: AHEAD };
    let many = |input: fn() -> inputs::Input| repeated(input().replies);
    [
        whole("locks one by one", one_by_one(MANY), LEAST),
        whole("locks in groups", in_groups(MANY / GROUP), LEAST),
        whole("500 bulks", many(|| bulks(500)), AHEAD),
        whole("nested last", many(nested_last), AHEAD),
        whole("nested first", many(nested_first), AHEAD),
        whole("table", many(|| table(50)), AHEAD),
        bytewise("bytewise: locks", one_by_one(MANY / 64)),
        bytewise("bytewise: 50 bulks", bulks(50).replies),
        bytewise("bytewise: nested", nested_first().replies),
    ]
}

/// Prints the ratios.
///
/// # Panics
///
/// Panics if a promised ratio is not reached.
pub(crate) fn check() {
    println!("times as long as redbolt by its tokens, medians of {ROUNDS} rounds:");
    println!("{:<20} elements redis-protocol redis-rs naive", "");
    for Case { name, replies, piece, least } in cases() {
        let mut ratios = [const { Vec::new() }; 4];
        for _ in 0..ROUNDS {
            let ours = time::<RedboltTokens>(&replies, piece);
            let theirs = [
                time::<Redbolt>(&replies, piece),
                time::<Peer2>(&replies, piece),
                time::<RedisRs>(&replies, piece),
                time::<Naive>(&replies, piece),
            ];
            for (ratios, time) in ratios.iter_mut().zip(theirs) {
                ratios.push(time.as_secs_f64() / ours.as_secs_f64());
            }
        }
        let [elements, peer, redis_rs, naive] = ratios.map(median);
        println!("{name:<20} {elements:>8.2} {peer:>14.1} {redis_rs:>8.1} {naive:>5.1}");
        // The engine reads the replies to locks by their elements.
        let ours = if least > AHEAD { elements } else { 1.0 };
        assert!(peer / ours >= least, "{:.2} is less than {least}", peer / ours);
        assert!(redis_rs / ours >= AHEAD, "{:.2} is less than {AHEAD}", redis_rs / ours);
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
