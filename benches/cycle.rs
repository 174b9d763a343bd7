//! The core alone: what a lock costs in the process of its holder, without any socket.
//!
//! A cycle is an acquisition and a release over N nodes that all grant. One lock at a time shows
//! the cost for latency. 64 locks at a time, released with one script call, show the cost for
//! throughput.

#[path = "common/cycles.rs"]
mod cycles;
#[path = "common/rig.rs"]
mod rig;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use cycles::{Cycles, GROUP};

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    for in_flight in [1, GROUP] {
        let mut group = criterion.benchmark_group(format!("cycle/{in_flight} in flight"));
        group.throughput(Throughput::Elements(in_flight as u64));
        for nodes in [1, 3, 5, 7] {
            group.bench_function(BenchmarkId::new("nodes", nodes), |bencher| {
                let mut cycles = Cycles::new(nodes, in_flight);
                bencher.iter(|| assert_eq!(cycles.run(), in_flight));
            });
        }
    }
    criterion.final_summary();
}
