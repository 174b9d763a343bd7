//! The hand-off between threads: step by step, with wakers that bite, and every order of it, by the
//! model checker.

#[cfg(redbolt_loom)]
mod models;
#[cfg(not(redbolt_loom))]
mod slots;
#[cfg(not(redbolt_loom))]
mod wakers;
