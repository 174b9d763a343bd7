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
mod tests {
    use super::*;

    fn level(in_flight: u64, rate: Option<u32>, cycles_per_s: f64) -> Level {
        Level {
            in_flight,
            offered_per_s: rate,
            rounds: 1,
            cycles_per_s,
            least_cycles_per_s: cycles_per_s,
            most_cycles_per_s: cycles_per_s,
            failed: 0,
            overdue: 0,
            is_behind: rate.is_some_and(|rate| cycles_per_s < 0.99 * f64::from(rate)),
            acquire_p50_us: None,
            acquire_p99_us: None,
            acquire_p999_us: None,
            acquire_max_us: None,
            client_cpu_percent: 0.0,
            client_cpu_us_per_cycle: None,
            server_cpu_percent: None,
            servers_cpu_us_per_cycle: None,
            machine_cpu_percent: None,
            own_cpu_percent: None,
            saturated: None,
        }
    }

    #[test]
    fn a_closed_loop_has_its_knee_where_throughput_ends_to_grow() {
        let rows: [(&[f64], Option<usize>); 7] = [
            (&[0.0, 0.0], None),
            (&[10.0, 20.0, 40.0, 41.0, 41.5], Some(2)),
            (&[10.0, 20.0, 40.0, 30.0], Some(2)),
            (&[10.0, 20.0, 40.0], None),
            (&[100.0, 96.0, 97.0], Some(0)),
            (&[10.0, 94.0, 100.0, 99.0], Some(2)),
            (&[10.0], None),
        ];
        for (rates, expected) in rows {
            let levels: Vec<_> =
                (0..).zip(rates).map(|(place, &rate)| level(1 << place, None, rate)).collect();
            assert_eq!(verdict(&levels).knee, expected, "{rates:?}");
        }
    }

    #[test]
    fn a_run_that_ended_early_has_a_knee_only_if_all_loads_were_measured() {
        let levels: Vec<_> = [40.0, 50.0, 50.0].map(|rate| level(1, None, rate)).into();
        let early = ended_early(&levels, 3, [4, 20]);
        assert_eq!((early.knee, early.saturated), (None, None));
        assert_eq!(early.text, "ended early, in measurement 3 of 20");
        let later = ended_early(&levels, 4, [3, 15]);
        assert_eq!(later.knee, Some(1));
        let expected = "ended early, in measurement 4 of 15; knee at 1 in flight, 50 ";
        assert!(later.text.starts_with(expected), "{}", later.text);
        let alone = ended_early(&levels[..1], 1, [1, 1]);
        assert_eq!(alone.text, "ended early, in measurement 1 of 1");
    }

    #[test]
    fn an_open_loop_has_its_knee_at_the_last_rate_that_is_kept_up_with() {
        /// Starts offered and done a second, for each level.
        type Rates = &'static [(u32, f64)];
        let rows: [(Rates, Option<usize>); 4] = [
            (&[(100, 100.0), (200, 198.5), (400, 310.0)], Some(1)),
            (&[(100, 100.0), (200, 200.0)], None),
            (&[(100, 80.0), (200, 80.0)], None),
            (&[(100, 99.0), (200, 190.0), (400, 400.0)], Some(0)),
        ];
        for (rates, expected) in rows {
            let levels: Vec<_> =
                rates.iter().map(|&(rate, done)| level(512, Some(rate), done)).collect();
            assert_eq!(verdict(&levels).knee, expected, "{rates:?}");
        }
    }

    #[test]
    fn what_is_saturated_is_what_most_loads_from_the_knee_on_have_used_up() {
        let mut levels: Vec<_> =
            [40.0, 40.0, 40.0, 40.0].map(|rate| level(1, None, rate)).into_iter().collect();
        assert_eq!(verdict(&levels).saturated, Some(Saturated::Network));
        levels[1].saturated = Some(Saturated::ClientCpu);
        levels[2].saturated = Some(Saturated::ServersCpu);
        levels[3].saturated = Some(Saturated::ServersCpu);
        let verdict = verdict(&levels);
        assert_eq!(verdict.saturated, Some(Saturated::ServersCpu));
        assert_eq!(verdict.text, "knee at 1 in flight, 40 cycles/s; saturated: servers' CPU");
    }
}
