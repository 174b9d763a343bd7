//! The wait until no client uses the nodes of a deployment that is to be changed.

use std::fmt::Write;
use std::thread;
use std::time::Duration;

use redbolt::time::{Instant, format_rounded};
use redbolt::{Clock, Init, InitNode, InitPlan, InitReport};

use crate::failure::Failure;
use crate::output::say;

/// The time between two messages.
const NEWS: Duration = Duration::from_secs(15);

/// The time between two inspections: a client that still runs is named soon.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Inspects the nodes again and again, until nothing is to be waited for. Nodes that cannot tell
/// for how long they have been left alone begin to measure.
pub(super) fn wait(init: &Init, mut plan: InitPlan) -> Result<InitPlan, Failure> {
    let mut before = Vec::new();
    let mut news_at = Instant::ZERO;
    let mut was_told = false;
    loop {
        let left = plan.report().wait();
        if left.is_zero() {
            return Ok(plan);
        }
        let lefts = lefts(plan.report());
        let renewed = renewed(plan.report(), &before, &lefts);
        let now = Clock::now();
        if now >= news_at || (!renewed.is_empty() && !was_told) {
            was_told = !renewed.is_empty();
            news_at = now + NEWS;
            tell(plan.report(), left, &renewed);
        }
        before = lefts;
        plan.measure()?;
        // The connections are not kept for so long.
        drop(plan);
        thread::park_timeout(left.min(CHECK_EVERY));
        plan = init.inspect()?;
    }
}

/// Returns for how long each node must still be left alone.
fn lefts(report: &InitReport) -> Vec<Duration> {
    let left = |node: &InitNode| node.wait.map_or(Duration::ZERO, |wait| wait.left);
    report.nodes().iter().map(left).collect()
}

/// Returns the nodes at which a client has looked since the inspection before, as text.
fn renewed(report: &InitReport, before: &[Duration], lefts: &[Duration]) -> String {
    let mut text = String::new();
    for ((node, before), left) in report.nodes().iter().zip(before).zip(lefts) {
        let ago = node.wait.and_then(|wait| wait.ago).filter(|_| left > before);
        if let Some(ago) = ago {
            let comma = if text.is_empty() { "" } else { ", " };
            let ago = format_rounded(ago);
            // A string takes every text.
            _ = write!(text, "{comma}at {} {ago} ago", node.address);
        }
    }
    text
}

fn tell(report: &InitReport, left: Duration, renewed: &str) {
    let left = format_rounded(left);
    if !renewed.is_empty() {
        return say(format_args!(
            "a client still runs: it looked {renewed}. Every client must be stopped, those with \
             the new settings too; waiting {left}"
        ));
    }
    let waits = report.nodes().iter().filter(|node| node.wait.is_some());
    let latest = waits.max_by_key(|node| node.wait.map(|wait| wait.left));
    let latest = latest.and_then(|node| Some((&node.address, node.wait?.ago?)));
    let last = latest.map_or_else(String::new, |(address, ago)| {
        format!("; the last look was at {address}, {} ago", format_rounded(ago))
    });
    say(format_args!(
        "all clients must be stopped; waiting {left} until no lock of theirs can be left{last}"
    ));
}
