//! The receive buffer of one node.

use std::io::{self, Read};

use crate::redlock::MAX_REPLY;

/// A buffer with room for at least one whole reply.
///
/// After each turn, the bytes of an incomplete reply move to the front. Replies are short, so these
/// are a few bytes at most.
pub(super) struct Inbox {
    bytes: Box<[u8]>,
    filled: usize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; MAX_REPLY].into_boxed_slice(), filled: 0 }
    }

    /// Calls `read` once. Returns the number of bytes read, and whether the socket may hold more.
    ///
    /// A read that does not fill the buffer has emptied the socket (epoll(7), on edge-triggered
    /// streams).
    pub(super) fn fill(&mut self, source: &mut impl Read) -> io::Result<(usize, bool)> {
        let count = source.read(&mut self.bytes[self.filled..])?;
        self.filled += count;
        Ok((count, self.filled == self.bytes.len()))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Removes the first `count` bytes, which have been handled.
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
