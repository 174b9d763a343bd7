//! Facts from the published tests of other clients and from specifications, as a table: bytes, and
//! what they mean. Our verdict on each is a test.

use redbolt::resp::{self, Status};

use crate::meaning::{self, Meaning};
use crate::notation;

/// The fewest facts that the table may have.
const LEAST: usize = 300;

/// A line of the table.
pub(crate) struct Vector {
    /// Who says so.
    pub(crate) sources: &'static str,
    /// The bytes as the table has them.
    pub(crate) input: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) meaning: &'static str,
    /// What redbolt makes of the bytes.
    pub(crate) ours: &'static str,
    /// Why parsers disagree: a word for `agreement.rs`, or `-`.
    pub(crate) why: &'static str,
}

pub(crate) fn all() -> Vec<Vector> {
    include_str!("vectors.txt").lines().filter(|line| !line.starts_with('#')).map(vector).collect()
}

fn vector(line: &'static str) -> Vector {
    let columns: Vec<&str> = line.split('\t').collect();
    let [sources, input, meaning, ours, why] = columns[..] else {
        panic!("a line has five columns: {line}");
    };
    let ours = if ours == "=" { meaning } else { ours };
    Vector { sources, input, bytes: notation::bytes(input), meaning, ours, why }
}

/// Reads all bytes with our parser.
fn ours(bytes: &[u8]) -> String {
    meaning::of_all(bytes, |rest| match resp::parse(rest) {
        Ok(Status::Complete((value, len))) => Ok(Some((Meaning::from(&value), len))),
        Ok(Status::Partial) => Ok(None),
        Err(_) => Err(()),
    })
}

#[test]
fn every_vector_means_what_the_table_says() {
    let vectors = all();
    assert!(vectors.len() >= LEAST, "{} vectors", vectors.len());
    for vector in &vectors {
        assert_eq!(ours(&vector.bytes), vector.ours, "{}", vector.input);
        assert!(vector.ours == vector.meaning || vector.why != "-", "{}", vector.input);
    }
}

#[test]
fn no_vector_is_there_twice() {
    let mut inputs: Vec<_> = all().into_iter().map(|vector| vector.bytes).collect();
    let count = inputs.len();
    inputs.sort_unstable();
    inputs.dedup();
    assert_eq!(inputs.len(), count);
}
