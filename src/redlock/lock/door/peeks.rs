//! What a request reads at other nodes while it listens at one.

use crate::time::Instant;

/// The peeks of one request.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Peeks {
    /// Until when the request pauses; long ago for a request that does not peek.
    pause_end: Instant,
    /// The number of the last peek, and how many there were.
    number: u32,
    count: u32,
    /// How many of these, one after the other, have found no key.
    lacking: u32,
}

impl Peeks {
    /// The request pauses until then, and peeks meanwhile.
    pub(crate) fn pause_until(&mut self, until: Instant) {
        self.pause_end = until;
    }

    /// The request goes on with something else.
    pub(crate) fn pause_is_over(&mut self) {
        self.pause_end = Instant::ZERO;
    }

    /// Returns until when the request pauses that peeks; a time long ago for any other.
    pub(crate) fn pause_end(&self) -> Instant {
        self.pause_end
    }

    /// The first of some peeks is due.
    pub(crate) fn begin(&mut self) {
        self.lacking = 0;
    }

    /// A peek with this `number` leaves.
    pub(crate) fn leaves(&mut self, number: u32) {
        (self.number, self.count) = (number, self.count.wrapping_add(1));
    }

    /// Returns whether the last peek had this `number`.
    pub(crate) fn is_current(&self, number: u32) -> bool {
        self.number == number
    }

    /// Returns how many peeks there were: those of a request go from node to node.
    pub(crate) fn count(&self) -> usize {
        self.count as usize
    }

    /// The last peek has found no key.
    pub(crate) fn found_nothing(&mut self) {
        self.lacking += 1;
    }

    /// Returns at how many nodes, one after the other, peeks have found no key.
    pub(crate) fn lacking(&self) -> usize {
        self.lacking as usize
    }
}
