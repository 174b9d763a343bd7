//! The names of the resources that the cycles lock.

use redbolt::{Clock, Division};

use super::demand::{Demand, Resources};
use super::zipf::Zipf;

const PREFIX: &str = "bench/";

/// The digits of a name: enough for every cycle of the longest run. All names have the same length.
const DIGITS: usize = 10;

/// A length in which every name has room.
pub(crate) const LEAST_LEN: u32 = 33;

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
    /// Names of different popularity; `numbers` are those of the engine, or empty for all.
    Popular { zipf: Zipf, numbers: Vec<u32>, rng: fastrand::Rng },
}

/// Makes the names of all engines or workers of a step.
pub(crate) struct Naming<'a> {
    demand: &'a Demand,
    /// The popularity of all names; made once, because it may be large.
    zipf: Option<Zipf>,
}

impl<'a> Naming<'a> {
    pub(crate) fn new(demand: &'a Demand) -> Self {
        let zipf = match demand.resources {
            Resources::Zipf { count, exponent } => Zipf::of_ranks(0..count, exponent),
            _ => None,
        };
        Self { demand, zipf }
    }

    /// Creates the names of one of many workers, none of which is in charge of names.
    pub(crate) fn of_worker(&self, number: usize) -> Names {
        let rng = self.demand.rng(number);
        let pick = match (self.demand.resources.count(), &self.zipf) {
            (None, _) => return self.own(number, Pick::Own),
            (Some(count), None) => Pick::Shared { count, rng },
            (_, Some(zipf)) => Pick::Popular { zipf: zipf.clone(), numbers: Vec::new(), rng },
        };
        Names { text: self.shared_text(), pick }
    }

    /// Creates names that nobody else has, and that this engine is in charge of. Each costs as many
    /// stripes as there are engines.
    pub(crate) fn of_engine(&self, engine: usize, division: Division) -> Names {
        self.own(engine, Pick::OwnOf { engine, division })
    }

    /// Divides the names that all runs share among engines. An engine in charge of none of them is
    /// left out. Takes some bytes for each name.
    pub(crate) fn divided(&self, count: u32, division: Division) -> Vec<Names> {
        let mut all = vec![Vec::new(); division.engines()];
        let mut text = self.shared_text();
        for number in 0..count {
            if let Some(digits) = text.last_chunk_mut::<DIGITS>() {
                write(digits, number);
            }
            if let Some(numbers) = all.get_mut(division.of(&text)) {
                numbers.push(number);
            }
        }
        let names = all.into_iter().enumerate().filter(|(_, numbers)| !numbers.is_empty());
        let names = names.map(|(engine, numbers)| {
            let rng = self.demand.rng(engine);
            let zipf = match self.demand.resources {
                Resources::Zipf { exponent, .. } => {
                    Zipf::of_ranks(numbers.iter().copied(), exponent)
                }
                _ => None,
            };
            let pick = match zipf {
                Some(zipf) => Pick::Popular { zipf, numbers, rng },
                None => Pick::Divided { numbers, rng },
            };
            Names { text: text.clone(), pick }
        });
        names.collect()
    }

    fn own(&self, number: usize, pick: Pick) -> Names {
        // Two runs that start in the same nanosecond would contend, which does no harm.
        let run = Clock::now().as_nanos() ^ ((number as u64) << 40);
        let text = text_of(format!("{PREFIX}{run:016x}/"), self.demand.key_len);
        Names { text, pick }
    }

    fn shared_text(&self) -> Vec<u8> {
        text_of(PREFIX.to_owned(), self.demand.key_len)
    }
}

impl Names {
    /// The length of every name.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
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
                Pick::Popular { zipf, numbers, rng } => {
                    let place = zipf.draw(rng);
                    write(digits, numbers.get(place).copied().unwrap_or(place as u32));
                }
            }
        }
        &self.text
    }
}

/// Returns the name with the number zero. A name that is to be longer is filled before its number.
fn text_of(prefix: String, len: Option<usize>) -> Vec<u8> {
    let mut text = prefix.into_bytes();
    let least = text.len() + DIGITS;
    let len = len.unwrap_or_default().max(least);
    text.resize(len - DIGITS, b'-');
    text.resize(len, b'0');
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
mod tests;
