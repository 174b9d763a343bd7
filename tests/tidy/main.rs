//! The house rules that neither rustfmt nor clippy knows, checked over all sources.
//!
//! - lines of at most 100 columns, functions of at most 70 lines;
//! - a folder's `mod.rs` opens with module documentation;
//! - layers use only layers below them, and the core sees no clock, socket, thread or environment;
//! - in `src`, `.unwrap()` and `.expect(…)` outside tests are explained by a comment;
//! - nothing unfinished and no test switched off.
//!
//! The checks are textual: [`source`] blanks out comments and literals, [`rules`] and [`layers`]
//! look at the rest. Each rule has a text that breaks it in [`tests`], because a rule which never
//! fires looks exactly like a clean tree.

mod layers;
mod rules;
mod source;
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use source::Source;

/// Where sources are looked for, below the root of the repository; absent ones are skipped.
const FOLDERS: [&str; 5] = ["src", "tests", "benches", "examples", "fuzz"];

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// Counted from 1.
    line: usize,
    what: String,
}

impl Finding {
    fn new(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }
}

#[test]
fn the_sources_are_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> =
        FOLDERS.iter().flat_map(|folder| rust_files(root.join(folder))).collect();
    files.sort();
    assert!(files.iter().any(|file| file.ends_with("src/lib.rs")), "the sources are not there");
    let mut report = String::new();
    for file in files {
        let path = file.strip_prefix(root).expect("found below the root").to_string_lossy();
        let text = fs::read_to_string(&file).expect("a source is readable text");
        for Finding { line, what } in rules::check(&Source::new(&path, &text)) {
            report += &format!("{path}:{line}: {what}\n");
        }
    }
    assert!(report.is_empty(), "these lines break a rule of the house:\n{report}");
}

/// All Rust files below a folder, without what a nested workspace has built.
fn rust_files(folder: PathBuf) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let entry = entry.expect("a folder can be read to its end");
            let kind = entry.file_type().expect("an entry has a type");
            if kind.is_dir() && entry.file_name() != "target" {
                folders.push(entry.path());
            } else if kind.is_file() && entry.path().extension().is_some_and(|ext| ext == "rs") {
                files.push(entry.path());
            }
        }
    }
    files
}
