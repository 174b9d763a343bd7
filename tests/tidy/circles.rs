//! Files that import each other in a circle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::modules::Arrow;

/// For each file, the files that the file uses.
type Uses<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// For every file in a circle the smallest circle through the file, the smallest ones first.
///
/// A circle reads `a.rs -> b.rs -> a.rs`, with the imports below.
pub(crate) fn check(arrows: &[Arrow]) -> Vec<String> {
    let mut uses = Uses::new();
    for arrow in arrows {
        uses.entry(&arrow.from).or_default().insert(&arrow.to);
    }
    let circles: BTreeSet<_> = uses
        .keys()
        .filter_map(|start| smallest(&uses, start))
        .map(|circle| (circle.len(), from_first(circle)))
        .collect();
    circles.into_iter().map(|(_, circle)| describe(&circle, arrows)).collect()
}

/// The files of the smallest circle through `start`, each once.
fn smallest<'a>(uses: &Uses<'a>, start: &'a str) -> Option<Vec<&'a str>> {
    // The file from which each file was reached, by the shortest way.
    let mut reached_from = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(file) = next.pop_front() {
        for &used in uses.get(file).into_iter().flatten() {
            if used == start {
                let back = |&file: &&'a str| reached_from.get(file).copied();
                let mut circle: Vec<_> = std::iter::successors(Some(file), back).collect();
                circle.reverse();
                return Some(circle);
            }
            reached_from.entry(used).or_insert_with(|| {
                next.push_back(used);
                file
            });
        }
    }
    None
}

/// Turns a circle until the alphabetically first file leads: a circle has no other beginning.
fn from_first(mut circle: Vec<&str>) -> Vec<&str> {
    let first = (0..circle.len()).min_by_key(|&index| circle[index]).unwrap_or(0);
    circle.rotate_left(first);
    circle
}

fn describe(circle: &[&str], arrows: &[Arrow]) -> String {
    let closed: Vec<_> = circle.iter().chain(circle.first()).copied().collect();
    let mut text = closed.join(" -> ");
    for pair in closed.windows(2) {
        for arrow in arrows.iter().filter(|arrow| [&*arrow.from, &*arrow.to] == *pair) {
            text += &format!("\n    {}:{}: {}", arrow.from, arrow.line, arrow.path);
        }
    }
    text
}
