//! [`Init`]: what an operator does once for all nodes of a deployment (S11).
//!
//! [`verdict`] and [`change`] decide, and know no connection. [`plan`] inspects and writes.
//! [`advice`] has the words of a check for nodes that cannot serve.
//! [`report`] says what was found and done, in the words of [`finding`], [`step`] and [`refusal`].

mod advice;
mod change;
mod error;
mod finding;
mod init;
mod plan;
mod refusal;
mod report;
mod step;
mod verdict;

pub use self::error::InitError;
pub use self::finding::InitFinding;
pub use self::init::Init;
pub use self::plan::InitPlan;
pub use self::refusal::InitRefusal;
pub use self::report::{InitAdvice, InitNode, InitReport};
pub use self::step::{InitAction, InitStep, InitWait};
