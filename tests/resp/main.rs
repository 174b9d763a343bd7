//! `redbolt::resp`, used alone: against what real servers write, against facts from the tests of
//! other clients, and beside other parsers.

mod agreement;
mod meaning;
mod notation;
mod peers;
#[path = "../support/mod.rs"]
mod support;
mod vectors;
mod written;
