//! What follows from the figures.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a load has used up.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Saturated {
    ServersCpu,
    ClientCpu,
    /// All processors of this machine together, which client and servers may share.
    MachineCpu,
    /// No processor: the network, what else is between client and servers, or the locks that others
    /// hold where many want the same.
    Network,
}

impl fmt::Display for Saturated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ServersCpu => "servers' CPU",
            Self::ClientCpu => "client's CPU",
            Self::MachineCpu => "all CPUs of this machine",
            Self::Network => {
                "no CPU: the network, what else is on the way, or locks that others have"
            }
        })
    }
}

/// Where more load brings no more, and why.
#[derive(Serialize, Deserialize, Clone, Default)]
pub(crate) struct Verdict {
    /// The number of the level in `levels`, from 0; `null` if there was one level only, or if the
    /// load has found no limit.
    pub(crate) knee: Option<usize>,
    /// What was saturated at the highest load.
    pub(crate) saturated: Option<Saturated>,
    /// The same as a sentence for people.
    pub(crate) text: String,
}

/// A change, with the interval in which it lies with 99 % confidence. 0.1 is a tenth more.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub(crate) struct Change {
    pub(crate) change: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// The engine beside bare sockets, in the same rounds: 1 is as fast, less is slower.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Against {
    pub(crate) contender: String,
    /// For each level: locks in flight, cycles a second of both, and their ratio by rounds.
    pub(crate) levels: Vec<Ratio>,
}

#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Ratio {
    pub(crate) in_flight: u64,
    pub(crate) redbolt_cycles_per_s: f64,
    pub(crate) raw_cycles_per_s: f64,
    /// The median of the ratios of the rounds, with the least and the most.
    pub(crate) ratio: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// A run beside an earlier one.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Comparison {
    /// The file of the earlier run.
    pub(crate) file: String,
    /// When the earlier run was started.
    pub(crate) started_at: String,
    /// The change that is tolerated. 0.05 is a twentieth.
    pub(crate) tolerance: f64,
    pub(crate) metrics: Vec<Metric>,
    /// Whether a metric got worse by more than is tolerated, with 99 % confidence.
    pub(crate) is_worse: bool,
    /// What differs between the runs and may explain a change, in sentences for people.
    pub(crate) differences: Vec<String>,
}

/// One figure of both runs.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Metric {
    pub(crate) name: String,
    pub(crate) before: f64,
    pub(crate) after: f64,
    /// `null` where there were too few rounds to tell.
    pub(crate) change: Option<Change>,
    /// Whether less is better, as for a latency.
    pub(crate) less_is_better: bool,
    /// Whether the figure could be worse: what a cycle costs client or servers is not judged where
    /// both are on one machine, because other work there changes it.
    pub(crate) is_judged: bool,
    pub(crate) is_worse: bool,
}

impl Comparison {
    /// Whether a figure may be worse by more than is tolerated, without being shown to be.
    pub(crate) fn may_be_worse(&self) -> bool {
        self.metrics.iter().any(|metric| metric.may_be_worse(self.tolerance))
    }
}

impl Metric {
    /// Whether the interval reaches beyond what is tolerated, or is not known: a figure that is not
    /// shown to be worse may be so all the same.
    pub(crate) fn may_be_worse(&self, tolerance: f64) -> bool {
        let reaches = |change: Change| match self.less_is_better {
            true => change.most > tolerance,
            false => change.least < -tolerance,
        };
        self.is_judged && !self.is_worse && self.change.is_none_or(reaches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_worse_may_be_so_if_the_interval_reaches_beyond_what_is_tolerated() {
        let rows = [
            (false, Some((-0.04, 0.50)), false),
            (false, Some((-0.06, 0.50)), true),
            (true, Some((-0.50, 0.04)), false),
            (true, Some((-0.50, 0.06)), true),
            (true, None, true),
        ];
        for (less_is_better, change, expected) in rows {
            let change = change.map(|(least, most)| Change { change: 0.0, least, most });
            let mut metric = Metric {
                name: String::new(),
                before: 1.0,
                after: 1.0,
                change,
                less_is_better,
                is_judged: true,
                is_worse: false,
            };
            assert_eq!(metric.may_be_worse(0.05), expected, "{change:?}");
            metric.is_judged = false;
            assert!(!metric.may_be_worse(0.05), "{change:?}");
        }
    }
}
