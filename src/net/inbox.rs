//! Bytes that came from one node and are not done with.

use std::io::{self, Read};

use crate::redlock::MAX_REPLY;

/// A buffer that holds at least one whole reply. What is not done with moves to the front after
/// each turn; replies are short, so that is a few bytes at most.
pub(super) struct Inbox {
    bytes: Box<[u8]>,
    filled: usize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; MAX_REPLY].into_boxed_slice(), filled: 0 }
    }

    /// One `read`. Returns how many bytes came, and whether there may be more: a read that did not
    /// fill the buffer has emptied the socket (epoll(7), on edge-triggered streams).
    pub(super) fn fill(&mut self, source: &mut impl Read) -> io::Result<(usize, bool)> {
        let count = source.read(&mut self.bytes[self.filled..])?;
        self.filled += count;
        Ok((count, self.filled == self.bytes.len()))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// The first `count` bytes are done with.
    pub(super) fn consume(&mut self, count: usize) {
        self.bytes.copy_within(count..self.filled, 0);
        self.filled -= count;
    }

    pub(super) fn clear(&mut self) {
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_comes_again_with_more_behind_it() {
        let mut inbox = Inbox::new();
        assert_eq!(inbox.fill(&mut &b"+OK\r\n$-"[..]).expect("slices do not fail"), (7, false));
        inbox.consume(5);
        inbox.fill(&mut &b"1\r\n"[..]).expect("slices do not fail");
        assert_eq!(inbox.bytes(), b"$-1\r\n");
    }

    #[test]
    fn a_full_buffer_means_that_there_may_be_more() {
        let mut inbox = Inbox::new();
        let flood = vec![b'x'; MAX_REPLY + 1];
        let (count, more) = inbox.fill(&mut &flood[..]).expect("slices do not fail");
        assert_eq!((count, more), (MAX_REPLY, true));
    }
}
