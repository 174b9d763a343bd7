//! The hand-off of a result between threads: step by step, with wakers that drop tasks, and in
//! every order, by the model checker.

#[cfg(redbolt_loom)]
mod models;
#[cfg(not(redbolt_loom))]
mod oneshots;
#[cfg(not(redbolt_loom))]
mod wakers;
