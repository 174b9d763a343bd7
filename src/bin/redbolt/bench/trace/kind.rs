//! Which trace is run: the text of `--trace`, and the generator that it stands for.

use std::fmt;
use std::path::PathBuf;

use super::draw::Generator;
use super::synthetic::Synthetic;
use super::tatp::Tatp;
use super::tpcc::{ROWS, Tpcc};
use super::transactions::{Refusal, Transactions};
use crate::number;

/// The most locks of a trace: Zipf's table takes eight bytes for each.
const MOST_LOCKS: u32 = 10_000_000;
const MOST_WAREHOUSES: u32 = 10_000;
const MOST_SUBSCRIBERS: u32 = 10_000_000;

/// With a larger `theta` one lock has nearly all of the load.
const MOST_THETA: f64 = 5.0;

const LOCKS: u32 = 1_000_000;
const THETA: f64 = 0.9;
const WAREHOUSES: u32 = 8;
const SUBSCRIBERS: u32 = 1_000_000;

// Whichever trace is run without more words, there are a million locks.
const _: () = assert!(WAREHOUSES as u64 * ROWS >= LOCKS as u64);

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    Uniform { locks: u32 },
    Zipf { locks: u32, theta: f64 },
    Tpcc { warehouses: u32 },
    Tatp { subscribers: u32 },
    File(PathBuf),
}

impl Kind {
    /// Reads the text of the option. The error continues `--trace is "text", …`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        match name {
            "uniform" => Ok(Self::Uniform { locks: count(rest, LOCKS, MOST_LOCKS, "locks")? }),
            "zipf" => {
                let (locks, theta) = match rest.and_then(|rest| rest.split_once(':')) {
                    Some((locks, theta)) => (Some(locks), Some(theta)),
                    None => (rest, None),
                };
                let locks = count(locks, LOCKS, MOST_LOCKS, "locks")?;
                Ok(Self::Zipf { locks, theta: exponent(theta)? })
            }
            "tpcc" => {
                let warehouses = count(rest, WAREHOUSES, MOST_WAREHOUSES, "warehouses")?;
                Ok(Self::Tpcc { warehouses })
            }
            "tatp" => {
                let subscribers = count(rest, SUBSCRIBERS, MOST_SUBSCRIBERS, "subscribers")?;
                Ok(Self::Tatp { subscribers })
            }
            "file" => match rest {
                Some(path) if !path.is_empty() => Ok(Self::File(path.into())),
                _ => Err("file: needs a path behind it".to_owned()),
            },
            _ => Err("one of uniform, zipf, tpcc, tatp, file:PATH is possible".to_owned()),
        }
    }

    /// Generates `transactions` of `size` locks each, where the trace leaves the size open, or as
    /// many as a trace has room for. A file generates none.
    pub(super) fn generate(
        &self,
        size: usize,
        seed: u64,
        transactions: usize,
    ) -> Result<Transactions, String> {
        let mut generator: Box<dyn Generator> = match *self {
            Self::Uniform { locks } | Self::Zipf { locks, .. } if size > locks as usize => {
                return Err(format!(
                    "--transaction is {size}, at most {locks} is possible with --trace {self}"
                ));
            }
            Self::Uniform { locks } => Box::new(Synthetic::uniform(locks, size, seed)),
            Self::Zipf { locks, theta } => Box::new(Synthetic::zipf(locks, theta, size, seed)),
            Self::Tpcc { warehouses } => Box::new(Tpcc::new(warehouses, seed)),
            Self::Tatp { subscribers } => Box::new(Tatp::new(subscribers, seed)),
            Self::File(_) => return Ok(Transactions::default()),
        };
        let mut trace = Transactions::default();
        for _ in 0..transactions {
            let mut names = generator.next();
            names.sort_unstable();
            names.dedup();
            match trace.push(names) {
                Ok(()) => {}
                Err(Refusal::Full) => break,
                Err(refusal) => return Err(format!("a transaction has {refusal}")),
            }
        }
        Ok(trace)
    }
}

fn count(text: Option<&str>, absent: u32, most: u32, what: &str) -> Result<u32, String> {
    let Some(text) = text else { return Ok(absent) };
    let describe = |error| format!("the number of {what} is {text:?}, and {error}");
    number::between(1, most)(text).map_err(describe)
}

fn exponent(text: Option<&str>) -> Result<f64, String> {
    let Some(text) = text else { return Ok(THETA) };
    let theta = text.parse().ok().filter(|theta| (0.0..=MOST_THETA).contains(theta));
    theta.ok_or_else(|| {
        format!("theta is {text:?}, and a number between 0 and {MOST_THETA} is possible")
    })
}

/// Writes the trace with all its parameters.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform { locks } => write!(f, "uniform:{locks}"),
            Self::Zipf { locks, theta } => write!(f, "zipf:{locks}:{theta}"),
            Self::Tpcc { warehouses } => write!(f, "tpcc:{warehouses}"),
            Self::Tatp { subscribers } => write!(f, "tatp:{subscribers}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_a_million_locks_and_a_theta_of_nine_tenths() {
        let rows = [
            ("uniform", "uniform:1000000"),
            ("uniform:8", "uniform:8"),
            ("zipf", "zipf:1000000:0.9"),
            ("zipf:1000", "zipf:1000:0.9"),
            ("zipf:1000:1", "zipf:1000:1"),
            ("zipf:1000:0", "zipf:1000:0"),
            ("tpcc", "tpcc:8"),
            ("tatp:5", "tatp:5"),
            ("file:a:b", "file:a:b"),
        ];
        for (text, expected) in rows {
            assert_eq!(Kind::parse(text).map(|kind| kind.to_string()), Ok(expected.to_owned()));
        }
    }

    #[test]
    fn what_is_no_trace_is_named_with_its_bounds() {
        let rows = [
            ("", "one of uniform, zipf, tpcc, tatp, file:PATH is possible"),
            ("ycsb", "one of uniform, zipf, tpcc, tatp, file:PATH is possible"),
            ("file:", "file: needs a path behind it"),
            ("file", "file: needs a path behind it"),
            (
                "uniform:0",
                "the number of locks is \"0\", and a whole number between 1 and 10,000,000 is \
                 possible",
            ),
            (
                "tpcc:10001",
                "the number of warehouses is \"10001\", and a whole number between 1 and 10,000 \
                 is possible",
            ),
            ("zipf:5:6", "theta is \"6\", and a number between 0 and 5 is possible"),
            ("zipf:5:NaN", "theta is \"NaN\", and a number between 0 and 5 is possible"),
            ("zipf:5:0:1", "theta is \"0:1\", and a number between 0 and 5 is possible"),
        ];
        for (text, expected) in rows {
            assert_eq!(Kind::parse(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_seed_stands_for_its_transactions() {
        for text in ["uniform:100", "zipf:100", "tpcc", "tatp:9"] {
            let kind = Kind::parse(text).expect("a trace");
            let made = |seed| {
                let trace = kind.generate(4, seed, 50).expect("all are in bounds");
                let names = |number| trace.names(number).map(<[u8]>::to_vec).collect::<Vec<_>>();
                (0..trace.len()).map(names).collect::<Vec<_>>()
            };
            assert_eq!(made(1), made(1), "{text}");
            assert_ne!(made(1), made(2), "{text}");
        }
    }

    #[test]
    fn a_transaction_with_more_locks_than_there_are_is_refused() {
        let kind = Kind::parse("zipf:3").expect("a trace");
        let refused = kind.generate(4, 1, 1).err();
        let expected = "--transaction is 4, at most 3 is possible with --trace zipf:3:0.9";
        assert_eq!(refused.as_deref(), Some(expected));
    }
}
