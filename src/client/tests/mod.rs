//! The hand-off between threads: every order of it, by the model checker.

#[cfg(redbolt_loom)]
mod models;
#[cfg(not(redbolt_loom))]
mod slots;
