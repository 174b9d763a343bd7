//! The house rules that neither rustfmt nor clippy knows, checked over all sources.
//!
//! - lines of at most 100 columns, functions of at most 70 lines, files of the core of at most 400;
//! - a folder's `mod.rs` opens with module documentation;
//! - layers use only layers below them, and the core sees no clock, socket, thread or environment;
//! - files of `src` do not import each other in a circle;
//! - rooms of `src/redlock` use only rooms below them, and its `mod.rs` has no items of its own;
//! - in `src`, `.unwrap()` and `.expect(…)` outside tests are explained by a comment;
//! - nothing unfinished and no test switched off.
//!
//! The checks are textual. [`source`] blanks out comments and literals. [`rules`] and [`purity`]
//! look at one file at a time. [`paths`] reads the paths and items of a file, [`modules`] draws the
//! arrows between files from them, and [`layers`], [`rooms`] and [`circles`] look at the arrows.
//!
//! Each rule has a text that breaks it in [`tests`], because a rule which never fires looks exactly
//! like a clean tree.

mod circles;
mod layers;
mod modules;
mod paths;
mod purity;
mod rooms;
mod rules;
mod source;
mod tests;
mod tokens;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use modules::Modules;
use source::Source;

/// Where sources are looked for, below the root of the repository; absent ones are skipped.
const FOLDERS: [&str; 5] = ["src", "tests", "benches", "examples", "fuzz"];

/// Every Rust source of the repository, in the order of the paths.
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read_sources);

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
    let findings = SOURCES.iter().flat_map(|source| {
        rules::check(source).into_iter().map(|finding| (source.path.clone(), finding))
    });
    report("these lines break a rule of the house", findings);
}

#[test]
fn layers_use_only_layers_below() {
    let arrows = Modules::new(&SOURCES).arrows();
    assert!(arrows.iter().any(|arrow| arrow.to == "src/time.rs"), "no arrows: nothing resolves");
    report("these lines import from a layer above", layers::check(&arrows));
}

#[test]
fn rooms_use_only_rooms_below() {
    let findings = rooms::check(&SOURCES, &Modules::new(&SOURCES).arrows());
    report("these lines break the order of the rooms of src/redlock", findings);
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let circles = circles::check(&Modules::new(&SOURCES).arrows());
    assert!(circles.is_empty(), "files import each other in a circle:\n{}", circles.join("\n"));
}

/// Fails with a line per finding, each found in the file beside it.
fn report(title: &str, findings: impl IntoIterator<Item = (String, Finding)>) {
    let findings = findings.into_iter();
    let lines = findings.map(|(path, Finding { line, what })| format!("{path}:{line}: {what}\n"));
    let lines: String = lines.collect();
    assert!(lines.is_empty(), "{title}:\n{lines}");
}

fn read_sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = FOLDERS.iter().flat_map(|folder| rust_files(root.join(folder)));
    let mut sources: Vec<_> = files
        .map(|file| {
            let path = file.strip_prefix(root).expect("found below the root").to_string_lossy();
            Source::new(&path, &fs::read_to_string(&file).expect("a source is readable text"))
        })
        .collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(sources.iter().any(|source| source.path == "src/lib.rs"), "the sources are not there");
    sources
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
