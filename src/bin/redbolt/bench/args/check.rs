//! What of the command line does not go together.

use crate::bench::args::Args;
use crate::duration::written;
use crate::number::grouped;

/// The most resources for which several engines contend: each has a list of its own.
const MOST_DIVIDED: u32 = 1_000_000;

/// Returns what is wrong with the load, if anything is.
pub(crate) fn load(args: &Args) -> Result<(), String> {
    if args.hold >= args.ttl {
        let (hold, ttl) = (written(args.hold), written(args.ttl));
        return Err(format!("--hold is {hold}, less than --ttl, which is {ttl}, is possible"));
    }
    engines(args)
}

/// Returns what is wrong with the number of engines, where the load cannot be divided so.
fn engines(args: &Args) -> Result<(), String> {
    let engines = args.engines;
    let refused = |option: &str, value: u32, bound: &str| {
        let value = grouped(value.into());
        Err(format!("{option} is {value}, at {bound} is possible with --engines {engines}"))
    };
    if engines == 1 {
        return Ok(());
    }
    if let Some(resources) = args.resources {
        let count = resources.count().unwrap_or_default();
        if !args.client && count > MOST_DIVIDED {
            let bound = format!("most {}", grouped(MOST_DIVIDED.into()));
            return refused("--resources", count, &bound);
        }
    }
    let least = format!("least {engines}");
    match args.rate {
        Some(rates) if rates.from < engines => refused("--rate", rates.from, &least),
        _ if !args.client && args.in_flight < engines => {
            refused("--in-flight", args.in_flight, &least)
        }
        _ => Ok(()),
    }
}
