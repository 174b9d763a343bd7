//! The rules between files: who may use whom.

use super::Finding;
use super::source::Source;

/// From the bottom up: each may use only what stands before it.
const LAYERS: [&str; 7] = ["time", "resp", "redlock", "net", "engine", "client", "embedded"];

/// The layers to which time, randomness and bytes come from outside.
const CORE: [&str; 3] = ["time", "resp", "redlock"];

/// What the core must not see. Of `std::time` it may use the length of time, never the time.
const IMPURE: [&str; 9] = [
    "mio",
    "rustix",
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time",
];
const PURE: [&str; 1] = ["std::time::Duration"];

/// A test of the core may take its seed from the environment or read a corpus.
const FREE_IN_TESTS: [&str; 2] = ["std::env", "std::fs"];

pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let Some(rank) = rank(&source.path) else {
        return Vec::new();
    };
    let layer = LAYERS[rank];
    let mut findings = Vec::new();
    for (line, path) in paths(source) {
        let above =
            LAYERS[rank + 1..].iter().find(|above| begins(&path, &format!("crate::{above}")));
        if let Some(above) = above.filter(|_| !source.is_test()) {
            findings.push(Finding::new(line, format!("{layer} is below {above}: {path}")));
        }
        if CORE.contains(&layer) && is_impure(&path, source.is_test()) {
            findings.push(Finding::new(line, format!("{layer} must never know {path}")));
        }
    }
    findings
}

/// The place in [`LAYERS`] of a file of the library; `None` above all layers.
fn rank(path: &str) -> Option<usize> {
    let name = path.strip_prefix("src/")?.split('/').next()?;
    LAYERS.iter().position(|layer| name.strip_suffix(".rs").unwrap_or(name) == *layer)
}

fn is_impure(path: &str, in_test: bool) -> bool {
    let is = |list: &[&str]| list.iter().any(|known| begins(path, known));
    is(&IMPURE) && !is(&PURE) && !(in_test && is(&FREE_IN_TESTS))
}

/// Whether `path` is `prefix` or something inside it.
fn begins(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Every path in the code with its line, the trees of `use` taken apart.
fn paths(source: &Source) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    // The prefixes of the braces that are open: those of `use` trees, and none for blocks.
    let mut open: Vec<String> = Vec::new();
    let mut path = String::new();
    for (index, line) in source.code.iter().enumerate() {
        for c in line.chars().chain(['\n']) {
            if c.is_alphanumeric() || matches!(c, '_' | ':' | '*') {
                path.push(c);
                continue;
            }
            let prefix = open.last().map_or("", String::as_str);
            if c == '{' {
                // `std::{` opens a tree, in which a name without a prefix goes on.
                let tree = path.strip_suffix("::").map(|_| format!("{prefix}{path}"));
                open.push(tree.unwrap_or_default());
            } else if !path.is_empty() {
                paths.push((index + 1, full(prefix, &path)));
            }
            if c == '}' {
                open.pop();
            }
            path.clear();
        }
    }
    paths
}

/// `std::` and `net::TcpStream` make one path; `self` and `*` stand for the prefix itself.
fn full(prefix: &str, path: &str) -> String {
    let joined = format!("{prefix}{}", path.trim_start_matches(':'));
    let joined = joined.trim_end_matches("::*").trim_end_matches("::self");
    joined.trim_end_matches(':').to_owned()
}
