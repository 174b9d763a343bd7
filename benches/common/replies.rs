//! Replies of masters to a service that locks, ready to be read.
//!
//! A decoder proves with a mark that the replies were read. The mark is the sum of type byte and
//! size over all values at all levels, so the decoder must look at each value, as a client does.

use fastrand::Rng;

/// How many locks a script call releases.
pub(crate) const GROUP: usize = 64;

/// Consecutive replies, and the mark that a decoder must find in them.
pub(crate) struct Replies {
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: usize,
    pub(crate) mark: u64,
}

/// Returns the pipelined replies to locks that are acquired and released one by one.
///
/// Half of the replies grant, an eighth refuses, the others answer releases, and most of those
/// found the key. The order is random.
pub(crate) fn one_by_one(count: usize) -> Replies {
    let mut rng = Rng::with_seed(1);
    let mut replies = Replies::new();
    for _ in 0..count {
        match rng.u8(..8) {
            0..4 => replies.push(b"+OK\r\n", mark(b'+', 2)),
            4 => replies.push(b"$-1\r\n", mark(b'_', 0)),
            5..7 => replies.push(b":1\r\n", mark(b':', 1)),
            _ => replies.push(b":0\r\n", mark(b':', 0)),
        }
    }
    replies
}

/// Returns the pipelined replies to locks that are released in groups. An eighth of the
/// acquisitions is refused, and as many releases find no key.
pub(crate) fn in_groups(groups: usize) -> Replies {
    let mut rng = Rng::with_seed(1);
    let mut replies = Replies::new();
    for _ in 0..groups {
        let mut group = format!("*{GROUP}\r\n").into_bytes();
        let mut sum = mark(b'*', GROUP as u64);
        for _ in 0..GROUP {
            match rng.u8(..8) {
                0 => replies.push(b"$-1\r\n", mark(b'_', 0)),
                _ => replies.push(b"+OK\r\n", mark(b'+', 2)),
            }
            let answer = rng.u8(..8).min(1);
            group.extend_from_slice(&[b':', b'0' + answer, b'\r', b'\n']);
            sum = sum.wrapping_add(mark(b':', u64::from(answer)));
        }
        replies.push(&group, sum);
    }
    replies
}

/// Returns the mark of a value without its elements. The size is the length of a text, the value of
/// a number, or the count of elements.
#[inline]
pub(crate) fn mark(kind: u8, size: u64) -> u64 {
    (u64::from(kind) << 32).wrapping_add(size)
}

impl Replies {
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::new(), count: 0, mark: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8], mark: u64) {
        self.bytes.extend_from_slice(bytes);
        self.count += 1;
        self.mark = self.mark.wrapping_add(mark);
    }
}
