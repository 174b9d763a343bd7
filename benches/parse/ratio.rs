//! The one promised comparison: how much faster our parser reads pipelined replies to locks.

use std::hint::black_box;
use std::time::Duration;

use redbolt::Clock;

use crate::MANY;
use crate::naive::Naive;
use crate::peer::Peer2;
use crate::reading::{Decoder, Redbolt, read};
use crate::replies::{GROUP, Replies, in_groups, one_by_one};

/// How many times as long as ours `redis-protocol` must take, at least.
const LEAST: f64 = 3.0;

/// Measurements of each decoder. The decoders take turns, so that other work on the machine meets
/// all of them.
const ROUNDS: usize = 101;

/// How often a measurement reads all replies: enough for about a millisecond.
const PASSES: usize = 2;

/// Prints the ratios.
///
/// # Panics
///
/// Panics if a promised ratio is not reached.
pub(crate) fn check() {
    for (name, replies) in
        [("one by one", one_by_one(MANY)), ("in groups", in_groups(MANY / GROUP))]
    {
        let mut ratios = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            let ours = time::<Redbolt>(&replies, PASSES);
            let theirs = [time::<Peer2>(&replies, PASSES), time::<Naive>(&replies, PASSES)];
            for (ratios, time) in ratios.iter_mut().zip(theirs) {
                ratios.push(time.as_secs_f64() / ours.as_secs_f64());
            }
        }
        let [peer, naive] = ratios.map(median);
        println!(
            "locks {name}: redis-protocol takes {peer:.1}, the naive one {naive:.1} times as long"
        );
        assert!(peer >= LEAST, "{peer:.2} is less than {LEAST}");
    }
}

fn time<D: Decoder>(replies: &Replies, passes: usize) -> Duration {
    let start = Clock::now();
    for _ in 0..passes {
        let bytes = black_box(&replies.bytes);
        assert_eq!(read::<D>(bytes, bytes.len()), replies.mark);
    }
    Clock::now() - start
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
