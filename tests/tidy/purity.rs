//! The core sees no clock, socket, thread or environment.

use super::Finding;
use super::layers;
use super::paths::names;
use super::source::Source;

/// The layers to which time, randomness and bytes come from outside.
const CORE: [&str; 3] = ["time", "resp", "redlock"];

/// What the core must not see. Of `std::time` only the length of time is allowed.
const IMPURE: [&str; 10] = [
    "mio",
    "nix",
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

/// The layers that need no standard library: `core` and `alloc` do.
const WITHOUT_STD: [&str; 2] = ["time", "resp"];

/// A test of the core may take its seed from the environment or read a corpus.
const FREE_IN_TESTS: [&str; 2] = ["std::env", "std::fs"];

pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let Some(layer) = core_layer(&source.path) else { return Vec::new() };
    let mut findings = Vec::new();
    for path in names(&source.code).paths {
        let text = path.segments.join("::");
        let in_test = source.is_test() || path.line > source.end_of_code();
        let needs_std = WITHOUT_STD.contains(&layer) && !in_test && begins(&text, "std");
        if needs_std || is_impure(&text, source.is_test()) {
            findings.push(Finding::new(path.line, format!("{layer} must never know {text}")));
        }
    }
    findings.dedup_by_key(|finding| finding.line);
    findings
}

/// The layer of a file that belongs to the core, the tests there included.
pub(crate) fn core_layer(path: &str) -> Option<&str> {
    layers::layer(path).filter(|layer| CORE.contains(layer))
}

fn is_impure(path: &str, in_test: bool) -> bool {
    let is = |list: &[&str]| list.iter().any(|known| begins(path, known));
    is(&IMPURE) && !is(&PURE) && !(in_test && is(&FREE_IN_TESTS))
}

/// Whether `path` is `prefix` or something inside it.
fn begins(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}
