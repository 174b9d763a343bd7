//! Our parser beside the decoder of `redis-protocol` and a naive one, on the same bytes.
//!
//! Each decoder reads replies to the end and looks at every value. Every iteration asserts that all
//! decoders see the same. `redis-protocol` is used in its cheapest form.

mod inputs;
mod naive;
mod peer;
mod ratio;
mod reading;
#[path = "../common/replies.rs"]
mod replies;

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use inputs::Input;
use naive::Naive;
use peer::{Peer2, Peer3};
use reading::{Decoder, Redbolt, read};
use replies::{GROUP, Replies, in_groups, one_by_one};

/// Enough replies that the branch predictor cannot learn them; a few thousand are soon learned, and
/// no connection says the same thing twice.
const MANY: usize = 64_000;

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
        bench_all(&mut group, &replies, whole, false);
    }
}

fn every_kind(criterion: &mut Criterion) {
    for Input { kind, replies, resp3 } in inputs::all() {
        let mut group = criterion.benchmark_group(format!("parse/{kind}"));
        let whole = replies.bytes.len();
        group.throughput(Throughput::Bytes(whole as u64));
        bench_all(&mut group, &replies, whole, resp3);
    }
}

/// Reads replies that arrive cut. The other two decoders begin anew with each piece.
fn in_pieces(criterion: &mut Criterion) {
    let is_long = |input: &Input| input.replies.bytes.len() > 1000 && !input.resp3;
    for Input { kind, replies, .. } in inputs::all().into_iter().filter(is_long) {
        let mut group = criterion.benchmark_group(format!("split/{kind}"));
        group.throughput(Throughput::Bytes(replies.bytes.len() as u64));
        bench_all(&mut group, &replies, SHARD, false);
    }
    for piece in [SEGMENT, SLIVER] {
        let replies = one_by_one(MANY);
        let mut group = criterion.benchmark_group("split/locks one by one");
        group.throughput(Throughput::Elements(replies.count as u64));
        bench_all(&mut group, &replies, piece, false);
    }
}

/// Reads the replies in pieces of this size with all three decoders.
fn bench_all(
    group: &mut BenchmarkGroup<'_, WallTime>,
    replies: &Replies,
    piece: usize,
    resp3: bool,
) {
    bench::<Redbolt>(group, BenchmarkId::new("redbolt", piece), replies, piece);
    let peer = BenchmarkId::new("redis-protocol", piece);
    if resp3 {
        bench::<Peer3>(group, peer, replies, piece);
    } else {
        bench::<Peer2>(group, peer, replies, piece);
    }
    bench::<Naive>(group, BenchmarkId::new("naive", piece), replies, piece);
}

fn bench<D: Decoder>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    replies: &Replies,
    piece: usize,
) {
    group.bench_function(id, |bencher| {
        bencher.iter(|| assert_eq!(read::<D>(black_box(&replies.bytes), piece), replies.mark));
    });
}
