//! The order of the crate's layers: each uses only those below.

use super::Finding;
use super::modules::Arrow;

/// From the bottom up. `lib.rs` stands above all of them.
const LAYERS: [&str; 8] =
    ["quote", "time", "resp", "redlock", "net", "engine", "client", "embedded"];

/// The layer of a file of the library: its folder below `src`, or its name there.
pub(crate) fn layer(file: &str) -> Option<&str> {
    let name = file.strip_prefix("src/")?.split('/').next()?;
    Some(name.strip_suffix(".rs").unwrap_or(name))
}

/// The layer of a file, and the place of the layer from the bottom up.
fn place(file: &str) -> Option<(&str, usize)> {
    let layer = layer(file)?;
    let rank = LAYERS.iter().position(|known| *known == layer);
    Some((layer, rank.unwrap_or(LAYERS.len())))
}

/// The arrows that go up, by file.
pub(crate) fn check(arrows: &[Arrow]) -> Vec<(String, Finding)> {
    upward(arrows, place)
}

/// The arrows between two places of which the first is lower.
pub(crate) fn upward(
    arrows: &[Arrow],
    place: impl Fn(&str) -> Option<(&str, usize)>,
) -> Vec<(String, Finding)> {
    let mut findings = Vec::new();
    for arrow in arrows {
        let (Some((below, low)), Some((above, high))) = (place(&arrow.from), place(&arrow.to))
        else {
            continue;
        };
        if low < high {
            let what = format!("{below} is below {above}: {} is in {}", arrow.path, arrow.to);
            findings.push((arrow.from.clone(), Finding::new(arrow.line, what)));
        }
    }
    findings
}
