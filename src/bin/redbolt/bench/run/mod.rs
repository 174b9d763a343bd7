//! All that a run has measured, as data.

pub(crate) mod digits;
