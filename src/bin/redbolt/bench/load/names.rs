//! The names of the resources that the cycles lock.

use redbolt::{Clock, Division};

const PREFIX: &str = "bench/";

/// The digits of a name: enough for every cycle of the longest run. All names have the same length.
const DIGITS: usize = 10;

/// The most names that an engine passes over for the next one of its own. With 64 engines, one of
/// 64 names is its own.
const MOST_PASSED_OVER: usize = 4096;

/// Makes one name after another in the same few bytes.
pub(crate) struct Names {
    text: Vec<u8>,
    pick: Pick,
}

enum Pick {
    /// Every cycle has a name that no other cycle has, in this run or in a run beside it.
    Own,
    /// The same, but only names that `engine` is in charge of.
    OwnOf { engine: usize, division: Division },
    /// A random name of `count`, the same names in every run of this program on the same nodes.
    Shared { count: u32, rng: fastrand::Rng },
    /// The same, but only those of these numbers, of which there is at least one.
    Divided { numbers: Vec<u32>, rng: fastrand::Rng },
}

impl Names {
    pub(crate) fn new(resources: Option<u32>) -> Self {
        Self::of_worker(resources, 0)
    }

    /// Creates the names of one of many workers.
    pub(crate) fn of_worker(resources: Option<u32>, number: u64) -> Self {
        // Two runs that start in the same nanosecond would contend, which does no harm.
        let run = Clock::now().as_nanos() ^ (number << 40);
        let (prefix, pick) = match resources {
            None => (format!("{PREFIX}{run:x}/"), Pick::Own),
            Some(count) => {
                let rng = fastrand::Rng::with_seed(run);
                (PREFIX.to_owned(), Pick::Shared { count, rng })
            }
        };
        Self { text: text_of(prefix), pick }
    }

    /// Creates names that nobody else has, and that this engine is in charge of. Each costs as many
    /// stripes as there are engines.
    pub(crate) fn of_engine(engine: usize, division: Division) -> Self {
        Self { pick: Pick::OwnOf { engine, division }, ..Self::of_worker(None, engine as u64) }
    }

    /// Divides the names that all runs share among engines. An engine in charge of none of them is
    /// left out. Takes four bytes for each name.
    pub(crate) fn divided(count: u32, division: Division) -> Vec<Self> {
        let mut all = vec![Vec::new(); division.engines()];
        let mut text = text_of(PREFIX.to_owned());
        for number in 0..count {
            if let Some(digits) = text.last_chunk_mut::<DIGITS>() {
                write(digits, number);
            }
            if let Some(numbers) = all.get_mut(division.of(&text)) {
                numbers.push(number);
            }
        }
        let run = Clock::now().as_nanos();
        let names = (run..).zip(all).filter(|(_, numbers)| !numbers.is_empty());
        let names = names.map(|(seed, numbers)| Self {
            text: text_of(PREFIX.to_owned()),
            pick: Pick::Divided { numbers, rng: fastrand::Rng::with_seed(seed) },
        });
        names.collect()
    }

    pub(crate) fn next(&mut self) -> &[u8] {
        if let Pick::OwnOf { engine, division } = self.pick {
            for _ in 0..MOST_PASSED_OVER {
                self.text.last_chunk_mut::<DIGITS>().into_iter().for_each(increment);
                if division.of(&self.text) == engine {
                    break;
                }
            }
            return &self.text;
        }
        if let Some(digits) = self.text.last_chunk_mut::<DIGITS>() {
            match &mut self.pick {
                Pick::Own | Pick::OwnOf { .. } => increment(digits),
                Pick::Shared { count, rng } => write(digits, rng.u32(0..*count)),
                Pick::Divided { numbers, rng } => {
                    rng.choice(&*numbers).into_iter().for_each(|number| write(digits, *number));
                }
            }
        }
        &self.text
    }
}

/// Returns the name with the number zero.
fn text_of(prefix: String) -> Vec<u8> {
    let mut text = prefix.into_bytes();
    text.resize(text.len() + DIGITS, b'0');
    text
}

/// Adds one to a decimal number. Zero follows the largest number.
fn increment(digits: &mut [u8; DIGITS]) {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
}

fn write(digits: &mut [u8; DIGITS], mut number: u32) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn own_names_are_never_the_same() {
        let mut names = Names::new(None);
        let seen: HashSet<Vec<u8>> = (0..1_000).map(|_| names.next().to_vec()).collect();
        assert_eq!(seen.len(), 1_000);
        assert!(seen.iter().any(|name| name.ends_with(b"/0000001000")), "{seen:?}");
    }

    #[test]
    fn names_of_an_engine_are_never_the_same_and_never_of_another_engine() {
        let mut config = redbolt::Config::with_addresses([]);
        config.threads = 64;
        let division = config.division();
        for engine in [0, 63] {
            let mut names = Names::of_engine(engine, division);
            let seen: HashSet<Vec<u8>> = (0..1_000).map(|_| names.next().to_vec()).collect();
            assert_eq!(seen.len(), 1_000);
            assert!(seen.iter().all(|name| division.of(name) == engine), "{seen:?}");
        }
    }

    #[test]
    fn shared_names_are_all_of_those_and_no_other() {
        let mut names = Names::new(Some(3));
        let seen: HashSet<Vec<u8>> = (0..1_000).map(|_| names.next().to_vec()).collect();
        let all = [0, 1, 2].map(|number| format!("bench/{number:010}").into_bytes());
        assert_eq!(seen, HashSet::from(all));
    }

    #[test]
    fn engines_have_names_of_their_own_and_all_names_together() {
        let mut config = redbolt::Config::with_addresses([]);
        config.threads = 3;
        let division = config.division();
        let mut all = Names::divided(100, division);
        let seen: Vec<HashSet<Vec<u8>>> = all
            .iter_mut()
            .map(|names| (0..1_000).map(|_| names.next().to_vec()).collect())
            .collect();
        for (engine, names) in seen.iter().enumerate() {
            assert!(names.iter().all(|name| division.of(name) == engine), "{names:?}");
        }
        assert_eq!(seen.iter().flatten().collect::<HashSet<_>>().len(), 100);
        assert_eq!(Names::divided(1, division).len(), 1, "the other engines have no resource");
    }
}
