//! An earlier run, read from its `run.json`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use crate::bench::plan::{Level, MOST_ROUNDS};
use crate::bench::run::{Run, SCHEMA};
use crate::failure::Failure;
use crate::number::grouped;

/// The longest file. A step takes some five kilobytes.
const LONGEST: u64 = 64 << 20;

/// With fewer rounds, an interval says nothing.
pub(crate) const LEAST_ROUNDS: u32 = 3;

/// The one field that every schema has.
#[derive(Deserialize)]
struct Numbered {
    schema: u32,
}

/// Reads a run that can be compared with one of these levels and rounds, or says why not.
pub(crate) fn read(path: &Path, levels: &[Level], rounds: u32) -> Result<Run, Failure> {
    let name = path.display();
    if rounds < LEAST_ROUNDS {
        let least = format!("at least {LEAST_ROUNDS} are possible with --baseline");
        return Err(Failure::usage(format!("--rounds is {rounds}, {least}")));
    }
    let run = parse(&text(path)?).map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    let last = run.steps.iter().map(|step| step.round).max().unwrap_or_default();
    if last > MOST_ROUNDS {
        let (last, most) = (grouped(last.into()), grouped(MOST_ROUNDS.into()));
        return Err(Failure::usage(format!(
            "{name} has a round {last}, at most {most} is possible"
        )));
    }
    let measured = run.options.rounds;
    if measured < LEAST_ROUNDS {
        let needed = format!("{LEAST_ROUNDS} are needed: --rounds {LEAST_ROUNDS}");
        let rounds = if measured == 1 { "round" } else { "rounds" };
        return Err(Failure::usage(format!("{name} has {measured} {rounds}, {needed}")));
    }
    if let Some(why) = &run.ended_early {
        return Err(Failure::usage(format!("{name} is of a run that has ended early: {why:?}")));
    }
    let is_common = |level: &Level| {
        let load = (level.in_flight as u64, level.rate);
        run.levels.iter().any(|old| old.load() == load)
    };
    if !levels.iter().any(is_common) {
        return Err(Failure::usage(format!("{name} has none of the loads of this run")));
    }
    Ok(run)
}

fn text(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    read.map_err(|error| Failure::usage(format!("{name} cannot be read: {error}")))?;
    if text.len() as u64 > LONGEST {
        let most = LONGEST >> 20;
        return Err(Failure::usage(format!("{name} is too large for a run: {most} MiB at most")));
    }
    Ok(text)
}

fn parse(text: &str) -> Result<Run, String> {
    let Numbered { schema } =
        serde_json::from_str(text).map_err(|error| format!("no run.json: {error}"))?;
    if schema != SCHEMA {
        return Err(format!("its schema is {schema}, {SCHEMA} is possible"));
    }
    serde_json::from_str(text).map_err(|error| format!("no run.json: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_run_of_this_schema_is_told_apart() {
        let error = |text| parse(text).err().unwrap_or_default();
        assert!(error("").starts_with("no run.json: EOF"), "{}", error(""));
        assert!(error("{}").starts_with("no run.json: missing field `schema`"), "{}", error("{}"));
        assert_eq!(error(r#"{"schema":2}"#), "its schema is 2, 1 is possible");
        assert!(error(r#"{"schema":1}"#).starts_with("no run.json: missing field"));
    }
}
