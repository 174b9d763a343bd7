//! The engine beside bare sockets on the same servers.

use super::markup::{Cell, Row, count, escaped, figure, section as titled, table};
use crate::bench::run::{Ratio, Run};

pub(super) fn section(run: &Run) -> String {
    let Some(against) = &run.against else { return String::new() };
    let contender = escaped(&against.contender);
    let note = format!(
        "<p class=\"soft\">Cycles a second of redbolt, and of {contender} in the same rounds on \
         the same servers. A ratio of 1 is as fast, less is slower. Of several rounds it is the \
         median.</p>\n"
    );
    let other = format!("{contender}, cycles/s");
    let titles = ["in flight", "redbolt, cycles/s", &other, "ratio", "least", "most"];
    let rows: Vec<_> = against.levels.iter().map(row).collect();
    titled(&format!("Beside {contender}"), &(note + &table(&titles, &rows)))
}

fn row(ratio: &Ratio) -> Row {
    let figures = [
        count(ratio.in_flight),
        figure(ratio.redbolt_cycles_per_s),
        figure(ratio.raw_cycles_per_s),
        figure(ratio.ratio),
        figure(ratio.least),
        figure(ratio.most),
    ];
    Row::new(figures.into_iter().map(Cell::Figure).collect())
}
