//! From what was counted to what it says.
//!
//! `step` makes a [`Step`](super::run::Step) of the counts of one load, with `fairness`, and with
//! `saturation`, which says what the load has used up. `level` puts the rounds of one load
//! together, and `knee` says where more load brings no more. `baseline` reads an earlier run, and
//! `compare` lays both side by side. `against` does so with bare sockets. `sample` has the
//! arithmetic. This room must never measure, and never print.

pub(crate) mod against;
pub(crate) mod baseline;
pub(crate) mod compare;
mod fairness;
pub(crate) mod knee;
pub(crate) mod level;
pub(crate) mod sample;
mod saturation;
pub(crate) mod step;
