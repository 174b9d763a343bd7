//! One measurement as a line of a record.

use std::fmt;

use crate::plan::Outcome;

/// The columns, in the order in which they are written.
pub(crate) const HEADER: &str = "round,contestant,in_flight,rate,seconds,cycles,cycles_per_s,\
     cpu_us_per_cycle,server_cpu_us_per_cycle,\
     acquire_p50_us,acquire_p90_us,acquire_p99_us,acquire_p999_us";

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row {
    pub(crate) round: u32,
    pub(crate) contestant: String,
    pub(crate) in_flight: usize,
    /// Starts a second; 0 in a closed loop.
    pub(crate) rate: u32,
    pub(crate) seconds: f64,
    pub(crate) cycles: u64,
    pub(crate) cycles_per_s: f64,
    /// Processor time of the client, all threads.
    pub(crate) cpu_us: f64,
    /// Processor time of all nodes together.
    pub(crate) server_cpu_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p90_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) p999_us: f64,
}

/// A function that takes one figure from a row.
pub(crate) type Figure = fn(&Row) -> f64;

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{},{},{},{},{:.3},{},{:.1},{:.3},{:.3},{:.1},{:.1},{:.1},{:.1}",
            self.round,
            self.contestant,
            self.in_flight,
            self.rate,
            self.seconds,
            self.cycles,
            self.cycles_per_s,
            self.cpu_us,
            self.server_cpu_us,
            self.p50_us,
            self.p90_us,
            self.p99_us,
            self.p999_us,
        )
    }
}

/// Reads all rows of a record.
pub(crate) fn read(text: &str) -> Outcome<Vec<Row>> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err("this is no record: its first line does not name the columns".into());
    }
    lines.map(|line| parse(line).ok_or_else(|| format!("unreadable row: {line}").into())).collect()
}

fn parse(line: &str) -> Option<Row> {
    let mut fields = line.split(',');
    let mut next = || fields.next();
    let row = Row {
        round: next()?.parse().ok()?,
        contestant: next()?.to_owned(),
        in_flight: next()?.parse().ok()?,
        rate: next()?.parse().ok()?,
        seconds: next()?.parse().ok()?,
        cycles: next()?.parse().ok()?,
        cycles_per_s: next()?.parse().ok()?,
        cpu_us: next()?.parse().ok()?,
        server_cpu_us: next()?.parse().ok()?,
        p50_us: next()?.parse().ok()?,
        p90_us: next()?.parse().ok()?,
        p99_us: next()?.parse().ok()?,
        p999_us: next()?.parse().ok()?,
    };
    next().is_none().then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_as_it_was_written() {
        let line = "3,redis-rs,512,0,0.500,25000,50000.0,18.700,20.100,9000.1,9100.2,9200.3,9300.4";
        let rows = read(&format!("{HEADER}\n{line}\n")).expect("a record");
        assert_eq!(rows[0].to_string(), line);
        assert_eq!(rows[0].contestant, "redis-rs");
        assert_eq!(rows[0].p999_us, 9300.4);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        assert!(read("a,b\n1,2\n").is_err());
        assert!(read(&format!("{HEADER}\n1,raw\n")).is_err());
        assert_eq!(HEADER.split(',').count(), 13);
    }
}
