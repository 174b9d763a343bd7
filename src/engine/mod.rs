//! The engine: the algorithm and the loop together, for one thread.
//!
//! [`engine`] has [`Engine`] itself and its loop, [`requests`] what it can be asked for, [`views`]
//! what it can be asked about, and [`settle`] the two calls that poll until something is done.
//! [`config`] has the settings of an engine, and [`division`] says which of several engines is in
//! charge of a resource. [`observe`] tells `tracing` and `metrics` of events. [`deployment`] has
//! what all clients must agree on. Three folders serve an operator: [`init`] prepares the nodes for
//! their clients, [`check`] finds out whether the nodes can vote, and [`desk`] finds the holder of
//! a lock, and ends a lock.
//! [`mod@env`] reads a configuration from variables, [`env_names`] knows their names, and
//! [`env_error`] says which one cannot be used.
//! [`changes`] knows which change of a node is news, [`mod@display`] writes an event as one line,
//! and [`shown`] has the words for resources and nodes in logs and errors.
//! This folder must never know threads. Only a [`Board`] may be shared by the engines of several.

mod changes;
mod check;
mod config;
mod deployment;
mod desk;
mod display;
mod division;
mod engine;
mod env;
mod env_error;
mod env_names;
mod init;
mod observe;
mod requests;
#[cfg(feature = "serde")]
mod serde_impl;
mod settle;
mod shown;
mod views;

pub(crate) use self::changes::Changes;
pub use self::check::{
    Check, CheckClock, CheckError, CheckFinding, CheckNode, CheckOffset, CheckReport, CheckServer,
    CheckState, CheckStep, CheckSubject, CheckVerdict,
};
pub use self::config::{Config, EngineError};
pub use self::deployment::Deployment;
pub use self::desk::{
    NodeWeight, Unlock, UnlockError, UnlockNode, UnlockReport, UnlockResult, UnlockVerdict,
    VisitedNode, Who, WhoClient, WhoError, WhoReport, WhoResource, WhoState, WhoValue,
};
pub use self::display::EventDisplay;
pub use self::division::Division;
pub use self::engine::Engine;
pub use self::env_error::{EnvError, EnvErrorKind};
pub use self::init::{
    Init, InitAction, InitAdvice, InitError, InitFinding, InitNode, InitPlan, InitRefusal,
    InitReport, InitStep, InitWait,
};
pub(crate) use self::observe::Board;
#[cfg(feature = "tracing")]
pub use self::observe::TRACING_TARGET;
pub(crate) use self::settle::Settling;
pub(crate) use self::shown::{Count, Nodes, Resources, Status, reason};
