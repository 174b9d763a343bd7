//! What a run has shown so far, and what the reader of a failure gets to see.

use std::fmt::Write;
use std::time::Duration;

use crate::checker::{Checker, DoubleHold, Verdict};
use crate::fleet::Fleet;
use crate::log::{Entry, Log, Record, Tail, What, excerpt};
use crate::nemesis::Deeds;

/// How much of the log around a double hold is shown.
const CONTEXT: Duration = Duration::from_millis(50);
const MAX_LINES: usize = 400;

/// The most broken rules that are shown.
const MAX_FAULTS: usize = 20;

/// The log of a run under way, read step by step.
pub(crate) struct Report {
    tail: Tail,
    checker: Checker,
    verdict: Verdict,
}

impl Report {
    pub(crate) fn new(fleet: &Fleet) -> Self {
        let checker = Checker::new(fleet.rules.terms());
        Self { tail: fleet.tail(), checker, verdict: Verdict::default() }
    }

    /// Returns the clients that were granted a lock, by the entries since the last look, at this
    /// time or later.
    pub(crate) fn served(&mut self, since: u64) -> impl Iterator<Item = u32> {
        self.read_on().into_iter().filter_map(move |entry| match entry {
            Entry::Record(Record { at, client, what: What::Held { .. }, .. }) if at >= since => {
                Some(client)
            }
            _ => None,
        })
    }

    /// Judges all records so far.
    pub(crate) fn judge(&mut self) -> &Verdict {
        self.read_on();
        self.verdict = self.checker.judge();
        &self.verdict
    }

    /// Fails the test if a rule is broken, and shows the place in the log.
    pub(crate) fn check(&mut self, log: &Log) {
        let Verdict { double_holds, faults, .. } = self.judge();
        if let Some(double) = double_holds.first() {
            panic!("{} double holds, the first:\n{}", double_holds.len(), show(double, log));
        }
        let path = log.path().display();
        let shown = &faults[..faults.len().min(MAX_FAULTS)];
        assert!(faults.is_empty(), "{path}: {} faults: {shown:#?}", faults.len());
    }

    /// Returns the least and the most grants of these clients.
    pub(crate) fn shares(&self, clients: impl Iterator<Item = u32>) -> [usize; 2] {
        let grants = |client| self.verdict.by_client.get(&client).copied().unwrap_or_default();
        let grants: Vec<_> = clients.map(grants).collect();
        [grants.iter().min(), grants.iter().max()].map(|grants| grants.copied().unwrap_or_default())
    }

    pub(crate) fn summary(&self, deeds: &Deeds) -> String {
        let Verdict { grants, sets, adoptions, brought, .. } = &self.verdict;
        let Verdict { extensions, renewals, losses, double_holds, .. } = &self.verdict;
        let Verdict { waits, refusals, answers, shutdowns: [shutdowns, judged], .. } =
            &self.verdict;
        let Verdict { numbers, set_numbers, draws, raised, .. } = &self.verdict;
        let Verdict { writes, late_writes, .. } = &self.verdict;
        let Verdict { twice, out_of_order, unaccepted, .. } = &self.verdict;
        format!(
            "{grants} grants ({sets} sets, {adoptions} adoptions, {brought} with numbers), \
             {extensions} extensions, {renewals} renewals, {losses} losses, {waits} waits in vain, \
             {shutdowns} shutdowns ({judged} judged), {answers} answers, {refusals} refusals to \
             children; {numbers} numbers ({set_numbers} of sets, {draws} for held locks, {raised} \
             second trips), {writes} writes, {late_writes} late ones refused; {deeds}; {} double \
             holds, {twice} numbers twice, {out_of_order} out of order, {unaccepted} not of a \
             majority",
            double_holds.len()
        )
    }

    fn read_on(&mut self) -> Vec<Entry> {
        let entries = self.tail.read();
        entries.iter().for_each(|entry| self.checker.read(entry));
        entries
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
