//! [`Fence`]: a number by which storage tells a newer holder of a lock from an older one (S13).

use core::fmt;
use core::num::NonZeroU64;
use core::str::FromStr;

/// A fencing number: the larger one belongs to the newer holder of the same resource.
///
/// A holder that was stopped can write long after its lock has ended, and no client can prevent
/// that. The storage can: the storage remembers the largest number with which anybody has written,
/// and refuses a write with a smaller one. The rule for the storage is to compare and to remember
/// in one atomic step, and to take an equal number as the same holder.
///
/// Numbers are compared where two locks have a resource in common, and never otherwise. Numbers are
/// not dense: two holders one after the other can have numbers that are far apart. In spirit, a
/// number is microseconds since 1970. Every number is at least 2³² and less than 2⁵³, so that a
/// `bigint`, a number of JSON and a number of Lua hold it exactly. There is no arithmetic on
/// purpose.
///
/// [`AcquireOptions::fenced`](super::AcquireOptions::fenced) asks for a number, and
/// [`Event::Acquired`](super::Event::Acquired) brings it.
///
/// ```
/// use redbolt::redlock::Fence;
///
/// let (older, newer): (Fence, Fence) = ("1795292495501414".parse()?, "1795292495501415".parse()?);
/// assert!(older < newer);
/// assert_eq!(newer.get(), 1_795_292_495_501_415);
/// assert_eq!(newer.to_string(), "1795292495501415");
/// # Ok::<(), redbolt::redlock::FenceError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(NonZeroU64);

impl Fence {
    /// The least number. No answer of a compare script is as large, so a number that has slipped
    /// into the place of another reply shows.
    pub(super) const LEAST: u64 = 1 << 32;

    /// The largest number. Behind it, a number of Lua cannot be incremented by one.
    pub(super) const MOST: u64 = (1 << 53) - 1;

    /// The largest number that a node can draw by itself: the time a year before the end of all
    /// numbers. Somebody else has written a larger one. Other nodes are not asked to go beyond such
    /// a number, because their numbers would end as well.
    pub(super) const LAST_DRAWN: u64 = Self::MOST - (1 << 45);

    /// Creates a fence from its number, for example one that was stored or handed over. Returns
    /// `None` for a number that no fence has: less than 2³², or 2⁵³ and more.
    #[must_use]
    pub const fn new(number: u64) -> Option<Self> {
        if number < Self::LEAST || number > Self::MOST {
            return None;
        }
        match NonZeroU64::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// Returns the number, to be stored and compared.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

/// Writes the number in decimal digits.
impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fence({self})")
    }
}

/// Parses what `Display` writes: decimal digits, and nothing else.
impl FromStr for Fence {
    type Err = FenceError;

    fn from_str(text: &str) -> Result<Self, FenceError> {
        let is_canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        let number = text.parse().ok().filter(|_| is_canonical);
        number.and_then(Self::new).ok_or(FenceError)
    }
}

/// The error of parsing a text that is no fencing number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct FenceError;

impl fmt::Display for FenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = (Fence::LEAST, Fence::MOST);
        write!(f, "a fencing number is digits, from {least} to {most}")
    }
}

impl core::error::Error for FenceError {}

/// The reason why a request about a fencing number is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FenceRefusal {
    /// An adoption does not draw a number ([`AcquireOptions::fenced`]). The lock keeps the number
    /// that it has ([`AcquireOptions::with_fence`]) until its new owner draws another
    /// ([`Redlock::draw_fence`]).
    ///
    /// [`AcquireOptions::fenced`]: super::AcquireOptions::fenced
    /// [`AcquireOptions::with_fence`]: super::AcquireOptions::with_fence
    /// [`Redlock::draw_fence`]: super::Redlock::draw_fence
    Adoption,
    /// A number was given to a request for a new lock. Only the nodes give such a lock its number.
    NewLock,
}

impl fmt::Display for FenceRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Adoption => "an adopted lock keeps its number until its owner draws another",
            Self::NewLock => "a new lock gets its number from the nodes",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_within_the_bounds_are_fences() {
        let rows = [
            (0, false),
            ((1 << 32) - 1, false),
            (1 << 32, true),
            ((1 << 53) - 1, true),
            (1 << 53, false),
            (u64::MAX, false),
        ];
        for (number, is_fence) in rows {
            let fence = Fence::new(number);
            assert_eq!(fence.map(Fence::get), is_fence.then_some(number), "{number}");
            let parsed = number.to_string().parse::<Fence>().ok();
            assert_eq!(parsed, fence, "{number}");
        }
    }

    #[test]
    fn a_fence_is_written_in_one_way_only() {
        for text in ["", "x", "+5000000000", "05000000000", " 5000000000", "5000000000.0", "-1"] {
            let error = text.parse::<Fence>().expect_err("no number").to_string();
            assert!(error.contains("4294967296 to 9007199254740991"), "{error}");
        }
        let fence: Fence = "5000000000".parse().expect("a number");
        assert_eq!(format!("{fence} {fence:?}"), "5000000000 Fence(5000000000)");
    }

    #[test]
    fn no_fence_costs_no_more_than_a_fence() {
        assert_eq!(size_of::<Option<Fence>>(), 8);
    }
}
