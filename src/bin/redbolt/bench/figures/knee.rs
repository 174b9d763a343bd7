//! Where more load brings no more.
//!
//! In a closed loop, throughput grows with the locks in flight until something is used up; from
//! there on only latency grows. The *knee* is the least load that reaches 95 % of the highest
//! throughput of the sweep. In an open loop, what is done follows what is offered until something
//! is used up. The knee is the highest rate that was kept up with, if a higher one was not.

use crate::bench::run::{Level, Saturated, Verdict};
use crate::number::grouped;

/// The share of the highest throughput at which a closed loop has its knee.
const NEARLY_ALL: f64 = 0.95;

/// Returns the verdict on these levels, which are in the order of their load.
pub(crate) fn verdict(levels: &[Level]) -> Verdict {
    if levels.len() < 2 {
        let saturated = levels.first().and_then(|level| level.saturated);
        return Verdict { knee: None, saturated, text: String::new() };
    }
    if levels.iter().all(|level| level.offered_per_s.is_some()) {
        return open(levels);
    }
    closed(levels)
}

/// Returns the verdict of a run that ended in the measurement with this number, of `all`. A round
/// has `each` measurements. Before all loads were measured once, there is no knee: those that are
/// missing may have more throughput.
pub(crate) fn ended_early(levels: &[Level], number: usize, [each, all]: [usize; 2]) -> Verdict {
    let ended = format!("ended early, in measurement {number} of {all}");
    // Beyond a rate that was too much, loads are left out.
    let has_all = number > each || levels.iter().any(|level| level.is_behind);
    let found = verdict(levels);
    match has_all && !found.text.is_empty() {
        true => Verdict { text: format!("{ended}; {}", found.text), ..found },
        false => Verdict { knee: None, saturated: None, text: ended },
    }
}

fn closed(levels: &[Level]) -> Verdict {
    let highest = levels.iter().map(|level| level.cycles_per_s).fold(0.0, f64::max);
    if highest == 0.0 {
        // The load has not even begun.
        let text = "no knee: no cycle came to its end".to_owned();
        return Verdict { knee: None, saturated: None, text };
    }
    let knee = levels.iter().position(|level| level.cycles_per_s >= NEARLY_ALL * highest);
    // The last level alone reaches the highest throughput: there may be more beyond.
    let knee = knee.filter(|&knee| knee + 1 < levels.len());
    let Some(level) = knee.and_then(|knee| levels.get(knee)) else {
        // What has no room may still be used better by more at a time.
        let saturated = levels.last().and_then(|level| level.saturated);
        let full = saturated.map_or_else(String::new, |full| format!(", saturated there: {full}"));
        let text = format!("no knee: throughput grew up to the highest load{full}");
        return Verdict { knee: None, saturated, text };
    };
    let saturated = limit(levels.iter().skip(knee.unwrap_or_default()));
    let rate = grouped(level.cycles_per_s.round() as u64);
    let in_flight = grouped(level.in_flight);
    let text = format!("knee at {in_flight} in flight, {rate} cycles/s; saturated: {saturated}");
    Verdict { knee, saturated: Some(saturated), text }
}

fn open(levels: &[Level]) -> Verdict {
    let first_behind = levels.iter().position(|level| level.is_behind);
    let Some(behind) = first_behind else {
        let text = "no knee: the highest rate was kept up with";
        return Verdict { knee: None, saturated: None, text: text.to_owned() };
    };
    let saturated = limit(levels.iter().skip(behind));
    let knee = behind.checked_sub(1);
    let rate = |place: usize| {
        let rate = levels.get(place).and_then(|level| level.offered_per_s);
        grouped(rate.unwrap_or_default().into())
    };
    let text = match knee {
        Some(knee) => format!(
            "knee at {} starts a second; {} were too many, saturated: {saturated}",
            rate(knee),
            rate(behind)
        ),
        None => format!("{} starts a second were too many, saturated: {saturated}", rate(behind)),
    };
    Verdict { knee, saturated: Some(saturated), text }
}

/// Returns what most of the loads had used up. Where no processor was busy, what is left is between
/// client and servers.
fn limit<'a>(levels: impl Iterator<Item = &'a Level> + Clone) -> Saturated {
    let found = levels.clone().filter_map(|level| level.saturated);
    let count = |what| levels.clone().filter(|level| level.saturated == Some(what)).count();
    found.max_by_key(|&what| count(what)).unwrap_or(Saturated::Network)
}

#[cfg(test)]
mod tests;
