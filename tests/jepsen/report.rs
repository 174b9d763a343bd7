//! What a run has shown so far, and what the reader of a failure gets to see.

use std::fmt::Write;
use std::time::Duration;

use crate::checker::{DoubleHold, Verdict, check};
use crate::fleet::Fleet;
use crate::log::{Log, Record, Tail, excerpt};
use crate::nemesis::Deeds;

/// How much of the log around a double hold is shown.
const CONTEXT: Duration = Duration::from_millis(50);
const MAX_LINES: usize = 400;

/// The log of a run under way, read step by step.
pub(crate) struct Report {
    tail: Tail,
    records: Vec<Record>,
    verdict: Verdict,
}

impl Report {
    pub(crate) fn new(fleet: &Fleet) -> Self {
        Self { tail: fleet.tail(), records: Vec::new(), verdict: Verdict::default() }
    }

    /// Returns the records since the last look.
    pub(crate) fn read_on(&mut self) -> &[Record] {
        let known = self.records.len();
        self.records.extend(self.tail.read());
        &self.records[known..]
    }

    /// Judges all records so far.
    pub(crate) fn judge(&mut self) -> &Verdict {
        self.read_on();
        self.verdict = check(&self.records);
        &self.verdict
    }

    /// Fails the test if a rule is broken, and shows the place in the log.
    pub(crate) fn check(&mut self, log: &Log) {
        let Verdict { double_holds, faults, .. } = self.judge();
        if let Some(double) = double_holds.first() {
            panic!("{} double holds, the first:\n{}", double_holds.len(), show(double, log));
        }
        assert!(faults.is_empty(), "{}: {faults:#?}", log.path().display());
    }

    pub(crate) fn summary(&self, deeds: Deeds) -> String {
        let Verdict { grants, extensions, losses, double_holds, .. } = &self.verdict;
        let Deeds { kills, stops, cuts, steps } = deeds;
        format!(
            "{grants} grants, {extensions} extensions, {losses} losses, {kills} kills, \
             {stops} stops, {cuts} cuts, {steps} clock steps, {} double holds",
            double_holds.len()
        )
    }
}

/// Returns the log around a double hold.
fn show(double: &DoubleHold, log: &Log) -> String {
    let DoubleHold { first, second } = double;
    let mut text = format!("{first:?}\n{second:?}\n{}\n", log.path().display());
    let context = u64::try_from(CONTEXT.as_nanos()).unwrap_or(u64::MAX);
    let (from, to) = (first.from.saturating_sub(context), second.from.saturating_add(context));
    let lines = excerpt(log, from, to).expect("the log can be read");
    // The last lines are next to the moment at which the rule was broken.
    for line in lines.iter().skip(lines.len().saturating_sub(MAX_LINES)) {
        // Writing to a string cannot fail.
        _ = writeln!(text, "{line}");
    }
    text
}
