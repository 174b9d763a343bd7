//! What is compared: the committed corpora of all fuzz targets, and the vectors.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::notation;

/// Facts from the tests of other clients, bytes in the second column.
const VECTORS: &str = include_str!("../../../tests/resp/vectors.txt");

/// Returns all inputs with a name for each. No input is there twice.
///
/// # Panics
///
/// Panics if the corpora cannot be read.
pub(crate) fn all() -> Vec<(String, Vec<u8>)> {
    let mut names = BTreeMap::new();
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for folder in fs::read_dir(corpora).expect("the corpora are there").flatten() {
        // The notes are no folder, and one corpus is the name of another.
        if !folder.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        for file in fs::read_dir(folder.path()).expect("a corpus can be read").flatten() {
            let bytes = fs::read(file.path()).expect("a file can be read");
            names.insert(bytes, format!("{:?}", file.path()));
        }
    }
    for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
        let column = line.split('\t').nth(1).expect("a vector has bytes");
        names.insert(notation::bytes(column), format!("vector {column}"));
    }
    names.into_iter().map(|(bytes, name)| (name, bytes)).collect()
}
