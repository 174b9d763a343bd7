//! What is true of a run before it begins: the program, the machine, the options.

use std::{fs, thread};

use redbolt::{Clock, Config};
use rustix::system::uname;

use super::args::{Args, Kind};
use super::load::demand::Demand;
use super::load::names::Naming;
use super::run::digits::thousandths;
use super::run::{Build, Machine, Options};

/// The seed of a run. One that is not given comes from the clock, and has no more bits than the
/// option takes: whoever reads the report can run with the same seed.
pub(crate) fn seed(args: &Args) -> u64 {
    args.seed().unwrap_or_else(|| (Clock::now().as_nanos() >> 8) as u32).into()
}

pub(crate) fn build() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("REDBOLT_COMMIT").map(str::to_owned),
    }
}

pub(crate) fn machine() -> Machine {
    let name = uname();
    let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    Machine {
        system: format!("{} {}", text(name.sysname()), text(name.release())),
        architecture: text(name.machine()),
        processor: fs::read_to_string("/proc/cpuinfo").ok().and_then(|info| model(&info)),
        processors: thread::available_parallelism().map_or(1, usize::from),
    }
}

/// Returns the model of the first processor, as Linux writes it.
fn model(cpuinfo: &str) -> Option<String> {
    let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let mut models = lines.filter(|(name, _)| name.trim() == "model name");
    models.next().map(|(_, model)| model.trim().to_owned())
}

pub(crate) fn options(args: &Args, config: &Config, demand: &Demand) -> Options {
    let millis = |time: std::time::Duration| thousandths(time.as_secs_f64() * 1e3);
    let (load, workers) = match args.crowd() {
        None => ("engines", None),
        Some(Kind::Threads(count)) => ("threads", Some(count)),
        Some(Kind::Tasks(count)) => ("tasks", Some(count)),
        Some(Kind::KeepAlive(count)) => ("keep_alive", Some(count)),
    };
    let rates: Vec<_> = args.levels().iter().filter_map(|level| level.rate).collect();
    Options {
        load: load.to_owned(),
        workers: workers.map(|count| count as u64),
        engines: config.threads,
        in_flight: args.in_flight() as u64,
        is_sweep: args.is_sweep(),
        arrivals: (!rates.is_empty()).then(|| demand.arrivals.to_string()),
        rates,
        rounds: args.rounds(),
        seconds: args.seconds().as_secs_f64(),
        warm_up_ms: millis(args.warm_up),
        ttl_ms: millis(args.ttl),
        hold_ms: millis(demand.hold),
        resources: demand.resources.count().map(|_| demand.resources.to_string()),
        key_len: Naming::new(demand).of_worker(0).len(),
        extend_percent: demand.extend_percent,
        is_fenced: args.fenced,
        asks_majority: args.asks_majority(),
        confirms: args.confirm,
        seed: demand.seed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_of_a_processor_is_read_as_linux_writes_it() {
        let info = "processor\t: 0\nmodel name\t: Some CPU @ 2.40GHz\nmodel name\t: Other\n";
        assert_eq!(model(info).as_deref(), Some("Some CPU @ 2.40GHz"));
        assert_eq!(model("processor : 0\n"), None);
    }
}
