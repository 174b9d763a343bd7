//! All that a run has measured, as data: what `run.json` holds, and every report is made of.
//!
//! [`Run`] is written and read as one JSON object. Its rules are those of all objects of this
//! program (`json.rs`), and its schema has a number. This room must never measure or print.

pub(crate) mod digits;
mod facts;
mod level;
mod step;
mod verdict;

use serde::{Deserialize, Serialize};

pub(crate) use self::facts::{Build, Machine, Node, Options};
pub(crate) use self::level::Level;
pub(crate) use self::step::{
    Calls, ClientCost, Contender, Fairness, Kept, Load, NodeCost, ServerCost, Slice, Step,
};
pub(crate) use self::verdict::{Against, Change, Comparison, Metric, Ratio, Saturated, Verdict};

/// The number of the schema. A new field keeps the number, and has a default for files without the
/// field; another meaning of a field is another number.
pub(crate) const SCHEMA: u32 = 1;

/// A run of `redbolt bench`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) schema: u32,
    pub(crate) redbolt: Build,
    /// By the wall clock, in the form of RFC 3339.
    pub(crate) started_at: String,
    pub(crate) machine: Machine,
    pub(crate) options: Options,
    /// Why steps are missing that the options ask for, such as `a signal`, which makes the last one
    /// shorter; `null` where none are.
    #[serde(default)]
    pub(crate) ended_early: Option<String>,
    /// `given`, or what was started for the run.
    pub(crate) servers: String,
    pub(crate) nodes: Vec<Node>,
    /// In the order in which they were measured.
    pub(crate) steps: Vec<Step>,
    /// The steps of redbolt, all rounds of one load together, from the least load to the most.
    pub(crate) levels: Vec<Level>,
    pub(crate) verdict: Verdict,
    /// The bare sockets beside the engine; `null` without `--against`.
    pub(crate) against: Option<Against>,
    /// Beside an earlier run; `null` without `--baseline`.
    pub(crate) baseline: Option<Comparison>,
}

impl Run {
    /// Returns the steps of redbolt with this load, one for each round.
    pub(crate) fn steps_of(&self, load: Load) -> impl Iterator<Item = &Step> {
        let is_of = move |step: &&Step| step.contender == Contender::Redbolt && step.load() == load;
        self.steps.iter().filter(is_of)
    }
}
