//! [`Division`]: which of several engines of one process is in charge of a resource.

use super::config::Config;
use crate::redlock::{Checksum, STRIPES};

/// What a stripe is multiplied by, modulo the number of stripes, before the stripes are cut into
/// runs of equal length: neighbours go to different engines. The factor is odd, so that no two
/// stripes get the same place, and about the number of stripes divided by the golden ratio.
const SPREAD: u32 = 10_125;

/// Which of several engines of one process is in charge of a resource. A [`Client`](crate::Client)
/// with several [`threads`](Config::threads) divides its resources so.
///
/// Engines of one process share nothing: each has its own connections, and its own lines of
/// waiters. A resource goes to the same engine every time, so that requests for one resource stand
/// in one line, first in, first out. Of a set, the first resource by bytes decides. Two sets that
/// overlap can be with different engines. The nodes keep these apart, as they keep apart the locks
/// of two processes.
///
/// A resource goes by the stripe of its key, prefix and resource: the CRC16 of the key in fourteen
/// bits, by which the nodes keep fencing numbers too (S13). No two engines of one process draw
/// numbers of the same stripe, except for sets. Each engine has the same number of stripes, give or
/// take one. Some tens of resources can be divided unevenly.
///
/// The cost: one pass over the resource, and nothing with one engine.
///
/// A program with engines of its own sets [`threads`](Config::threads), asks
/// [`Config::division`], and hands each request to the engine of that number:
///
/// ```
/// use redbolt::Config;
///
/// let mut config = Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?;
/// config.threads = 4;
/// let division = config.division();
/// let number = division.of(b"orders/42");
/// assert!(number < 4);
/// assert_eq!(division.of_all([&b"orders/77"[..], b"orders/42"]), number);
/// # Ok::<(), redbolt::AddressError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Division {
    /// The checksum of the prefix, which all keys begin with.
    prefix: Checksum,
    /// From 1 to [`Config::MAX_THREADS`].
    engines: u8,
}

impl Division {
    /// Returns the number of engines.
    #[must_use]
    pub const fn engines(&self) -> usize {
        self.engines as usize
    }

    /// Returns the number of the engine for this resource, from zero.
    #[must_use]
    pub fn of(&self, resource: &[u8]) -> usize {
        if self.engines == 1 {
            return 0;
        }
        let stripe = u32::from(self.prefix.with(resource).stripe());
        let (stripes, engines) = (u32::from(STRIPES), u32::from(self.engines));
        (stripe * SPREAD % stripes * engines / stripes) as usize
    }

    /// Returns the number of the engine for a lock on all of these resources, in whatever order
    /// they are named.
    #[must_use]
    pub fn of_all<'a>(&self, resources: impl IntoIterator<Item = &'a [u8]>) -> usize {
        if self.engines == 1 {
            return 0;
        }
        self.of(resources.into_iter().min().unwrap_or_default())
    }
}

impl Config {
    /// Returns which of as many engines as [`threads`](Self::threads) says is in charge of a
    /// resource. A number of threads out of bounds counts as the nearest one that is possible.
    #[must_use]
    pub fn division(&self) -> Division {
        let prefix = Checksum::default().with(&self.redlock.prefix);
        // The most threads are fewer than a byte can count.
        let engines = self.threads.clamp(1, Self::MAX_THREADS) as u8;
        Division { prefix, engines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn division(prefix: &[u8], threads: usize) -> Division {
        let mut config = Config::with_addresses([]);
        (config.threads, config.redlock.prefix) = (threads, prefix.to_vec());
        config.division()
    }

    /// Returns how many of the resources each engine has.
    fn shares(division: Division, resources: impl Iterator<Item = String>) -> Vec<usize> {
        let mut shares = vec![0; division.engines()];
        resources.for_each(|resource| shares[division.of(resource.as_bytes())] += 1);
        shares
    }

    #[test]
    fn engines_have_equal_parts_of_the_usual_names() {
        let count = 100_000;
        for threads in [2, 3, 8, 16, 64] {
            let division = division(b"locks:", threads);
            let orders = shares(division, (0..count).map(|number| format!("orders/{number}")));
            let padded = shares(division, (0..count).map(|number| format!("job-{number:08}")));
            let carts = shares(division, (0..count).map(|number| format!("user:{number}:cart")));
            for found in [orders, padded, carts] {
                let near = |share: &usize| share.abs_diff(count / threads) < count / threads / 4;
                assert!(found.iter().all(near), "{threads} engines: {found:?}");
            }
        }
    }

    #[test]
    fn engines_have_equal_numbers_of_stripes() {
        for threads in 1..=Config::MAX_THREADS {
            let division = division(b"", threads);
            // The keys of two bytes have every checksum once, and so every stripe.
            let mut shares = vec![0; threads];
            let mut seen = vec![false; usize::from(STRIPES)];
            for key in 0..=u16::MAX {
                let key = key.to_be_bytes();
                let stripe = usize::from(Checksum::default().with(&key).stripe());
                if !core::mem::replace(&mut seen[stripe], true) {
                    shares[division.of(&key)] += 1;
                }
            }
            let stripes = usize::from(STRIPES);
            let (least, most) = (stripes / threads, stripes.div_ceil(threads));
            assert!(shares.iter().all(|share| (least..=most).contains(share)), "{shares:?}");
        }
    }

    #[test]
    fn a_set_goes_by_its_first_resource_in_whatever_order() {
        let division = division(b"locks:", 64);
        let names: [&[u8]; 3] = [b"c", b"a", b"b"];
        assert_eq!(division.of_all(names), division.of(b"a"));
        assert_eq!(division.of_all([&b"a"[..]]), division.of(b"a"));
        assert!(division.of_all([]) < 64);
    }

    #[test]
    fn a_prefix_is_a_part_of_the_key() {
        let (whole, split) = (division(b"", 64), division(b"locks:", 64));
        for name in ["a", "orders/42", ""] {
            assert_eq!(split.of(name.as_bytes()), whole.of(format!("locks:{name}").as_bytes()));
        }
    }

    #[test]
    fn a_number_of_threads_out_of_bounds_is_cut() {
        assert_eq!((division(b"", 0).engines(), division(b"", 1_000).engines()), (1, 64));
        assert_eq!(division(b"", 0).of(b"a"), 0);
    }
}
