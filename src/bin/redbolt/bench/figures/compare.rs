//! A run beside an earlier one.
//!
//! A round gives one value for each figure: the mean of the logarithms over all loads that both
//! runs have. Welch's interval over the rounds then says in which range the change lies with 99 %
//! confidence; of many rounds the wildest are left out. Rounds, and not slices of time, are the
//! sample, because slices of one measurement follow one another and are alike.
//!
//! Two runs of the same program differ by more than their rounds say: servers are started anew, and
//! the kernel places threads and memory anew. A figure is therefore worse only if the whole
//! interval lies beyond what is tolerated. Where client and servers share the machine with other
//! work, what a cycle costs either of them changes with that work, by a third and more from one run
//! to the next: there only the quotient of both is judged, which such work leaves nearly as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;

use super::sample::{center, difference};
use crate::bench::run::{Change, Comparison, Contender, Level, Load, Metric, Run, Step};

/// One figure of a step, which is compared.
struct Figure {
    name: &'static str,
    of: fn(&Step) -> Option<f64>,
    less_is_better: bool,
    /// Whether other work on a machine that client and servers share changes the figure without any
    /// fault of theirs: a processor that is shared gives less of its caches, and wakes up less.
    is_of_machine: bool,
}

/// A load without a cycle has this rate, the least that the report can tell: zero has no logarithm,
/// and a load that comes to nothing must not be left out.
const LEAST_RATE: f64 = 0.1;

const FIGURES: [Figure; 6] = [
    Figure {
        name: "cycles/s",
        of: |step| Some(step.cycles_per_s.max(LEAST_RATE)),
        less_is_better: false,
        is_of_machine: false,
    },
    Figure {
        name: "acquire p50, µs",
        of: |step| Some(step.acquire_us?.p50),
        less_is_better: true,
        is_of_machine: false,
    },
    Figure {
        name: "acquire p99, µs",
        of: |step| Some(step.acquire_us?.p99),
        less_is_better: true,
        is_of_machine: false,
    },
    Figure {
        name: "client CPU, µs",
        of: |step| step.client.cpu_us_per_cycle,
        less_is_better: true,
        is_of_machine: true,
    },
    Figure {
        name: "servers' CPU, µs",
        of: |step| step.servers.as_ref()?.cpu_us_per_cycle,
        less_is_better: true,
        is_of_machine: true,
    },
    // What makes both dearer at the same time leaves the quotient as it is.
    Figure {
        name: "client / servers' CPU",
        of: |step| {
            let servers = step.servers.as_ref()?.cpu_us_per_cycle?;
            Some(step.client.cpu_us_per_cycle? / servers).filter(|ratio| ratio.is_finite())
        },
        less_is_better: true,
        is_of_machine: false,
    },
];

/// What a figure of any run can be. A file may say what it wants, and nothing can be compared with
/// a figure beyond these.
const POSSIBLE: RangeInclusive<f64> = 1e-9..=1e15;

/// Compares a run with an earlier one, which was read from a file of this name.
pub(crate) fn compare(before: &Run, after: &Run, file: String, tolerance: f64) -> Comparison {
    let common: BTreeSet<Load> = loads(before).intersection(&loads(after)).copied().collect();
    // Both tell only where all servers are on the machine of the client.
    let is_shared = [before, after]
        .iter()
        .all(|run| run.steps.iter().any(|step| step.own_cpu_percent.is_some()));
    let told = [before, after].iter().flat_map(|run| &run.steps).map(servers_told).max();
    let steps = [before, after].map(|run| with_all_servers(&run.steps, told.unwrap_or_default()));
    let metrics: Vec<_> = FIGURES
        .iter()
        .filter_map(|figure| {
            let rounds = |steps: &[Step]| rounds(steps, &common, figure.of);
            let is_judged = !(figure.is_of_machine && is_shared);
            let mut metric = metric(figure, &rounds(&steps[0]), &rounds(&steps[1]), tolerance)?;
            metric.is_judged = is_judged;
            metric.is_worse &= is_judged;
            Some(metric)
        })
        .collect();
    Comparison {
        file,
        started_at: before.started_at.clone(),
        tolerance,
        is_worse: metrics.iter().any(|metric| metric.is_worse),
        metrics,
        differences: differences(before, after),
    }
}

/// Returns how many servers have told what a step has cost them.
fn servers_told(step: &Step) -> usize {
    step.servers.as_ref().map_or(0, |servers| servers.nodes.len())
}

/// Returns the steps, without what servers have told where fewer than `all` have: a sum over fewer
/// servers, such as after the death of one, would pass for locks that are cheaper.
fn with_all_servers(steps: &[Step], all: usize) -> Vec<Step> {
    let mut steps = steps.to_vec();
    for step in &mut steps {
        if servers_told(step) < all {
            step.servers = None;
        }
    }
    steps
}

fn loads(run: &Run) -> BTreeSet<Load> {
    run.levels.iter().map(Level::load).collect()
}

/// Returns for each round the mean of the logarithms of a figure over these loads. A round in which
/// a load lacks the figure is left out.
fn rounds(steps: &[Step], common: &BTreeSet<Load>, of: fn(&Step) -> Option<f64>) -> Vec<f64> {
    let last = steps.iter().map(|step| step.round).max().unwrap_or_default();
    let of_round = |round| {
        let is_of = |step: &&Step| {
            step.round == round
                && step.contender == Contender::Redbolt
                && common.contains(&step.load())
        };
        let figures =
            steps.iter().filter(is_of).filter_map(of).filter(|figure| POSSIBLE.contains(figure));
        let logarithms: Vec<_> = figures.map(f64::ln).collect();
        (!logarithms.is_empty() && logarithms.len() == common.len())
            .then(|| logarithms.iter().sum::<f64>() / logarithms.len() as f64)
    };
    (1..=last).filter_map(of_round).collect()
}

/// Returns the change of a figure; `None` where one of the runs does not have the figure.
fn metric(figure: &Figure, before: &[f64], after: &[f64], tolerance: f64) -> Option<Metric> {
    let mean = |values: &[f64]| center(values).map(f64::exp);
    let change = difference(before, after).map(|(difference, half)| Change {
        change: difference.exp_m1(),
        least: (difference - half).exp_m1(),
        most: (difference + half).exp_m1(),
    });
    let is_worse = change.is_some_and(|change| {
        if figure.less_is_better { change.least > tolerance } else { change.most < -tolerance }
    });
    Some(Metric {
        name: figure.name.to_owned(),
        before: mean(before)?,
        after: mean(after)?,
        change,
        less_is_better: figure.less_is_better,
        is_judged: true,
        is_worse,
    })
}

/// Returns what may explain a change besides the program.
fn differences(before: &Run, after: &Run) -> Vec<String> {
    let mut all = fields("option", &before.options, &after.options);
    // What is drawn, and how often, changes no figure by itself.
    all.retain(|text| {
        !["seed", "rounds"].iter().any(|name| text.starts_with(&format!("option {name} ")))
    });
    all.extend(fields("machine", &before.machine, &after.machine));
    let servers = |run: &Run| {
        let name = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for node in &run.nodes {
            *kinds.entry(format!("{} {}", name(&node.server), name(&node.version))).or_default() +=
                1;
        }
        let kinds = kinds.into_iter().map(|(kind, count)| format!("{count} x {kind}"));
        kinds.collect::<Vec<_>>().join(", ")
    };
    if servers(before) != servers(after) {
        all.push(format!("servers {}, before {}", servers(after), servers(before)));
    }
    all
}

/// Returns the fields of two objects that differ.
fn fields(what: &str, before: &impl Serialize, after: &impl Serialize) -> Vec<String> {
    let object = |value: Result<Value, _>| match value {
        Ok(Value::Object(object)) => object,
        Ok(_) | Err::<_, serde_json::Error>(_) => serde_json::Map::new(),
    };
    let before = object(serde_json::to_value(before));
    let after = object(serde_json::to_value(after));
    let differs = |(name, after): (&String, &Value)| {
        let before = before.get(name).filter(|before| *before != after)?;
        Some(format!("{what} {name} {after}, before {before}"))
    };
    after.iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MORE: &Figure = &FIGURES[0];
    const LESS: &Figure = &FIGURES[3];

    fn logarithms(values: &[f64]) -> Vec<f64> {
        values.iter().map(|value| value.ln()).collect()
    }

    #[test]
    fn worse_is_what_lies_beyond_the_tolerance_with_all_of_its_interval() {
        let before = [100.0, 101.0, 99.0, 100.5, 99.5];
        let rows: [(&Figure, f64, bool); 6] = [
            (MORE, 0.90, true),
            (MORE, 0.97, false),
            (MORE, 1.10, false),
            (LESS, 1.10, true),
            (LESS, 1.03, false),
            (LESS, 0.90, false),
        ];
        for (figure, factor, is_worse) in rows {
            let after = before.map(|value| value * factor);
            let metric = metric(figure, &logarithms(&before), &logarithms(&after), 0.05);
            let metric = metric.expect("both runs have the figure");
            assert_eq!(metric.is_worse, is_worse, "{} by {factor}", figure.name);
            let change = metric.change.expect("five rounds each");
            assert!((change.change - (factor - 1.0)).abs() < 1e-9, "{change:?}");
            assert!(change.least < change.change && change.change < change.most, "{change:?}");
        }
    }

    #[test]
    fn a_wide_spread_hides_a_change_and_one_round_shows_none() {
        let before = logarithms(&[60.0, 140.0, 100.0]);
        let after = logarithms(&[54.0, 126.0, 90.0]);
        let wide = metric(MORE, &before, &after, 0.05).expect("a figure");
        assert!(!wide.is_worse && wide.change.is_some());
        let one = metric(MORE, &before, &after[..1], 0.05).expect("a figure");
        assert!(!one.is_worse && one.change.is_none());
        assert!(metric(MORE, &before, &[], 0.05).is_none());
    }

    #[test]
    fn a_sum_over_fewer_servers_is_not_compared() {
        let step = |servers: &[&str]| -> Step {
            let node = |name| json!({ "node": name, "cpu_percent": 1.0, "commands": {} });
            let nodes: Vec<_> = servers.iter().map(node).collect();
            let step = json!({
                "contender": "redbolt", "round": 1, "engines": 1, "in_flight": 1, "ran_ms": 1.0,
                "cycles": 1, "cycles_per_s": 1.0, "failed": 0, "failures": {}, "unfinished": 0,
                "is_behind": false, "overdue": 0, "longest_stall_ms": 0.0,
                "client": { "cpu_percent": 1.0 }, "wound_down_ms": 0.0, "is_clean": true,
                "absent": [], "series": [],
                "servers": { "busiest_cpu_percent": 1.0, "nodes": nodes },
            });
            serde_json::from_value(step).expect("a step")
        };
        let steps = [step(&["a", "b"]), step(&["a"])];
        let left: Vec<_> = with_all_servers(&steps, 2).iter().map(servers_told).collect();
        assert_eq!(left, [2, 0]);
    }

    #[test]
    fn fields_that_differ_are_named_with_both_values() {
        #[derive(Serialize)]
        struct Options {
            ttl_ms: u32,
            hold_ms: u32,
        }
        let [before, after] = [1, 2].map(|hold_ms| Options { ttl_ms: 7, hold_ms });
        assert_eq!(fields("option", &before, &after), ["option hold_ms 2, before 1"]);
    }
}
