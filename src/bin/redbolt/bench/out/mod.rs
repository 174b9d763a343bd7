//! What a run has measured, for people and for programs.
//!
//! `report` has the figures: `table` prints them for people and `object` for programs.

pub(crate) mod object;
pub(crate) mod report;
pub(crate) mod table;
