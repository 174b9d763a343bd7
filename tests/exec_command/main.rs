//! `redbolt exec` on real servers, through the program itself.
#![cfg(feature = "cli")]

mod conflict;
mod counter;
mod files;
mod forever;
mod hostile;
mod joining;
mod keeping;
mod outcome;
mod pages;
mod restart;
mod run;
mod settings;
mod signals;
mod speech;
#[path = "../support/mod.rs"]
mod support;
mod validity;
