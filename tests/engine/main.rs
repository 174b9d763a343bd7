//! The engine on real servers, and on servers that misbehave on purpose.
//!
//! Every test goes through [`owner::Owner`], which keeps book of all requests: whatever a test is
//! about, each request must end in exactly one event, and when the test is over no key of ours may
//! be left on a node. Tests say which known fault they inject in the words `FAULTS 23`, and which
//! defect of another library they rule out in the words `PEERS 1c`.
//!
//! Nothing depends on how fast the machine is. Where a timeout is the thing to be tested it is
//! short, and everywhere else it is so long that only a hang can reach it.
#![cfg(feature = "net")]

mod book;
mod cancelling;
mod contention;
mod contract;
mod crowd;
mod cycle;
mod display;
mod embedding;
mod far;
mod fenced_sets;
mod fences;
mod groups;
mod hostile;
mod label;
mod lapse;
mod limits;
mod login;
mod loss;
mod outage;
mod owner;
mod peers;
mod refusals;
mod rights;
mod scripts;
mod stalls;
mod stopped;
mod stream;
#[path = "../support/mod.rs"]
mod support;
mod threads;
