//! `house`: the contenders share one client, so that nobody else is in the way.

use std::time::Duration;

use redbolt::Clock;

use crate::Outcome;
use crate::args::Args;
use crate::census::Census;
use crate::figures::Figures;
use crate::load::{self, Load, sleep_until};
use crate::proxy;
use crate::report::Row;

pub(crate) const RESOURCE: &str = "contended";

pub(crate) const TTL: Duration = Duration::from_secs(10);

/// What runs before a window begins.
pub(crate) const WARM_UP: Duration = Duration::from_millis(500);

/// For how long idle clients are watched: what they do is no cost of contention.
pub(crate) const IDLE: Duration = Duration::from_secs(2);

pub(crate) const MICRO: f64 = 1e3;

/// Runs threads and tasks, each near the servers and far from them.
pub(crate) fn run(args: &Args) -> Outcome {
    let nodes = args.nodes()?;
    let far = args.duration("rtt", Duration::from_millis(1))?;
    for (place, nodes) in [("near", nodes.clone()), ("far", proxy::start(&nodes, far)?)] {
        for contenders in ["threads", "tasks"] {
            measure(args, contenders, place, &nodes)?;
        }
    }
    Ok(())
}

fn measure(args: &Args, contenders: &str, place: &str, nodes: &[String]) -> Outcome {
    let count = args.count(contenders, 100)?;
    let census = Census::connect(&args.nodes()?)?;
    let trip = Census::round_trip(nodes)?;
    let clients = load::connect(nodes, 1)?;
    sleep_until(Clock::now() + WARM_UP);
    let idle = census.rate(IDLE)?;
    let begin = Clock::now() + WARM_UP;
    let load = Load {
        resources: vec![RESOURCE.to_owned()],
        ttl: args.duration("ttl", TTL)?,
        hold: args.duration("hold", Duration::ZERO)?,
        end: begin + args.seconds(3.0)?,
        grace: Duration::from_secs(2),
        is_once: false,
    };
    let (records, counts) = std::thread::scope(|scope| {
        let run = || match contenders {
            "tasks" => load.tasks(&clients, count).map_err(|error| error.to_string()),
            _ => load.threads(&clients, count).map_err(|error| error.to_string()),
        };
        let run = scope.spawn(run);
        sleep_until(begin);
        let before = census.counts();
        sleep_until(load.end);
        let counts = before.and_then(|before| Ok(census.between(&before, &census.counts()?)));
        (run.join(), counts)
    });
    let (records, seconds) = (records.map_err(|_| "the load panicked")??, load.end - begin);
    let counts = counts?.without(&idle, seconds.as_secs_f64());
    let window = begin.as_nanos()..load.end.as_nanos();
    let figures = Figures::new(&records, window, (0..count as u32).map(|thread| (0, thread)));
    let mut row = Row::new(format!("house: {count} {contenders} of one client, {place}"));
    row.figure("round_trip_us", trip.as_secs_f64() * 1e6);
    row.figure("handovers_per_s", figures.grants as f64 / seconds.as_secs_f64());
    row.figure("p50_us", figures.hand_over.percentile(50.0) / MICRO);
    row.figure("p99_us", figures.hand_over.percentile(99.0) / MICRO);
    row.figure("p50_in_trips", figures.hand_over.percentile(50.0) / trip.as_nanos() as f64);
    row.figure("wait_p50_us", figures.waits.percentile(50.0) / MICRO);
    row.figure("longest_us", figures.waits.percentile(100.0) / MICRO);
    row.count("least", figures.by_thread.least());
    row.count("most", figures.by_thread.most());
    row.figure("requests_per_grant", counts.requests() / figures.grants as f64);
    row.figure("commands_per_grant", counts.total() / figures.grants as f64);
    row.figure("idle_per_s", idle.total());
    row.count("overtaken", figures.overtaken);
    row.count("overlaps", figures.overlaps);
    row.raw("by_name", counts.iter());
    row.print();
    Ok(())
}
