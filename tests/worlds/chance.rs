//! What is random in a world, and the account of what happened.

use core::fmt::{self, Write};
use std::hash::{DefaultHasher, Hasher};

/// The source of all randomness of a world, with the bounds that were drawn for it.
pub(crate) struct Chance {
    pub(crate) rng: fastrand::Rng,
    /// Half of it to twice as much is what bytes take in one direction. Nanoseconds, as all times.
    pub(crate) latency: u64,
    /// How late the bytes of a broken connection may be executed.
    pub(crate) ghost_max: u64,
    /// For how long a client may be off the processor; zero if never.
    pub(crate) sleep_max: u64,
}

pub(crate) const MS: u64 = 1_000_000;

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        Self {
            latency: [20_000, 200_000, MS, 8 * MS][rng.usize(..4)],
            ghost_max: [20, 200, 1_000][rng.usize(..3)] * MS,
            sleep_max: [0, 0, 30, 300][rng.usize(..4)] * MS,
            rng,
        }
    }

    pub(crate) fn delay(&mut self) -> u64 {
        self.rng.u64(self.latency / 2..=self.latency * 2)
    }

    /// A ttl in milliseconds; the short ones end while they are being extended or released.
    pub(crate) fn ttl(&mut self) -> u64 {
        match self.rng.u8(..5) {
            0 | 1 => self.rng.u64(10..100),
            2 | 3 => self.rng.u64(100..2_100),
            _ => 60_000,
        }
    }
}

/// Everything that happened, as a hash; in a replay also as lines.
pub(crate) struct Trace {
    hasher: DefaultHasher,
    pub(crate) is_loud: bool,
}

impl Trace {
    pub(crate) fn new(is_loud: bool) -> Self {
        // Made with the same keys each time.
        Self { hasher: DefaultHasher::new(), is_loud }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hasher.finish()
    }

    pub(crate) fn note(&mut self, now: u64, what: fmt::Arguments<'_>) {
        // Writing into a hash never fails.
        let _ = write!(self, "{now} {what}");
        self.show(now, what);
    }

    /// Prints in a replay what is in the hash already.
    pub(crate) fn show(&self, now: u64, what: fmt::Arguments<'_>) {
        if self.is_loud {
            eprintln!("{:>12.3} ms  {what}", now as f64 / MS as f64);
        }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.hasher.write(bytes);
    }
}

impl Write for Trace {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}
