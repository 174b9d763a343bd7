//! How the run differs from an earlier one.

use super::markup::{ABSENT, Cell, Row, change, escaped, figure, section as titled, table};
use crate::bench::run::{Comparison, Metric, Run};

pub(super) fn section(run: &Run) -> String {
    let Some(baseline) = &run.baseline else { return String::new() };
    let (class, verdict) = match (baseline.is_worse, baseline.may_be_worse()) {
        (true, _) => ("worse", "This run is worse than the earlier one."),
        (false, true) => {
            ("soft", "Nothing is surely worse, but some figures may be: more rounds tell more.")
        }
        (false, false) => ("better", "Nothing got worse by more than is tolerated."),
    };
    let mut body = format!(
        "<p><strong class=\"{class}\">{verdict}</strong> The earlier run is {}, of {}. A change of \
         {} for the worse is tolerated. Each figure is the geometric mean over the rounds, and \
         over the loads of both runs. With 99 % confidence, the change lies between least and \
         most.</p>\n",
        escaped(&baseline.file),
        escaped(&baseline.started_at),
        change(baseline.tolerance).trim_start_matches('+'),
    );
    body += &metrics(baseline);
    if !baseline.differences.is_empty() {
        let differences = baseline.differences.iter();
        let differences: String =
            differences.map(|text| format!("<li>{}</li>\n", escaped(text))).collect();
        body += &format!("<h3>What else differs</h3>\n<ul>\n{differences}</ul>\n");
    }
    titled("Beside the earlier run", &body)
}

fn metrics(baseline: &Comparison) -> String {
    let titles = ["figure", "before", "now", "change", "least", "most", ""];
    let rows = baseline.metrics.iter();
    let rows: Vec<_> = rows.map(|metric| row(metric, baseline.tolerance)).collect();
    table(&titles, &rows)
}

fn row(metric: &Metric, tolerance: f64) -> Row {
    let absent = || ABSENT.to_owned();
    let [mid, least, most] = match &metric.change {
        Some(found) => [found.change, found.least, found.most].map(change),
        None => [absent(), absent(), absent()],
    };
    let (class, text) = judged(metric, tolerance);
    Row::new(vec![
        Cell::Text(escaped(&metric.name)),
        Cell::Figure(figure(metric.before)),
        Cell::Figure(figure(metric.after)),
        Cell::Figure(mid),
        Cell::Figure(least),
        Cell::Figure(most),
        Cell::Judged { class, text: text.to_owned() },
    ])
}

fn judged(metric: &Metric, tolerance: f64) -> (&'static str, &'static str) {
    let Some(found) = &metric.change else { return ("soft", "too few rounds to tell") };
    if !metric.is_judged {
        return ("soft", "not judged: other work on the machine changes it");
    }
    // The whole interval is on the good side.
    let is_better = if metric.less_is_better { found.most < 0.0 } else { found.least > 0.0 };
    match (metric.is_worse, is_better) {
        (true, _) => ("worse", "worse"),
        (false, true) => ("better", "better"),
        _ if metric.may_be_worse(tolerance) => ("soft", "not sure: may be worse"),
        (false, false) => ("soft", "no change, or a tolerated one"),
    }
}
