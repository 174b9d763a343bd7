//! `redbolt who` and `redbolt unlock` on real servers, through the program itself.
#![cfg(feature = "cli")]

mod absent;
mod harmless;
mod holder;
mod library;
mod run;
#[path = "../support/mod.rs"]
mod support;
mod token;
mod unlock;
mod who;
