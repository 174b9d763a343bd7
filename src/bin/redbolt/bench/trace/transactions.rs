//! A trace in memory: transactions, each with the names of its locks in order.

use std::fmt;

use redbolt::redlock::{MAX_RESOURCE, MAX_SET, MAX_SET_BYTES};

use crate::number::grouped;

/// The most bytes of all names together. A million transactions of four locks have 64 MB.
pub(super) const MOST_BYTES: usize = 256 << 20;

/// The names of all transactions one behind the other, so that a trace of millions of names is
/// three pieces of memory.
#[derive(Default)]
pub(crate) struct Transactions {
    bytes: Vec<u8>,
    /// The end of each name in `bytes`.
    ends: Vec<u32>,
    /// The end of each transaction in `ends`.
    transactions: Vec<u32>,
    most_locks: usize,
}

/// Why a transaction has no place in a trace.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    Locks(usize),
    LongName(usize),
    LongNames(usize),
    Twice(Vec<u8>),
    Full,
}

impl Transactions {
    /// Appends a transaction, with its names in order.
    pub(super) fn push<N: AsRef<[u8]> + Ord>(&mut self, mut names: Vec<N>) -> Result<(), Refusal> {
        names.sort_unstable();
        check(&names)?;
        let len: usize = names.iter().map(|name| name.as_ref().len()).sum();
        if self.bytes.len() + len > MOST_BYTES {
            return Err(Refusal::Full);
        }
        for name in &names {
            self.bytes.extend_from_slice(name.as_ref());
            // The bound of all bytes fits, and every name has one at least.
            self.ends.push(self.bytes.len() as u32);
        }
        self.transactions.push(self.ends.len() as u32);
        self.most_locks = self.most_locks.max(names.len());
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.transactions.len()
    }

    /// The most locks of any transaction.
    pub(super) fn most_locks(&self) -> usize {
        self.most_locks
    }

    /// Returns how many locks the transaction with this number has.
    pub(super) fn locks(&self, number: usize) -> usize {
        self.range(number).len()
    }

    /// Returns a name of the transaction with this number, if it has so many.
    pub(super) fn name(&self, number: usize, index: usize) -> Option<&[u8]> {
        let place = self.range(number).nth(index)?;
        let start = end_before(&self.ends, place);
        self.bytes.get(start..*self.ends.get(place)? as usize)
    }

    /// Returns the names of the transaction with this number, in order.
    pub(super) fn names(&self, number: usize) -> impl Iterator<Item = &[u8]> {
        (0..self.locks(number)).filter_map(move |index| self.name(number, index))
    }

    fn range(&self, number: usize) -> std::ops::Range<usize> {
        let end = self.transactions.get(number).map_or(0, |end| *end as usize);
        end_before(&self.transactions, number).min(end)..end
    }
}

/// Returns the end of what comes before `index`, which is where `index` begins.
fn end_before(ends: &[u32], index: usize) -> usize {
    index.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| *end as usize)
}

/// Checks the sorted names of one transaction.
fn check<N: AsRef<[u8]>>(names: &[N]) -> Result<(), Refusal> {
    if names.is_empty() || names.len() > MAX_SET {
        return Err(Refusal::Locks(names.len()));
    }
    let lens = || names.iter().map(|name| name.as_ref().len());
    if let Some(len) = lens().find(|&len| len == 0 || len > MAX_RESOURCE) {
        return Err(Refusal::LongName(len));
    }
    let len = lens().sum();
    if len > MAX_SET_BYTES {
        return Err(Refusal::LongNames(len));
    }
    let pairs = names.iter().zip(names.iter().skip(1));
    let mut pairs = pairs.map(|(one, other)| (one.as_ref(), other.as_ref()));
    match pairs.find(|(one, other)| one == other) {
        Some((name, _)) => Err(Refusal::Twice(name.to_vec())),
        None => Ok(()),
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = |value: &usize| grouped(*value as u64);
        match self {
            Self::Locks(count) => {
                write!(f, "{} locks, between 1 and {MAX_SET} are possible", n(count))
            }
            Self::LongName(len) => {
                write!(f, "a name of {} bytes, between 1 and {} ", n(len), n(&MAX_RESOURCE))?;
                f.write_str("are possible")
            }
            Self::LongNames(len) => {
                let most = n(&MAX_SET_BYTES);
                write!(f, "names of {} bytes together, at most {most} are possible", n(len))
            }
            Self::Twice(name) => {
                let shown = name.get(..64).unwrap_or(name);
                write!(f, "the lock \"{}\" twice, once is possible", shown.escape_ascii())
            }
            Self::Full => {
                let most = n(&(MOST_BYTES >> 20));
                write!(f, "the names are too long together, at most {most} MiB are possible")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_in_order() {
        let mut trace = Transactions::default();
        trace.push(vec!["b", "a"]).expect("two names");
        trace.push(vec!["z"]).expect("one name");
        trace.push(vec!["10", "9", "1"]).expect("three names");
        let all: Vec<Vec<&[u8]>> = (0..3).map(|number| trace.names(number).collect()).collect();
        assert_eq!(all, [vec![&b"a"[..], b"b"], vec![b"z"], vec![b"1", b"10", b"9"]]);
        assert_eq!((trace.len(), trace.most_locks()), (3, 3));
        assert_eq!(
            (trace.locks(1), trace.name(1, 0), trace.name(1, 1)),
            (1, Some(&b"z"[..]), None)
        );
        assert_eq!((trace.locks(3), trace.name(3, 0)), (0, None));
    }

    #[test]
    fn what_cannot_be_one_lock_request_is_refused_with_the_bound() {
        let rows: [(Vec<String>, &str); 5] = [
            (Vec::new(), "0 locks, between 1 and 64 are possible"),
            ((0..65).map(|n| n.to_string()).collect(), "65 locks, between 1 and 64 are possible"),
            (vec!["a".repeat(4097)], "a name of 4,097 bytes, between 1 and 4,096 are possible"),
            (
                (0..5).map(|n: u32| n.to_string().repeat(4096)).collect(),
                "names of 20,480 bytes together, at most 16,384 are possible",
            ),
            (
                ["a\x1b", "b", "a\x1b"].map(str::to_owned).to_vec(),
                "the lock \"a\\x1b\" twice, once is possible",
            ),
        ];
        for (names, expected) in rows {
            let mut trace = Transactions::default();
            let refusal = trace.push(names).expect_err("it is out of bounds");
            assert_eq!(refusal.to_string(), expected);
            assert_eq!(trace.len(), 0);
        }
    }
}
