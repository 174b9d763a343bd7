//! What the servers say of themselves: how many commands they ran, how far away they are, and when
//! a key ends.
//!
//! `INFO commandstats` counts what a script calls as well. `Counts::requests` leaves out what
//! scripts call, so that what is left was sent by somebody.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use redbolt::Clock;
use redbolt::time::Instant;

use crate::Outcome;
use crate::figures::Samples;
use crate::load::sleep_until;

/// What scripts call: nobody here sends these by themselves.
const INNER: [&str; 6] = ["del", "unlink", "exists", "pexpire", "pttl", "time"];

/// What engines ask the servers about themselves, each third of a span of a minute. A short time
/// without contention sees none of it or too many, so this is left out of all sums.
const LOOK: &str = "info";

const TIMEOUT: Duration = Duration::from_secs(10);

/// A connection of our own to each server, which no proxy delays.
pub(crate) struct Census {
    nodes: Vec<TcpStream>,
}

/// Commands by name, over all nodes.
#[derive(Clone, Default)]
pub(crate) struct Counts {
    pub(crate) by_name: BTreeMap<String, f64>,
}

impl Counts {
    /// All commands, with what scripts call.
    pub(crate) fn total(&self) -> f64 {
        self.sum_without(&[])
    }

    /// The commands that somebody has sent. A script that releases a lock calls `GET` before `DEL`,
    /// and all other `GET`s were sent by those who wait.
    pub(crate) fn requests(&self) -> f64 {
        let count = |name| self.by_name.get(name).copied().unwrap_or_default();
        self.sum_without(&INNER) - count("get").min(count("del"))
    }

    fn sum_without(&self, names: &[&str]) -> f64 {
        let is_out = |name: &str| name == LOOK || names.contains(&name);
        self.by_name.iter().filter(|(name, _)| !is_out(name)).map(|(_, count)| count).sum()
    }

    /// Returns the counts of all of these nodes.
    pub(crate) fn sum(nodes: &[Self]) -> Self {
        let mut sum = Self::default();
        for (name, count) in nodes.iter().flat_map(|node| &node.by_name) {
            *sum.by_name.entry(name.clone()).or_default() += count;
        }
        sum
    }

    /// Returns these counts without those.
    pub(crate) fn without(&self, other: &Self, times: f64) -> Self {
        let mut by_name = self.by_name.clone();
        for (name, count) in &other.by_name {
            *by_name.entry(name.clone()).or_default() -= count * times;
        }
        Self { by_name }
    }

    /// Returns what the sums are made of.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        let named = self.by_name.iter().map(|(name, &count)| (name.as_str(), count));
        named.filter(|&(name, count)| name != LOOK && count.abs() >= 0.5)
    }
}

impl Census {
    pub(crate) fn connect(nodes: &[String]) -> Outcome<Self> {
        let connect = |node: &String| -> Outcome<TcpStream> {
            let stream = TcpStream::connect(node)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(TIMEOUT))?;
            Ok(stream)
        };
        Ok(Self { nodes: nodes.iter().map(connect).collect::<Outcome<_>>()? })
    }

    /// Returns all commands so far. A later count has one `INFO` for each node more, by ourselves,
    /// which [`Self::between`] takes off: a server counts a command when the command is over.
    pub(crate) fn counts(&self) -> Outcome<Counts> {
        Ok(Counts::sum(&self.counts_by_node()?))
    }

    fn counts_by_node(&self) -> Outcome<Vec<Counts>> {
        let of = |text: &String| {
            let calls = text.lines().filter_map(calls);
            Counts { by_name: calls.map(|(name, calls)| (name.to_owned(), calls)).collect() }
        };
        Ok(self.ask("INFO commandstats")?.iter().map(of).collect())
    }

    pub(crate) fn between(&self, before: &Counts, after: &Counts) -> Counts {
        let mut counts = after.without(before, 1.0);
        *counts.by_name.entry("info".to_owned()).or_default() -= self.nodes.len() as f64;
        counts
    }

    /// Returns the commands of a time in which nobody gets a lock, per second.
    pub(crate) fn rate(&self, length: Duration) -> Outcome<Counts> {
        Ok(Counts::sum(&self.rate_by_node(length)?))
    }

    /// Returns the same for each node.
    pub(crate) fn rate_by_node(&self, length: Duration) -> Outcome<Vec<Counts>> {
        let (start, before) = (Clock::now(), self.counts_by_node()?);
        sleep_until(start + length);
        let after = self.counts_by_node()?;
        let seconds = (Clock::now() - start).as_secs_f64();
        let rates = before.iter().zip(&after).map(|(before, after)| {
            let mut counts = after.without(before, 1.0);
            *counts.by_name.entry("info".to_owned()).or_default() -= 1.0;
            counts.by_name.values_mut().for_each(|count| *count /= seconds);
            counts
        });
        Ok(rates.collect())
    }

    /// Returns the median time from a `PING` to all of these nodes to the answers of a majority.
    pub(crate) fn round_trip(nodes: &[String]) -> Outcome<Duration> {
        let mut census = Self::connect(nodes)?;
        census.nodes.truncate(nodes.len() / 2 + 1);
        let mut times = Vec::new();
        for _ in 0..200 {
            let start = Clock::now();
            census.ask("PING")?;
            times.push((Clock::now() - start).as_nanos() as u64);
        }
        Ok(Duration::from_nanos(Samples::from_iter(times).percentile(50.0) as u64))
    }

    /// Returns when a majority of the nodes will have forgotten a key, as they see it now.
    pub(crate) fn expiry(&self, key: &str) -> Outcome<Instant> {
        let answers = self.ask(&format!("PTTL {key}"))?;
        let now = Clock::now();
        let left = answers.iter().map(|answer| {
            let millis: i64 = answer.parse()?;
            Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
        });
        let mut left: Vec<_> = left.collect::<Outcome<_>>()?;
        left.sort_unstable();
        Ok(now + left[left.len() / 2])
    }

    /// Sends a command to all nodes, and then reads the answers.
    fn ask(&self, command: &str) -> Outcome<Vec<String>> {
        for mut node in &self.nodes {
            node.write_all(format!("{command}\r\n").as_bytes())?;
        }
        self.nodes.iter().map(read_answer).collect()
    }
}

/// Reads a status, a number or a text.
fn read_answer(mut node: &TcpStream) -> Outcome<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 << 10];
    loop {
        if let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let (kind, rest) = head.split_at(1);
            if kind != "$" {
                return Ok(rest.to_owned());
            }
            let len: usize = rest.parse()?;
            if bytes.len() >= end + 2 + len + 2 {
                return Ok(String::from_utf8_lossy(&bytes[end + 2..end + 2 + len]).into_owned());
            }
        }
        match node.read(&mut chunk)? {
            0 => return Err("a server has closed the connection".into()),
            count => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}

/// Reads `cmdstat_client|setname:calls=5,…`.
pub(crate) fn calls(line: &str) -> Option<(&str, f64)> {
    let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
    Some((name, rest.split(',').next()?.parse().ok()?))
}
