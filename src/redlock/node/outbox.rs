//! Bytes that wait to be written to one node.

use bytes::BytesMut;

/// A buffer that is filled at the end and written from the start. It keeps its memory: once it has
/// grown to what a turn needs, nothing is allocated.
#[derive(Default)]
pub(crate) struct Outbox {
    bytes: BytesMut,
    sent: usize,
}

impl Outbox {
    /// Where to append.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    /// What has not been written yet.
    pub(crate) fn unsent(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// The first `count` unsent bytes were written.
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
