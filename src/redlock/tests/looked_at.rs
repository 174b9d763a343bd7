//! The scripted side of a look: what one master has written, and what it answers.

use super::*;
use crate::redlock::wire::probe::PROBE;
use crate::redlock::wire::witness::LOOK;

/// The time of all masters when the clock of the rig is zero, in microseconds since 1970.
const EPOCH: u64 = 1_700_000_000_000_000;

/// What one master has written about itself. The answers are those of the script.
#[derive(Clone, Debug, Default)]
pub(super) struct Master {
    /// The number of the process.
    pub(super) process: u8,
    /// By how many microseconds the clock is ahead of those of the other masters.
    pub(super) ahead: u64,
    /// More lines of `INFO`, which win over those before.
    pub(super) extra: String,
    pub(super) witness: Option<Witness>,
    /// The last look, the last time in which nobody looked, and the number of looks.
    pub(super) stamp: Option<(u64, u64, u64, u64)>,
    /// What the master answers instead, if it does not run the script.
    pub(super) refusal: Option<&'static str>,
    /// The master speaks RESP3, and tells who tracks what happens to the witness.
    pub(super) tracks: bool,
    /// What the master answers instead to `HELLO` or to `CLIENT TRACKING`.
    pub(super) mute: Option<(&'static str, &'static str)>,
    /// What the master answers to a probe, if it lacks a right: by text, and by SHA-1.
    pub(super) probed: Option<[&'static str; 2]>,
}

#[derive(Clone, Debug)]
pub(super) struct Witness {
    pub(super) process: u8,
    pub(super) born: u64,
    pub(super) wall: u64,
    pub(super) origin: u64,
    pub(super) max_ttl: u64,
    pub(super) nodes: u64,
}

/// Returns the time of all masters and of the wall clock, in microseconds since 1970.
pub(super) fn micros(now: Instant) -> u64 {
    EPOCH + now.as_nanos() / 1_000
}

impl Master {
    /// Creates the master of a cluster that has been in use for a quarter of an hour.
    pub(super) fn old(process: u8, now: Instant, max_ttl: Duration, nodes: usize) -> Self {
        let born = micros(now) - 900_000_000;
        let max_ttl = max_ttl.as_millis() as u64;
        let nodes = nodes as u64;
        let witness = Witness { process, born, wall: born, origin: born, max_ttl, nodes };
        let stamp = Some((micros(now), 0, 0, 1));
        Self { process, witness: Some(witness), stamp, ..Self::default() }
    }

    /// Loses all keys.
    pub(super) fn flush(&mut self) {
        (self.witness, self.stamp) = (None, None);
    }

    /// Answers the words of a look.
    pub(super) fn answer(&mut self, now: Instant, words: &[String]) -> String {
        if words[0] == "CONFIG" {
            return self.setting(&words[2]);
        }
        if is_hello(words) {
            return match self.mute {
                Some((command, refusal)) if words[0] == command => refusal.to_owned(),
                _ if !self.tracks => format!("-ERR unknown command '{}'", words[0]),
                _ if words[0] == "HELLO" => {
                    "%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3".into()
                }
                _ if reads_witness(words) => "_".into(),
                _ => "+OK".into(),
            };
        }
        if is_probe(words) {
            let [by_text, by_sha] = self.probed.unwrap_or(["*0"; 2]);
            return (if words[0] == "EVAL" { by_text } else { by_sha }).to_owned();
        }
        if let Some(refusal) = self.refusal {
            return refusal.to_owned();
        }
        let time = micros(now) + self.ahead;
        let argument = |index: usize| -> u64 { words[5 + index].parse().expect("a number") };
        let (wall, max_ttl, nodes, span) = (argument(1), argument(2), argument(3), argument(4));
        let process = self.process;
        let (found, witness) = match self.witness.take() {
            None => {
                let new = Witness { process, born: time, wall, origin: time, max_ttl, nodes };
                (0, new)
            }
            Some(old) if old.process != process || old.born > time => {
                (2, Witness { process, born: time, wall, ..old })
            }
            Some(old) => (1, old),
        };
        let (at, mut from, mut to, count) =
            self.stamp.filter(|_| found > 0).unwrap_or((time, 0, 0, 0));
        if time.saturating_sub(at) > span.max(witness.max_ttl * 1_000) {
            (from, to) = (at, time);
        }
        self.stamp = Some((time, from, to, count + 1));
        let Witness { born, wall, origin, max_ttl, nodes, .. } = witness;
        self.witness = Some(witness);
        let numbers = [found, time, born, wall, origin, max_ttl, nodes, at, from, to, count + 1];
        let numbers: String = numbers.iter().map(|number| format!(":{number}\r\n")).collect();
        let sections = ["server", "replication", "memory", "stats", "persistence"];
        let text: String = sections.iter().map(|section| self.section(section)).collect();
        format!("*12\r\n{numbers}{}", info(&text))
    }

    /// Answers a look of the only client of one node.
    pub(super) fn usual_look(&mut self, now: Instant) -> String {
        let words = ["", "", "", "", "", "0", "1", "10000", "1", "10102000"].map(str::to_owned);
        self.answer(now, &words)
    }

    /// As above, after all keys were lost.
    pub(super) fn flushed_look(&mut self, now: Instant) -> String {
        self.flush();
        self.usual_look(now)
    }

    /// Returns a setting, as `CONFIG GET` tells it.
    fn setting(&self, name: &str) -> String {
        let value = |line: &str| Some(line.strip_prefix(name)?.strip_prefix(':')?.to_owned());
        let value = self.extra.lines().find_map(value).unwrap_or_else(|| "no".to_owned());
        format!("*2\r\n${}\r\n{name}\r\n${}\r\n{value}", name.len(), value.len())
    }

    /// Returns the text of a section of `INFO`.
    pub(super) fn section(&self, section: &str) -> String {
        let (process, extra) = (self.process, &self.extra);
        let text = match section {
            "server" => format!("run_id:{process:040x}\r\nredis_mode:standalone\r\n"),
            "replication" => "role:master\r\nsecond_repl_offset:-1\r\n".to_owned(),
            "memory" => "maxmemory:0\r\nmaxmemory_policy:noeviction\r\n".to_owned(),
            "stats" => "evicted_keys:0\r\n".to_owned(),
            "persistence" => "loading:0\r\n".to_owned(),
            other => panic!("nobody asks for {other}"),
        };
        format!("{text}{extra}")
    }
}

/// Returns whether this command is one of the two that ask for pushes.
fn is_hello(words: &[String]) -> bool {
    words[0] == "HELLO" || words[0] == "CLIENT" || reads_witness(words)
}

/// Returns whether this command opts in for the witness.
fn reads_witness(words: &[String]) -> bool {
    words[0] == "GET" && words[1].ends_with("redbolt:witness")
}

/// Returns whether this command tries our rights.
fn is_probe(words: &[String]) -> bool {
    words.get(1).is_some_and(|word| word == PROBE.text || word == PROBE.sha)
}

/// Returns whether this command belongs to a handshake alone, and is not seen by the stories.
pub(super) fn is_unseen(words: &[String]) -> bool {
    is_hello(words) || is_probe(words)
}

/// Returns the number of the ticket that this command is about.
pub(super) fn ticket_of(words: &[String]) -> Option<u64> {
    let name = match &words[0][..] {
        "SET" | "PTTL" => words.get(1),
        "EVALSHA" => words.get(3),
        _ => None,
    };
    let (number, _) = name?.strip_prefix("redbolt:next:")?.split_once(':')?;
    Some(u64::from_str_radix(number, 16).expect("a number"))
}

/// Returns whether this command belongs to a look, or to the end of a handshake.
pub(super) fn is_look(words: &[String]) -> bool {
    words[0] == "CONFIG" || words.get(1).is_some_and(|word| word == LOOK.text || word == LOOK.sha)
}
