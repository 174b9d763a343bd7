//! Writing requests: the commands for a lock, beside the simplest way to write them.
//!
//! Every iteration compares the bytes with the expected ones.

use std::hint::black_box;
use std::io::Write;
use std::time::Duration;

use bytes::BytesMut;
use criterion::{BenchmarkId, Criterion, Throughput};
use redbolt::redlock::RELEASE_MANY;
use redbolt::resp;

const TOKEN: &[u8] = b"twenty bytes in all!";

/// How many locks one script call releases.
const GROUP: usize = 64;

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for len in [1, 16, 256, 4096] {
        let resource = vec![b'r'; len];
        let words = [b"SET", &resource[..], TOKEN, b"NX", b"PX", b"30000"];
        bench(&mut criterion, "encode/acquire", len, &words);
    }
    let resources: Vec<_> = (0..GROUP).map(|number| format!("order-{number:018}")).collect();
    let mut words = vec![b"EVALSHA", RELEASE_MANY.sha.as_bytes(), b"64"];
    words.extend(resources.iter().map(|resource| resource.as_bytes()));
    words.extend([TOKEN; GROUP]);
    bench(&mut criterion, "encode/release", GROUP, &words);
    criterion.final_summary();
}

fn bench(criterion: &mut Criterion, name: &str, size: usize, words: &[&[u8]]) {
    let mut expected = Vec::new();
    naive(&mut expected, words);
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(expected.len() as u64));
    group.bench_function(BenchmarkId::new("redbolt", size), |bencher| {
        let mut out = BytesMut::new();
        bencher.iter(|| {
            out.clear();
            resp::command(&mut out, black_box(words));
            assert_eq!(out, expected);
        });
    });
    group.bench_function(BenchmarkId::new("naive", size), |bencher| {
        let mut out = Vec::new();
        bencher.iter(|| {
            out.clear();
            naive(&mut out, black_box(words));
            assert_eq!(out, expected);
        });
    });
}

fn naive(out: &mut Vec<u8>, words: &[&[u8]]) {
    let done = "a vector takes everything";
    write!(out, "*{}\r\n", words.len()).expect(done);
    for word in words {
        write!(out, "${}\r\n", word.len()).expect(done);
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}
