//! What is demanded of a step: how many cycles, of which resources, and what each does.

use std::fmt;
use std::time::Duration;

/// The demand of one step.
#[derive(Clone)]
pub(crate) struct Demand {
    /// How many cycles there are at a time, or threads or tasks of a client.
    pub(crate) in_flight: usize,
    /// Starts a second; `None` to start a cycle whenever one ends.
    pub(crate) rate: Option<u32>,
    pub(crate) arrivals: Arrivals,
    pub(crate) resources: Resources,
    /// The length of a resource in bytes; `None` for names as long as they come.
    pub(crate) key_len: Option<usize>,
    pub(crate) ttl: Duration,
    /// How long each lock is held.
    pub(crate) hold: Duration,
    /// The percentage of the locks that are extended before they are released.
    pub(crate) extend_percent: u32,
    pub(crate) is_fenced: bool,
    /// Whether the workers of a client wait for the answers to their releases.
    pub(crate) confirms: bool,
    /// What is drawn is the same for the same seed.
    pub(crate) seed: u64,
}

impl Demand {
    /// Returns a generator for one of many engines or workers.
    pub(crate) fn rng(&self, worker: usize) -> fastrand::Rng {
        // Neighbours would draw alike from neighbouring seeds.
        let mut seeds = fastrand::Rng::with_seed(self.seed ^ (worker as u64) << 32);
        fastrand::Rng::with_seed(seeds.u64(..))
    }
}

/// When the cycles of an open loop start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrivals {
    /// All gaps are the same.
    Even,
    /// The gaps are exponential, as of many users who do not know of each other.
    Poisson,
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Even => "even",
            Self::Poisson => "poisson",
        })
    }
}

/// Which resources the cycles want.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Resources {
    /// Every cycle wants one that no other cycle wants.
    Own,
    /// One of so many, all equally often.
    Uniform(u32),
    /// One of so many; the one of rank r as often as 1 / r^exponent.
    Zipf { count: u32, exponent: f64 },
}

impl Resources {
    pub(crate) fn count(self) -> Option<u32> {
        match self {
            Self::Own => None,
            Self::Uniform(count) | Self::Zipf { count, .. } => Some(count),
        }
    }
}

/// As the option is written: `1000`, `zipf:1000:0.99`.
impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("own"),
            Self::Uniform(count) => write!(f, "{count}"),
            Self::Zipf { count, exponent } => write!(f, "zipf:{count}:{exponent}"),
        }
    }
}

/// A closed loop of one cycle, for tests to change.
#[cfg(test)]
pub(crate) fn sample() -> Demand {
    Demand {
        in_flight: 1,
        rate: None,
        arrivals: Arrivals::Even,
        resources: Resources::Own,
        key_len: None,
        ttl: Duration::from_secs(1),
        hold: Duration::ZERO,
        extend_percent: 0,
        is_fenced: false,
        confirms: false,
        seed: 9,
    }
}
