//! Storage that refuses late writers, by the number of [`redbolt::Fence`]: the example `fenced` on
//! every storage that FENCING.md describes, PostgreSQL and Redis as real servers.
//!
//! Where no PostgreSQL is installed, the tests say that they leave it out.
#![cfg(feature = "net")]

mod contract;
#[allow(dead_code, reason = "the tests call what `main` calls")]
#[path = "../../examples/fenced/main.rs"]
mod fenced;
mod holes;
mod page;
mod race;
#[cfg(feature = "cli")]
mod script;
mod stopped;
mod storages;
#[path = "../support/mod.rs"]
mod support;
mod transaction;

use std::time::Duration;

use redbolt::Fence;

/// For anything that is to happen. Only a failing test waits for so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of the `count`-th holder.
fn fence(count: u64) -> Fence {
    Fence::new(1_795_292_495_501_414 + count).expect("a number of the year 2026")
}
