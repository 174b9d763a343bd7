//! The operator's desk: who has some resources ([`Who`]), and the end of a lock ([`Unlock`]).
//!
//! [`round`] visits all nodes. [`verdict`] decides what follows from the answers, and knows no
//! connection. [`report`] says what stands under each resource, [`client`] whose it is,
//! and [`nodes`] what the answer of each node is worth.

mod client;
mod error;
mod nodes;
mod report;
mod round;
mod unlock;
mod verdict;
mod who;

pub use self::client::WhoClient;
pub use self::error::{UnlockError, WhoError};
pub use self::nodes::{NodeWeight, VisitedNode};
pub use self::report::{WhoReport, WhoResource, WhoState, WhoValue};
pub use self::unlock::{Unlock, UnlockNode, UnlockReport, UnlockResult, UnlockVerdict};
pub use self::who::Who;
