//! [`Received`]: what a read has brought.

/// What a read has brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Received {
    /// The number of bytes; zero if none are there, or none yet that can be decrypted.
    pub(super) count: usize,
    /// Whether there may be more, although nothing will announce them.
    pub(super) more: bool,
}

impl Received {
    pub(super) const NOTHING: Self = Self { count: 0, more: false };
}
