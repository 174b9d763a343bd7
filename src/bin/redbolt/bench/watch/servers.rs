//! What the servers themselves say of a step: their processor time, and the commands they have run.

use std::collections::BTreeMap;
use std::thread;

use redbolt::time::Instant;
use redbolt::{Address, Clock};

use crate::bench::nodes::plain::Plain;
use crate::bench::run::digits::{tenths, thousandths};
use crate::bench::run::{Calls, NodeCost, ServerCost};

/// The answer of a server at one moment, or why there is none.
pub(crate) type Asked = Result<Figures, String>;

/// What a server has counted since its start.
pub(crate) struct Figures {
    at: Instant,
    cpu_us: f64,
    /// For each command: calls and microseconds.
    commands: BTreeMap<String, (u64, u64)>,
}

/// Asks all nodes at the same time.
pub(crate) fn ask_all(nodes: &[Address]) -> Vec<Asked> {
    thread::scope(|scope| {
        let spawn = |node| thread::Builder::new().spawn_scoped(scope, move || ask(node));
        let asking: Vec<_> = nodes.iter().map(spawn).collect();
        let answer = |thread: std::io::Result<thread::ScopedJoinHandle<'_, Asked>>| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|_| Err("asking has panicked".to_owned())),
            Err(error) => Err(error.to_string()),
        };
        asking.into_iter().map(answer).collect()
    })
}

fn ask(node: &Address) -> Asked {
    let mut plain = Plain::open(node)?;
    let commands = plain.ask(&["INFO", "commandstats"])?;
    let cpu = plain.ask(&["INFO", "cpu"])?;
    let at = Clock::now();
    let cpu_us = cpu_us(&cpu).ok_or_else(|| "the server does not tell its CPU time".to_owned())?;
    Ok(Figures { at, cpu_us, commands: calls(&commands) })
}

/// The most processor time that a server can have had: a thousand processors for thirty years. A
/// server that tells more tells no time, and no figure could be made of so large a number.
const MOST_SECONDS: f64 = 1e12;

/// Returns the processor time of `INFO cpu`, without that of children.
fn cpu_us(info: &str) -> Option<f64> {
    let possible = 0.0..=MOST_SECONDS;
    let seconds = |name: &str| {
        let value = info.lines().find_map(|line| line.strip_prefix(name));
        value
            .and_then(|value| value.trim().parse::<f64>().ok())
            .filter(|time| possible.contains(time))
    };
    Some((seconds("used_cpu_user:")? + seconds("used_cpu_sys:")?) * 1e6)
}

/// The most commands that are kept of a server, and the longest name of one. Servers have some 400,
/// and every step of a run keeps what its servers have told.
const MOST_COMMANDS: usize = 1_000;
const LONGEST_NAME: usize = 64;

/// Reads lines such as `cmdstat_set:calls=17,usec=40,usec_per_call=2.35,…`.
fn calls(info: &str) -> BTreeMap<String, (u64, u64)> {
    let command = |line: &str| {
        let (name, fields) = line.strip_prefix("cmdstat_")?.split_once(':')?;
        if name.len() > LONGEST_NAME {
            return None;
        }
        let field = |name: &str| {
            let value = fields.split(',').find_map(|field| field.strip_prefix(name));
            value.and_then(|value| value.parse().ok())
        };
        Some((name.to_owned(), (field("calls=")?, field("usec=")?)))
    };
    info.lines().filter_map(command).take(MOST_COMMANDS).collect()
}

/// Returns what the servers have done between two moments, for so many cycles a second; `None` if
/// no server could be asked twice.
pub(crate) fn cost(
    nodes: &[Address],
    before: &[Asked],
    after: &[Asked],
    cycles_per_s: f64,
) -> Option<ServerCost> {
    let mut costs = Vec::new();
    // Rounded figures are for the report: of servers that are nearly idle, little would be left.
    let mut us_per_s = 0.0;
    for ((node, before), after) in nodes.iter().zip(before).zip(after) {
        let (Ok(before), Ok(after)) = (before, after) else { continue };
        let seconds = (after.at - before.at).as_secs_f64();
        // A server that was started anew in between has counted from zero again.
        if seconds > 0.0 && after.cpu_us >= before.cpu_us {
            us_per_s += (after.cpu_us - before.cpu_us) / seconds;
            costs.push(node_cost(node, before, after, seconds));
        }
    }
    let busiest_cpu_percent = costs.iter().map(|node| node.cpu_percent).reduce(f64::max)?;
    let cpu_us_per_cycle = (cycles_per_s > 0.0).then(|| thousandths(us_per_s / cycles_per_s));
    Some(ServerCost { cpu_us_per_cycle, busiest_cpu_percent, nodes: costs })
}

fn node_cost(node: &Address, before: &Figures, after: &Figures, seconds: f64) -> NodeCost {
    let commands = after.commands.iter().filter_map(|(name, &(calls, us))| {
        let (calls_before, us_before) = before.commands.get(name).copied().unwrap_or_default();
        let calls = calls.checked_sub(calls_before).filter(|&calls| calls > 0)?;
        let us_per_call = us.saturating_sub(us_before) as f64 / calls as f64;
        let calls_per_s = tenths(calls as f64 / seconds);
        Some((name.clone(), Calls { calls_per_s, us_per_call: thousandths(us_per_call) }))
    });
    NodeCost {
        node: node.to_string(),
        // One percent of a processor is 10,000 µs a second.
        cpu_percent: tenths((after.cpu_us - before.cpu_us) / seconds / 1e4),
        commands: commands.collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn info_is_read_as_servers_write_it() {
        let cpu = "# CPU\r\nused_cpu_sys:1.250000\r\nused_cpu_user:0.750000\r\n\
                   used_cpu_sys_children:9.0\r\n";
        assert_eq!(cpu_us(cpu), Some(2e6));
        assert_eq!(cpu_us("used_cpu_sys:1.0\r\n"), None);
        for time in ["inf", "NaN", "-1", "1e308", "-1e-300"] {
            assert_eq!(cpu_us(&format!("used_cpu_sys:{time}\r\nused_cpu_user:1\r\n")), None);
        }
        let stats = "# Commandstats\r\ncmdstat_set:calls=17,usec=40,usec_per_call=2.35\r\n\
                     cmdstat_config|get:calls=2,usec=3,usec_per_call=1.50\r\ncmdstat_odd:x\r\n";
        let expected = [("config|get".to_owned(), (2, 3)), ("set".to_owned(), (17, 40))];
        assert_eq!(calls(stats), BTreeMap::from(expected));
    }

    #[test]
    fn a_server_that_tells_of_too_many_commands_takes_no_more_memory_than_others() {
        let stat = |name: &str| format!("cmdstat_{name}:calls=1,usec=1\r\n");
        let many: String = (0..20_000).map(|number| stat(&number.to_string())).collect();
        assert_eq!(calls(&many).len(), MOST_COMMANDS);
        assert!(calls(&stat(&"x".repeat(LONGEST_NAME + 1))).is_empty());
    }

    #[test]
    fn costs_are_those_between_the_two_answers() {
        let figures = |seconds, cpu_us, set| Figures {
            at: Instant::ZERO + Duration::from_secs(seconds),
            cpu_us,
            commands: BTreeMap::from([("set".to_owned(), (set, set * 2))]),
        };
        let node = Address::new("a", 1).expect("an address");
        let nodes = [node.clone(), node.clone(), node];
        let before = [Ok(figures(1, 1e6, 10)), Ok(figures(1, 5e6, 10)), Err("gone".to_owned())];
        let after = [Ok(figures(3, 2e6, 2_010)), Ok(figures(3, 4e6, 10)), Ok(figures(3, 1.0, 1))];
        let cost = cost(&nodes, &before, &after, 1_000.0).expect("one has answered twice");
        // The second has started anew, and the third did not answer at first.
        assert_eq!(cost.nodes.len(), 1);
        assert_eq!((cost.busiest_cpu_percent, cost.cpu_us_per_cycle), (50.0, Some(500.0)));
        let set = &cost.nodes[0].commands["set"];
        assert_eq!((set.calls_per_s, set.us_per_call), (1_000.0, 2.0));
    }

    #[test]
    fn the_cost_of_a_cycle_is_told_of_servers_that_are_nearly_idle() {
        let figures = |seconds, cpu_us| Figures {
            at: Instant::ZERO + Duration::from_secs(seconds),
            cpu_us,
            commands: BTreeMap::new(),
        };
        let node = Address::new("a", 1).expect("an address");
        // 400 µs a second are 0.04 % of a processor.
        let [before, after] = [[Ok(figures(1, 0.0))], [Ok(figures(2, 400.0))]];
        let cost = cost(&[node], &before, &after, 10.0).expect("it has answered twice");
        assert_eq!((cost.busiest_cpu_percent, cost.cpu_us_per_cycle), (0.0, Some(40.0)));
    }
}
