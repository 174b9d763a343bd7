//! What the run says, in a sentence and a few figures.

use super::markup::{change, count, escaped, figure, figure_or_absent};
use crate::bench::out::levels::unsteady;
use crate::bench::run::{Level, Run};

/// The load of locks that are only kept alive.
const KEPT: &str = "keep_alive";

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
    out += &doubt(run);
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
pub(super) fn load(run: &Run, level: &Level) -> String {
    match level.offered_per_s {
        Some(rate) => format!("{} starts a second", figure(rate.into())),
        None => format!("{} {}", figure(level.in_flight as f64), unit(run)),
    }
}

/// Returns what a load without a rate is counted in.
pub(super) fn unit(run: &Run) -> &'static str {
    match run.options.load.as_str() {
        "threads" => "threads",
        "tasks" => "tasks",
        KEPT => "locks kept alive",
        _ => "in flight",
    }
}

/// Returns how sure the figures are, where rounds differ much.
fn doubt(run: &Run) -> String {
    let Some(spread) = unsteady(run) else { return String::new() };
    format!(
        "<p>Rounds of one load differ by up to {} %, too much to be sure: does something else run \
         on this machine?</p>\n",
        count(spread.round() as u64)
    )
}

fn tiles(run: &Run, level: &Level) -> String {
    let kept = run.steps.iter().rev().find_map(|step| step.kept.as_ref());
    let kept = kept.filter(|_| run.options.load == KEPT);
    let mut tiles = match kept {
        Some(kept) => [("held", kept.held), ("extended", kept.extended), ("lost", kept.lost)]
            .map(|(name, number)| (name.to_owned(), count(number)))
            .to_vec(),
        None => vec![("cycles a second".to_owned(), figure(level.cycles_per_s))],
    };
    tiles.extend([
        ("acquire p50, µs".to_owned(), figure_or_absent(level.acquire_p50_us)),
        ("acquire p99, µs".to_owned(), figure_or_absent(level.acquire_p99_us)),
        ("acquire p99.9, µs".to_owned(), figure_or_absent(level.acquire_p999_us)),
    ]);
    tiles.extend(match kept {
        Some(_) => vec![("client CPU, %".to_owned(), figure(level.client_cpu_percent))],
        None => {
            let [client, servers] = [level.client_cpu_us_per_cycle, level.servers_cpu_us_per_cycle];
            vec![
                ("client CPU per cycle, µs".to_owned(), figure_or_absent(client)),
                ("servers' CPU per cycle, µs".to_owned(), figure_or_absent(servers)),
            ]
        }
    });
    tiles.push(("failed".to_owned(), figure(level.failed as f64)));
    if let Some(saturated) = run.verdict.saturated {
        tiles.push(("saturated".to_owned(), escaped(&saturated.to_string())));
    }
    if let Some(baseline) = &run.baseline {
        let worse = baseline.metrics.iter().filter(|metric| metric.is_worse).count();
        let text = match worse {
            0 if baseline.may_be_worse() => "not sure".to_owned(),
            0 => "nothing worse".to_owned(),
            worse => format!("{worse} worse"),
        };
        let tolerance = change(baseline.tolerance);
        let tolerance = tolerance.trim_start_matches('+');
        tiles.push((format!("beside the earlier run, {tolerance} tolerated"), text));
    }
    let tile = |(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n");
    let tiles: String = tiles.into_iter().map(tile).collect();
    let what = match run.verdict.knee {
        Some(_) => "At the knee: ",
        None if run.levels.len() > 1 => "At the highest throughput: ",
        None => "",
    };
    format!("<h3>{what}{}</h3>\n<dl class=\"tiles\">\n{tiles}</dl>\n", load(run, level))
}
