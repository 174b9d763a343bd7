//! The engine: the algorithm and the loop together, for one thread.
//!
//! [`engine`] has [`Engine`] itself, [`settle`] the two calls that poll until something is done,
//! [`config`] the settings of an engine, and [`observe`] tells `tracing` and `metrics` of events.
//! This folder must never know threads.

mod config;
mod engine;
mod observe;
mod settle;

pub use self::config::{Config, EngineError};
pub use self::engine::Engine;
pub(crate) use self::settle::Settling;
