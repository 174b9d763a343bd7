//! `redbolt::resp`, used alone: against what real servers write.

#[path = "../support/mod.rs"]
mod support;
mod written;
