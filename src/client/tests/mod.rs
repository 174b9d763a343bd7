//! The hand-off of a result between threads: step by step, with wakers that drop tasks, and in
//! every order, by the model checker. Also waits for the end of a thread, and the predicates of
//! errors.

#[cfg(not(redbolt_loom))]
mod endings;
#[cfg(redbolt_loom)]
mod models;
#[cfg(not(redbolt_loom))]
mod oneshots;
#[cfg(not(redbolt_loom))]
mod predicates;
#[cfg(not(redbolt_loom))]
mod wakers;
