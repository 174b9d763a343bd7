//! Our parser beside the decoders of `redis-protocol` and `redis-rs` and a naive one, on the same
//! bytes.
//!
//! Each decoder reads replies to the end and looks at every value. Every iteration asserts that all
//! decoders see the same. `redis-protocol` is used in its cheapest form. Ours takes part twice: by
//! `Elements`, level by level, and by `Tokens`, all levels in one pass.

mod cases;
mod inputs;
mod naive;
mod peer;
mod ratio;
mod reading;
mod redis_rs;
#[path = "../common/replies.rs"]
mod replies;

use std::hint::black_box;
use std::time::Duration;

use cases::MANY;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use inputs::Input;
use naive::Naive;
use peer::{Peer2, Peer3};
use reading::{Reader, Redbolt, RedboltTokens};
use redis_rs::RedisRs;
use replies::{GROUP, Replies, in_groups, one_by_one};

/// The piece that the kernel hands over when a reply comes in segments of an Ethernet.
const SEGMENT: usize = 1448;

/// A piece so small that a long reply comes in many.
const SHARD: usize = 64;

/// A piece so small that nearly every reply to a lock is cut.
const SLIVER: usize = 7;

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    lock_replies(&mut criterion);
    every_kind(&mut criterion);
    in_pieces(&mut criterion);
    criterion.final_summary();
    // Without this argument the benches run as tests and measure nothing.
    if std::env::args().any(|arg| arg == "--bench") {
        ratio::check();
    }
}

/// Reads the replies for which the parser is made, in the form in which locks produce them.
fn lock_replies(criterion: &mut Criterion) {
    for (name, replies) in
        [("one by one", one_by_one(MANY)), ("in groups", in_groups(MANY / GROUP))]
    {
        let mut group = criterion.benchmark_group(format!("parse/locks {name}"));
        group.throughput(Throughput::Elements(replies.count as u64));
        let whole = replies.bytes.len();
        bench_all(&mut group, &replies, whole, Peers::ALL);
    }
}

fn every_kind(criterion: &mut Criterion) {
    for input in inputs::all() {
        let Input { kind, replies, resp3 } = &input;
        let mut group = criterion.benchmark_group(format!("parse/{kind}"));
        let whole = replies.bytes.len();
        group.throughput(Throughput::Bytes(whole as u64));
        let peers = Peers { resp3: *resp3, redis_rs: input.is_for_redis_rs() };
        bench_all(&mut group, replies, whole, peers);
    }
}

/// Reads replies that arrive cut. `redis-protocol` and the naive decoder begin anew with each
/// piece.
fn in_pieces(criterion: &mut Criterion) {
    let is_long = |input: &Input| input.replies.bytes.len() > 1000 && !input.resp3;
    for Input { kind, replies, .. } in inputs::all().into_iter().filter(is_long) {
        let mut group = criterion.benchmark_group(format!("split/{kind}"));
        group.throughput(Throughput::Bytes(replies.bytes.len() as u64));
        let peers = Peers { resp3: false, redis_rs: kind != "error" };
        bench_all(&mut group, &replies, SHARD, peers);
    }
    for piece in [SEGMENT, SLIVER, 1] {
        let replies = one_by_one(MANY);
        let mut group = criterion.benchmark_group("split/locks one by one");
        group.throughput(Throughput::Elements(replies.count as u64));
        bench_all(&mut group, &replies, piece, Peers::ALL);
    }
}

/// The peers that can read some replies.
#[derive(Clone, Copy)]
struct Peers {
    /// Whether `redis-protocol` needs its decoder of RESP3.
    resp3: bool,
    redis_rs: bool,
}

impl Peers {
    const ALL: Self = Self { resp3: false, redis_rs: true };
}

/// Reads the replies in pieces of this size with all decoders.
fn bench_all(
    group: &mut BenchmarkGroup<'_, WallTime>,
    replies: &Replies,
    piece: usize,
    peers: Peers,
) {
    bench::<Redbolt>(group, BenchmarkId::new("redbolt", piece), replies, piece);
    bench::<RedboltTokens>(group, BenchmarkId::new("redbolt tokens", piece), replies, piece);
    let peer = BenchmarkId::new("redis-protocol", piece);
    if peers.resp3 {
        bench::<Peer3>(group, peer, replies, piece);
    } else {
        bench::<Peer2>(group, peer, replies, piece);
    }
    if peers.redis_rs {
        bench::<RedisRs>(group, BenchmarkId::new("redis-rs", piece), replies, piece);
    }
    bench::<Naive>(group, BenchmarkId::new("naive", piece), replies, piece);
}

fn bench<R: Reader>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    replies: &Replies,
    piece: usize,
) {
    group.bench_function(id, |bencher| {
        bencher.iter(|| assert_eq!(R::read(black_box(&replies.bytes), piece), replies.mark));
    });
}
