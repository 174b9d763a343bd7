//! The options of a trace, and their bounds.

use std::fmt;
use std::time::Duration;

use clap::builder::{StringValueParser, TypedValueParser};
use redbolt::redlock::MAX_SET;

use super::kind::Kind;
use crate::choice::one_of;
use crate::{duration, number};

/// The most transactions that are printed: as many as a file of a trace may have.
const MOST_PRINTED: u32 = super::file::MOST_TRANSACTIONS as u32;

/// The seed of a trace for which none is given.
const SEED: u64 = 1;

const LONGEST_PATIENCE: Duration = Duration::from_secs(60);
const SHORTEST_PATIENCE: Duration = Duration::from_millis(1);

/// The options that only a run with `--trace` has.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run transactions that take several locks, and release them together
    ///
    /// Run transactions that take several locks, hold them, and release them together. TRACE
    /// is one of
    ///   uniform[:LOCKS]       all equally often; a million, if absent
    ///   zipf[:LOCKS[:THETA]]  some far more often; 0.9, if absent
    ///   tpcc[:WAREHOUSES]     rows that TPC-C changes; 8, if absent
    ///   tatp[:SUBSCRIBERS]    those of TATP; a million, if absent
    ///   file:PATH             one a line, with spaces between names
    #[arg(long, value_name = "TRACE", allow_hyphen_values = true, value_parser = Kind::parse)]
    #[arg(verbatim_doc_comment)]
    #[arg(conflicts_with_all = ["resources", "fenced", "rate", "sweep", "rounds", "extend"])]
    #[arg(conflicts_with_all = ["key_len", "engines", "client", "out", "baseline", "against"])]
    trace: Option<Kind>,

    /// With --trace: all locks at once, or one after the other
    ///
    /// With --trace: set, all locks of a transaction in one request, which gets all or none;
    /// each, one request after the other, in the order of the names
    #[arg(long, value_name = "HOW", default_value = "set", requires = "trace")]
    #[arg(value_parser = one_of(Locks::NAMES, StringValueParser::new().try_map(Locks::parse)))]
    #[arg(verbatim_doc_comment, hide_possible_values = true)]
    locks: Locks,

    /// With --trace uniform or zipf: locks of a transaction
    #[arg(long, value_name = "N", default_value = "4", requires = "trace")]
    #[arg(allow_hyphen_values = true, value_parser = number::between(1, MAX_SET as u32))]
    transaction: u32,

    /// With --trace: how long to wait for all locks
    #[arg(long, value_name = "DURATION", default_value = "1s", requires = "trace")]
    #[arg(value_parser = duration::between(SHORTEST_PATIENCE, LONGEST_PATIENCE))]
    #[arg(allow_hyphen_values = true)]
    patience: Duration,

    /// With --trace: print N transactions instead of running any
    #[arg(long, value_name = "N", requires = "trace", allow_hyphen_values = true)]
    #[arg(value_parser = number::between(1, MOST_PRINTED))]
    print: Option<u32>,
}

/// The settings of a trace.
pub(crate) struct Trace {
    pub(super) kind: Kind,
    pub(super) locks: Locks,
    pub(super) transaction: usize,
    pub(super) patience: Duration,
    /// How long a transaction holds all its locks.
    pub(super) hold: Duration,
    pub(super) seed: u64,
    /// How many transactions to print instead of running any.
    pub(crate) print: Option<usize>,
}

impl Options {
    /// The settings of the trace; `None` for a run without one. Without a seed, a trace is the same
    /// every time: two runs, or two programs, can be compared without a thought about it.
    pub(crate) fn trace(&self, hold: Duration, seed: Option<u32>) -> Option<Trace> {
        Some(Trace {
            kind: self.trace.clone()?,
            locks: self.locks,
            transaction: self.transaction as usize,
            patience: self.patience,
            hold,
            seed: seed.map_or(SEED, u64::from),
            print: self.print.map(|count| count as usize),
        })
    }
}

/// How a transaction asks for its locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Locks {
    /// In one request, which gets all or none.
    Set,
    /// One request after the other, in the order of the names, which all transactions keep to, so
    /// that no two wait for each other.
    Each,
}

impl Locks {
    const NAMES: [&str; 2] = ["set", "each"];

    #[expect(clippy::needless_pass_by_value, reason = "the parser hands its text over")]
    fn parse(text: String) -> Result<Self, String> {
        match text.as_str() {
            "set" => Ok(Self::Set),
            "each" => Ok(Self::Each),
            _ => Err("one of set, each is possible".to_owned()),
        }
    }
}

impl fmt::Display for Locks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [set, each] = Self::NAMES;
        f.write_str(match self {
            Self::Set => set,
            Self::Each => each,
        })
    }
}
