//! What the run says, in a sentence and a few figures.

use super::markup::{change, escaped, figure, figure_or_absent};
use crate::bench::run::{Level, Run};

pub(super) fn section(run: &Run) -> String {
    let nodes = run.nodes.len();
    let plural = if nodes == 1 { "" } else { "s" };
    let mut out = format!(
        "<h1>redbolt bench: {nodes} node{plural}, {}</h1>\n\
         <p class=\"soft\">{}, redbolt {}{}</p>\n",
        escaped(&run.servers),
        escaped(&run.started_at),
        escaped(&run.redbolt.version),
        run.redbolt
            .commit
            .as_ref()
            .map_or_else(String::new, |commit| { format!(", commit {}", escaped(commit)) }),
    );
    out += &format!("<p class=\"verdict\">{}</p>\n", escaped(&run.verdict.text));
    if let Some(level) = level_to_show(run) {
        out += &tiles(run, level);
    }
    format!("<header>\n{out}</header>\n")
}

/// The level that the page shows first: the knee, or else the one with the most cycles a second.
pub(super) fn level_to_show(run: &Run) -> Option<&Level> {
    let knee = run.verdict.knee.and_then(|index| run.levels.get(index));
    let by_rate = |one: &&Level, other: &&Level| one.cycles_per_s.total_cmp(&other.cycles_per_s);
    knee.or_else(|| run.levels.iter().max_by(by_rate))
}

/// Returns the load of a level in words.
pub(super) fn load(level: &Level) -> String {
    match level.offered_per_s {
        Some(rate) => format!("{} starts a second", figure(rate.into())),
        None => format!("{} in flight", figure(level.in_flight as f64)),
    }
}

fn tiles(run: &Run, level: &Level) -> String {
    let mut tiles = vec![
        ("cycles a second".to_owned(), figure(level.cycles_per_s)),
        ("acquire p50, µs".to_owned(), figure_or_absent(level.acquire_p50_us)),
        ("acquire p99, µs".to_owned(), figure_or_absent(level.acquire_p99_us)),
        ("acquire p99.9, µs".to_owned(), figure_or_absent(level.acquire_p999_us)),
        ("client CPU per cycle, µs".to_owned(), figure_or_absent(level.client_cpu_us_per_cycle)),
        ("servers' CPU per cycle, µs".to_owned(), figure_or_absent(level.servers_cpu_us_per_cycle)),
        ("failed".to_owned(), figure(level.failed as f64)),
    ];
    if let Some(saturated) = run.verdict.saturated {
        tiles.push(("saturated".to_owned(), escaped(&saturated.to_string())));
    }
    if let Some(baseline) = &run.baseline {
        let worse = baseline.metrics.iter().filter(|metric| metric.is_worse).count();
        let text = if worse > 0 { format!("{worse} worse") } else { "nothing worse".to_owned() };
        let tolerance = change(baseline.tolerance);
        let tolerance = tolerance.trim_start_matches('+');
        tiles.push((format!("beside the earlier run, {tolerance} tolerated"), text));
    }
    let tile = |(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n");
    let tiles: String = tiles.into_iter().map(tile).collect();
    let what = if run.verdict.knee.is_some() { "At the knee" } else { "At the highest rate" };
    format!("<h3>{what}: {}</h3>\n<dl class=\"tiles\">\n{tiles}</dl>\n", load(level))
}
