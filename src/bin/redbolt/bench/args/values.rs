//! The values of options that are neither a number nor a duration alone.

use std::fmt;

use crate::bench::load::demand::{Arrivals, Resources};
use crate::number::grouped;

/// The most starts a second: more than one thread makes.
pub(crate) const MOST_STARTS: u32 = 1_000_000;

/// The most resources of different popularity; each takes twelve bytes for each engine.
pub(crate) const MOST_POPULAR: u32 = 1_000_000;

/// The exponent that YCSB has made usual.
const USUAL_EXPONENT: f64 = 0.99;

/// More than this leaves all draws to the first resources.
const MOST_EXPONENT: f64 = 10.0;

/// One rate, or the first and the last of several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rates {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

impl Rates {
    /// Returns every rate: each twice the one before, and the last.
    pub(crate) fn all(self) -> Vec<u32> {
        let twice = |rate: &u32| rate.checked_mul(2);
        let mut all: Vec<_> = std::iter::successors(Some(self.from), twice)
            .take_while(|&rate| rate < self.to)
            .collect();
        all.push(self.to);
        all
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { from, to } if from == to => write!(f, "{from}"),
            Self { from, to } => write!(f, "{from}..{to}"),
        }
    }
}

/// Parses `500`, `20k` or `1k..200k`.
pub(crate) fn rates(text: &str) -> Result<Rates, String> {
    let most = grouped(MOST_STARTS.into());
    let parsed = match text.split_once("..") {
        None => rate(text).map(|rate| Rates { from: rate, to: rate }),
        Some((from, to)) => rate(from).zip(rate(to)).map(|(from, to)| Rates { from, to }),
    };
    parsed.filter(|rates| rates.from <= rates.to).ok_or_else(|| {
        format!(
            "a whole number between 1 and {most}, or a range from less to more such as 1k..200k, \
             is possible"
        )
    })
}

/// Reads a number of starts a second, with `k` for thousands or `m` for millions.
fn rate(text: &str) -> Option<u32> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => text.strip_suffix(['m', 'M']).map_or((text, 1.0), |digits| (digits, 1e6)),
    };
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = digits.parse::<f64>().ok().filter(|_| is_plain)? * unit;
    let is_whole = value.fract() == 0.0 && (1.0..=f64::from(MOST_STARTS)).contains(&value);
    is_whole.then_some(value as u32)
}

/// Parses `1000`, `zipf:1000` or `zipf:1000:0.8`.
pub(crate) fn resources(text: &str) -> Result<Resources, String> {
    let Some(zipf) = text.strip_prefix("zipf:") else {
        let count = text.parse().ok().filter(|&count: &u32| count > 0);
        return count.map(Resources::Uniform).ok_or_else(|| {
            let most = grouped(u32::MAX.into());
            format!(
                "a whole number between 1 and {most}, or zipf:K or zipf:K:EXPONENT, is possible"
            )
        });
    };
    let (count, exponent) = match zipf.split_once(':') {
        None => (zipf, Some(USUAL_EXPONENT)),
        Some((count, exponent)) => (count, exponent.parse().ok()),
    };
    let count = count.parse().ok().filter(|count| (1..=MOST_POPULAR).contains(count));
    let exponent = exponent.filter(|exponent| (0.0..=MOST_EXPONENT).contains(exponent));
    let zipf = count.zip(exponent).map(|(count, exponent)| Resources::Zipf { count, exponent });
    zipf.ok_or_else(|| {
        let most = grouped(MOST_POPULAR.into());
        format!("zipf:K:EXPONENT, with K from 1 to {most} and EXPONENT from 0 to 10, is possible")
    })
}

/// Parses `even` or `poisson`.
pub(crate) fn arrivals(text: &str) -> Result<Arrivals, String> {
    match text {
        "even" => Ok(Arrivals::Even),
        "poisson" => Ok(Arrivals::Poisson),
        _ => Err("even or poisson is possible".to_owned()),
    }
}

/// Parses `raw`, the only thing to measure an engine by.
pub(crate) fn raw(text: &str) -> Result<(), String> {
    if text == "raw" { Ok(()) } else { Err("raw is possible".to_owned()) }
}

/// Parses `25%` or `25`.
pub(crate) fn percent(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let number = number.filter(|&percent: &u32| percent <= 100);
    number.ok_or_else(|| "a whole number of percent between 0% and 100% is possible".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_one_or_a_range_that_doubles() {
        let rows: [(&str, &[u32]); 6] = [
            ("1", &[1]),
            ("20k", &[20_000]),
            ("1m", &[1_000_000]),
            ("1.5k", &[1_500]),
            ("1k..7k", &[1_000, 2_000, 4_000, 7_000]),
            ("8..8", &[8]),
        ];
        for (text, expected) in rows {
            assert_eq!(rates(text).map(Rates::all).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "0", "-1", "k", "1.5", "2k..1k", "1..", "1e3", "2m", "inf", "1..2..3"] {
            let error = rates(text).expect_err(text);
            assert!(error.starts_with("a whole number between 1 and 1,000,000"), "{error}");
        }
    }

    #[test]
    fn resources_are_equal_or_of_different_popularity() {
        let zipf = |count, exponent| Ok(Resources::Zipf { count, exponent });
        let rows = [
            ("7", Ok(Resources::Uniform(7))),
            ("4294967295", Ok(Resources::Uniform(u32::MAX))),
            ("zipf:1000", zipf(1_000, 0.99)),
            ("zipf:5:0", zipf(5, 0.0)),
            ("zipf:5:1.25", zipf(5, 1.25)),
        ];
        for (text, expected) in rows {
            assert_eq!(resources(text), expected, "{text}");
        }
        for text in ["", "0", "-1", "zipf", "zipf:", "zipf:0", "zipf:1000001", "zipf:5:nan"] {
            assert!(resources(text).is_err(), "{text}");
        }
        for text in ["zipf:5:-1", "zipf:5:11", "zipf:5:inf", "zipf:5:1:1", "uniform:5"] {
            assert!(resources(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_is_a_percentage_with_its_sign_or_without() {
        assert_eq!((percent("0"), percent("25%"), percent("100")), (Ok(0), Ok(25), Ok(100)));
        for text in ["", "%", "101", "-1", "2.5%", "5%%"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }
}
