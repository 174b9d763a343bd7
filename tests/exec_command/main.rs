//! `redbolt exec` on real servers, through the program itself.
#![cfg(feature = "cli")]

mod at_least;
mod complaints;
mod completion;
mod conflict;
mod contact;
mod counter;
mod events;
mod far;
mod files;
mod foreign;
mod forever;
mod hostile;
mod job_control;
mod joining;
mod keeping;
mod leftovers;
mod logins;
mod mending;
mod mistakes;
mod outcome;
mod pages;
mod quiet;
mod restart;
mod run;
mod settings;
mod signals;
mod speech;
#[path = "../support/mod.rs"]
mod support;
mod validity;
