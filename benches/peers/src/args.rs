//! The command line.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::plan::{Outcome, Plan, TlsNodes};
use crate::record::Record;
use crate::trace::{self, Locks};
use crate::{chart, contestants, nodes, row, table};

const USAGE: &str = "usage:
  redbolt-peers measure <contestant> --nodes <host:port,…> [--in-flight N] [--rate R]
                        [--seconds S] [--round N] [--tls-nodes <host:port,…> --tls-ca <file>]
  redbolt-peers trace <contestant> --trace <file> --nodes <host:port,…> [--locks set|each]
                      [--in-flight N] [--seconds S] [--patience S]
  redbolt-peers header
  redbolt-peers table <record.csv>
  redbolt-peers chart <record.csv>";

/// Carries out one command. Returns the text to print.
pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Outcome<String> {
    let command = args.next().unwrap_or_default();
    match command.as_str() {
        "measure" => measure(args),
        "trace" => trace::run(&trace_plan(args)?),
        "header" => Ok(format!("{}\n", row::HEADER)),
        "table" => Ok(table::tables(&record(&mut args)?.1)),
        "chart" => charts(args),
        _ => Err(USAGE.into()),
    }
}

/// Reads the record that the next argument names. Returns the record with its path.
fn record(args: &mut impl Iterator<Item = String>) -> Outcome<(PathBuf, Record)> {
    let path = PathBuf::from(args.next().ok_or(USAGE)?);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((path, Record::read(&text)?))
}

/// Draws the pictures into the folder of the record, under the name of the record.
fn charts(mut args: impl Iterator<Item = String>) -> Outcome<String> {
    let (path, record) = record(&mut args)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut drawn = String::new();
    for (name, svg) in chart::all(&record) {
        let target = path.with_file_name(format!("{stem}-{name}.svg"));
        fs::write(&target, svg)?;
        drawn += &format!("{}\n", target.display());
    }
    Ok(drawn)
}

fn measure(mut args: impl Iterator<Item = String>) -> Outcome<String> {
    let contestant = args.next().ok_or(USAGE)?;
    let plan = plan(args)?;
    nodes::check_empty(&plan)?;
    let before = nodes::cpu_seconds(&plan)?;
    let meter = contestants::run(&contestant, &plan)?;
    nodes::check_empty(&plan)?;
    let servers = nodes::cpu_seconds(&plan)? - before;
    let row = meter.row(&contestant, &plan, servers).ok_or("no cycle ended within the run")?;
    Ok(format!("{row}\n"))
}

fn plan(mut args: impl Iterator<Item = String>) -> Outcome<Plan> {
    let (mut tls_nodes, mut ca) = (None, None);
    let mut plan = Plan {
        nodes: Vec::new(),
        tls: None,
        in_flight: 512,
        rate: None,
        warm_up: Duration::from_millis(200),
        seconds: Duration::from_secs(1),
        round: 0,
    };
    while let Some(option) = args.next() {
        let value = args.next().ok_or_else(|| format!("{option} needs a value"))?;
        match option.as_str() {
            "--nodes" => plan.nodes = addresses(&value)?,
            "--tls-nodes" => tls_nodes = Some(addresses(&value)?),
            "--tls-ca" => ca = Some(PathBuf::from(value)),
            "--in-flight" => plan.in_flight = value.parse()?,
            "--rate" => plan.rate = Some(value.parse()?),
            "--seconds" => plan.seconds = Duration::try_from_secs_f64(value.parse()?)?,
            "--round" => plan.round = value.parse()?,
            _ => return Err(format!("unknown option {option}\n{USAGE}").into()),
        }
    }
    plan.tls = tls_nodes.zip(ca).map(|(nodes, ca)| TlsNodes { nodes, ca });
    let is_empty = plan.in_flight == 0 || plan.rate == Some(0) || plan.seconds.is_zero();
    if plan.nodes.is_empty() || is_empty {
        return Err(format!("nodes, and figures above zero, are needed\n{USAGE}").into());
    }
    Ok(plan)
}

fn trace_plan(mut args: impl Iterator<Item = String>) -> Outcome<trace::Plan> {
    let queue = match args.next().as_deref() {
        Some("redis-rs") => None,
        Some("redis-rs-tuned") => Some(contestants::LONG_QUEUE),
        _ => return Err(USAGE.into()),
    };
    let mut plan = trace::Plan {
        nodes: Vec::new(),
        trace: PathBuf::new(),
        locks: Locks::Set,
        in_flight: 512,
        seconds: Duration::from_secs(1),
        patience: Duration::from_secs(1),
        queue,
    };
    while let Some(option) = args.next() {
        let value = args.next().ok_or_else(|| format!("{option} needs a value"))?;
        match option.as_str() {
            "--nodes" => plan.nodes = addresses(&value)?,
            "--trace" => plan.trace = PathBuf::from(value),
            "--locks" if value == "set" => plan.locks = Locks::Set,
            "--locks" if value == "each" => plan.locks = Locks::Each,
            "--in-flight" => plan.in_flight = value.parse()?,
            "--seconds" => plan.seconds = Duration::try_from_secs_f64(value.parse()?)?,
            "--patience" => plan.patience = Duration::try_from_secs_f64(value.parse()?)?,
            _ => return Err(format!("unknown option {option} {value}\n{USAGE}").into()),
        }
    }
    if plan.nodes.is_empty() || plan.in_flight == 0 || plan.seconds.is_zero() {
        return Err(format!("nodes, and figures above zero, are needed\n{USAGE}").into());
    }
    Ok(plan)
}

fn addresses(list: &str) -> Outcome<Vec<SocketAddr>> {
    Ok(list.split(',').map(str::parse).collect::<Result<_, _>>()?)
}
