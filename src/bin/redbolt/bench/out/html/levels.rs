//! The tables of all loads: what was done, and what it has cost.

use super::markup::{
    ABSENT, Cell, Row, change, count, escaped, figure, figure_or_absent, section as titled, table,
    yes,
};
use super::summary::unit;
use crate::bench::run::{Level, Run};

pub(super) fn section(run: &Run) -> String {
    if run.levels.is_empty() {
        return String::new();
    }
    let note = "<p class=\"soft\">Of several rounds, figures are medians; the spread is that of \
                the rate between the rounds. Latencies are those of acquiring a lock.</p>\n";
    let cost = "<h3>What the loads cost</h3>\n<p class=\"soft\">CPU is in percent of one \
                processor, and that of the machine in percent of all.</p>\n";
    let body = [note, &done(run), cost, &costs(run)];
    titled("All loads", &body.concat())
}

fn done(run: &Run) -> String {
    let titles = [
        "rounds",
        "cycles/s",
        "least",
        "most",
        "spread",
        "p50 µs",
        "p99 µs",
        "p99.9 µs",
        "max µs",
        "failed",
    ];
    tabled(run, &titles, |level| {
        let spread = (level.most_cycles_per_s - level.least_cycles_per_s) / level.cycles_per_s;
        let spread = if spread.is_finite() { change(spread) } else { ABSENT.to_owned() };
        let figures = [
            count(level.rounds.into()),
            figure(level.cycles_per_s),
            figure(level.least_cycles_per_s),
            figure(level.most_cycles_per_s),
            spread.trim_start_matches('+').to_owned(),
            figure_or_absent(level.acquire_p50_us),
            figure_or_absent(level.acquire_p99_us),
            figure_or_absent(level.acquire_p999_us),
            figure_or_absent(level.acquire_max_us),
            count(level.failed),
        ];
        figures.into_iter().map(Cell::Figure).collect()
    })
}

fn costs(run: &Run) -> String {
    let titles = [
        "client CPU",
        "busiest server",
        "machine",
        "of that client and servers",
        "client µs/cycle",
        "servers µs/cycle",
        "saturated",
    ];
    tabled(run, &titles, |level| {
        let percent = |value: Option<f64>| match value {
            Some(value) => format!("{} %", figure(value)),
            None => ABSENT.to_owned(),
        };
        let figures = [
            percent(Some(level.client_cpu_percent)),
            percent(level.server_cpu_percent),
            percent(level.machine_cpu_percent),
            percent(level.own_cpu_percent),
            figure_or_absent(level.client_cpu_us_per_cycle),
            figure_or_absent(level.servers_cpu_us_per_cycle),
        ];
        let saturated = level.saturated.map(|what| escaped(&what.to_string()));
        let mut cells: Vec<_> = figures.into_iter().map(Cell::Figure).collect();
        cells.push(Cell::Text(saturated.unwrap_or_default()));
        cells
    })
}

/// Returns a table with a row for each load, in which the knee stands out. Columns of an open loop
/// are left out where every load is a closed one.
fn tabled(run: &Run, titles: &[&str], cells: impl Fn(&Level) -> Vec<Cell>) -> String {
    let is_open = run.levels.iter().any(|level| level.offered_per_s.is_some());
    let mut all = vec![unit(run)];
    if is_open {
        all.extend(["offered/s", "never made", "behind"]);
    }
    all.extend(titles);
    let row = |(index, level): (usize, &Level)| {
        let mut row = vec![Cell::Figure(count(level.in_flight))];
        if is_open {
            let offered = level.offered_per_s.map(f64::from);
            row.push(Cell::Figure(figure_or_absent(offered)));
            row.push(Cell::Figure(count(level.overdue)));
            row.push(Cell::Text(yes(level.is_behind)));
        }
        row.extend(cells(level));
        let is_knee = run.verdict.knee == Some(index);
        Row { class: is_knee.then_some("knee"), cells: row }
    };
    let rows: Vec<_> = run.levels.iter().enumerate().map(row).collect();
    table(&all, &rows)
}
