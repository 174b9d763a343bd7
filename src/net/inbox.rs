//! The receive buffer of one node.

use super::received::Received;
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

    /// Calls `read` once, with the room that is left.
    pub(super) fn fill<E>(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> Result<Received, E>,
    ) -> Result<Received, E> {
        let received = read(&mut self.bytes[self.filled..])?;
        self.filled += received.count;
        Ok(received)
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
    use std::io::{self, Read};

    use super::*;

    fn read(mut source: &[u8], room: &mut [u8]) -> io::Result<Received> {
        let count = source.read(room)?;
        Ok(Received { count, more: count == room.len() })
    }

    #[test]
    fn what_is_left_comes_again_with_more_behind_it() {
        let mut inbox = Inbox::new();
        let received = inbox.fill(|room| read(b"+OK\r\n$-", room)).expect("slices do not fail");
        assert_eq!(received, Received { count: 7, more: false });
        inbox.consume(5);
        inbox.fill(|room| read(b"1\r\n", room)).expect("slices do not fail");
        assert_eq!(inbox.bytes(), b"$-1\r\n");
    }

    #[test]
    fn a_full_buffer_takes_no_more_than_it_has_room_for() {
        let mut inbox = Inbox::new();
        let flood = vec![b'x'; MAX_REPLY + 1];
        let received = inbox.fill(|room| read(&flood, room)).expect("slices do not fail");
        assert_eq!(received, Received { count: MAX_REPLY, more: true });
    }
}
