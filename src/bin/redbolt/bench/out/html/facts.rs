//! What was measured where, and with which options.

use super::markup::{ABSENT, count, escaped, facts, figure, section as titled, yes};
use crate::bench::run::{Machine, Options, Run};

pub(super) fn section(run: &Run) -> String {
    let build = &run.redbolt;
    let program = facts([
        ("redbolt", escaped(&build.version)),
        ("commit", build.commit.as_deref().map_or_else(|| ABSENT.to_owned(), escaped)),
        ("started", escaped(&run.started_at)),
        ("ended early", run.ended_early.as_deref().map_or_else(|| "no".to_owned(), escaped)),
        ("servers", escaped(&run.servers)),
        ("schema of run.json", count(run.schema.into())),
    ]);
    let body = [
        "<h3>Machine of the client</h3>\n",
        &machine(&run.machine),
        "<h3>Options</h3>\n",
        &options(&run.options),
        "<h3>Program</h3>\n",
        &program,
    ];
    titled("What was measured", &body.concat())
}

fn machine(machine: &Machine) -> String {
    facts([
        ("system", escaped(&machine.system)),
        ("architecture", escaped(&machine.architecture)),
        ("processor", machine.processor.as_deref().map_or_else(|| ABSENT.to_owned(), escaped)),
        ("processors", count(machine.processors as u64)),
    ])
}

fn options(options: &Options) -> String {
    let text = |text: &Option<String>, absent: &str| {
        text.as_deref().map_or_else(|| absent.to_owned(), escaped)
    };
    let rates = match options.rates.as_slice() {
        [] => "closed loop".to_owned(),
        rates => rates.iter().map(|&rate| count(rate.into())).collect::<Vec<_>>().join(", "),
    };
    facts([
        ("load", escaped(&options.load)),
        ("workers", options.workers.map_or_else(|| ABSENT.to_owned(), count)),
        ("engines", count(options.engines as u64)),
        ("in flight, at most", count(options.in_flight)),
        ("sweep", yes(options.is_sweep)),
        ("starts a second", rates),
        ("arrivals", text(&options.arrivals, ABSENT)),
        ("rounds", count(options.rounds.into())),
        ("seconds", figure(options.seconds)),
        ("warm-up, ms", figure(options.warm_up_ms)),
        ("ttl, ms", figure(options.ttl_ms)),
        ("hold, ms", figure(options.hold_ms)),
        ("resources", text(&options.resources, "one for each cycle")),
        ("bytes of a name", count(options.key_len as u64)),
        ("extended", format!("{} %", options.extend_percent)),
        ("fenced", yes(options.is_fenced)),
        ("asks a majority first", yes(options.asks_majority)),
        ("waits for releases", yes(options.confirms)),
        ("seed", count(options.seed)),
    ])
}
