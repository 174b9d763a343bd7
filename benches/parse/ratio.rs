//! The promised comparisons: how much faster our parser reads than its peers.

use crate::cases::{self, Case, ROUNDS, median, time};
use crate::naive::Naive;
use crate::peer::Peer2;
use crate::reading::{Redbolt, RedboltTokens};
use crate::redis_rs::RedisRs;

/// How many times as long as ours `redis-protocol` must take for lock replies, at least.
const LEAST: f64 = 3.0;

/// The same for everything else, and for `redis-rs`: ours must be ahead.
const AHEAD: f64 = 1.0;

/// Prints the ratios.
///
/// # Panics
///
/// Panics if a promised ratio is not reached.
pub(crate) fn check() {
    println!("times as long as redbolt, medians of {ROUNDS} rounds:");
    println!("{:<20} redis-protocol redis-rs naive elements tokens", "");
    for case in cases::all() {
        let Case { name, ref replies, piece, is_for_locks, by_tokens } = case;
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
        let least = if is_for_locks { LEAST } else { AHEAD };
        assert!(peer >= least, "{peer:.2} is less than {least}");
        assert!(redis_rs >= AHEAD, "{redis_rs:.2} is less than {AHEAD}");
    }
}
