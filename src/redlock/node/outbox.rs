//! The bytes that wait to be written to one node.

use bytes::BytesMut;

/// A buffer that is filled at the end and written from the start. The buffer keeps its memory: once
/// large enough for a turn, it allocates nothing.
#[derive(Default)]
pub(crate) struct Outbox {
    bytes: BytesMut,
    sent: usize,
}

impl Outbox {
    /// Returns the buffer, to append to.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    /// Returns the bytes that have not been written yet.
    pub(crate) fn unsent(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Removes the first `count` unsent bytes, which were written.
    pub(crate) fn advance(&mut self, count: usize) {
        self.sent += count;
        assert!(self.sent <= self.bytes.len(), "more was written than there was");
        if self.sent == self.bytes.len() {
            self.clear();
        } else if self.sent > self.bytes.len() / 2 {
            // The rest moves to the front, so that a slow reader does not make the buffer grow.
            self.bytes.copy_within(self.sent.., 0);
            self.bytes.truncate(self.bytes.len() - self.sent);
            self.sent = 0;
        }
    }

    /// Drops all bytes, because the connection is gone.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.sent = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_sent_once_and_in_order() {
        let text: Vec<u8> = (0..=255).collect();
        for step in 1..40 {
            let mut outbox = Outbox::default();
            let mut received = Vec::new();
            let mut chunks = text.chunks(7);
            loop {
                let chunk = chunks.next();
                outbox.buffer().extend_from_slice(chunk.unwrap_or_default());
                let count = step.min(outbox.unsent().len());
                received.extend_from_slice(&outbox.unsent()[..count]);
                outbox.advance(count);
                if chunk.is_none() && outbox.unsent().is_empty() {
                    break;
                }
            }
            assert_eq!(received, text, "in steps of {step}");
        }
    }
}
