//! `redbolt who` and `redbolt unlock` on real servers, through the program itself.
#![cfg(feature = "cli")]

mod absent;
mod far;
mod harmless;
mod holder;
mod library;
mod lies;
mod names;
mod run;
#[path = "../support/mod.rs"]
mod support;
mod token;
mod unlock;
mod who;
