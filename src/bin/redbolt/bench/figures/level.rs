//! All rounds of one load put together.

use super::sample::median;
use crate::bench::run::digits::{tenths, thousandths};
use crate::bench::run::{Contender, Level, Load, Saturated, Step};

/// Returns the levels of the engine's steps, in the order in which they were measured first.
pub(crate) fn levels(steps: &[Step]) -> Vec<Level> {
    let steps = || steps.iter().filter(|step| step.contender == Contender::Redbolt);
    let mut loads: Vec<Load> = Vec::new();
    for step in steps() {
        if !loads.contains(&step.load()) {
            loads.push(step.load());
        }
    }
    let of = |&load: &Load| steps().filter(|step| step.load() == load).collect::<Vec<_>>();
    loads.iter().map(of).filter_map(|steps| level(&steps)).collect()
}

/// Returns the level of these rounds; `None` for none.
fn level(steps: &[&Step]) -> Option<Level> {
    let first = steps.first()?;
    let of = |figure: &dyn Fn(&Step) -> Option<f64>| {
        median(steps.iter().filter_map(|step| figure(step)))
    };
    let rates = || steps.iter().map(|step| step.cycles_per_s);
    Some(Level {
        in_flight: first.in_flight,
        offered_per_s: first.offered_per_s,
        rounds: u32::try_from(steps.len()).unwrap_or(u32::MAX),
        cycles_per_s: tenths(median(rates())?),
        least_cycles_per_s: rates().reduce(f64::min)?,
        most_cycles_per_s: rates().reduce(f64::max)?,
        failed: steps.iter().map(|step| step.failed).sum(),
        overdue: steps.iter().map(|step| step.overdue).sum(),
        is_behind: 2 * steps.iter().filter(|step| step.is_behind).count() >= steps.len(),
        acquire_p50_us: of(&|step| Some(step.acquire_us?.p50)).map(tenths),
        acquire_p99_us: of(&|step| Some(step.acquire_us?.p99)).map(tenths),
        acquire_p999_us: of(&|step| Some(step.acquire_us?.p999)).map(tenths),
        acquire_max_us: of(&|step| Some(step.acquire_us?.max)).map(tenths),
        client_cpu_percent: tenths(of(&|step| Some(step.client.cpu_percent))?),
        client_cpu_us_per_cycle: of(&|step| step.client.cpu_us_per_cycle).map(thousandths),
        server_cpu_percent: of(&|step| Some(step.servers.as_ref()?.busiest_cpu_percent))
            .map(tenths),
        servers_cpu_us_per_cycle: of(&|step| step.servers.as_ref()?.cpu_us_per_cycle)
            .map(thousandths),
        machine_cpu_percent: of(&|step| step.machine_cpu_percent).map(tenths),
        own_cpu_percent: of(&|step| step.own_cpu_percent).map(tenths),
        saturated: most_often(steps),
    })
}

/// Returns what was saturated in more than half of the rounds.
fn most_often(steps: &[&Step]) -> Option<Saturated> {
    let found = steps.iter().filter_map(|step| step.saturated);
    let count = |what| steps.iter().filter(|step| step.saturated == Some(what)).count();
    found.max_by_key(|&what| count(what)).filter(|&what| 2 * count(what) > steps.len())
}
