//! The corpora of the fuzz targets, as an ordinary test: what was found once is not lost again.
//!
//! The same functions run under `fuzz/run.sh`, which goes on from here.

use std::fs;
use std::path::Path;

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is a crate of its own for the fuzzer")]
mod targets;

/// Runs a target over its files; there must be some.
fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let entries = fs::read_dir(&folder).expect("the target has a corpus");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() > 5, "the corpus of {name} has only {} files", files.len());
    for file in files {
        // The test runner shows it if the target panics.
        println!("{}", file.display());
        target(&fs::read(&file).expect("the file can be read"));
    }
}

#[test]
fn parse() {
    replay("parse", targets::parse);
}

#[test]
fn split() {
    replay("split", targets::split);
}

#[test]
fn roundtrip() {
    replay("roundtrip", targets::roundtrip);
}

#[test]
fn differential() {
    replay("differential", targets::differential);
}

#[test]
fn core() {
    replay("core", targets::core);
}

#[test]
fn handshake() {
    replay("handshake", targets::handshake);
}

#[test]
fn init() {
    replay("init", targets::init);
}

#[test]
fn addresses() {
    replay("addresses", targets::addresses);
}

#[test]
fn server() {
    replay("server", targets::server);
}

#[test]
fn engine() {
    replay("engine", targets::engine);
}

#[cfg(feature = "tls")]
#[test]
fn tls() {
    replay("tls", targets::tls);
}
