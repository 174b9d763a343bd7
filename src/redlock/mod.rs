//! The algorithm: Redlock over N nodes as a state machine without input or output.
//!
//! This folder knows attempts, votes, validity, leases, retries, the health of nodes, and which
//! bytes each node is owed. It must never know a socket, a clock, a thread or the environment:
//! time is an argument, randomness is a seed, and bytes come and go through method calls. That is
//! what lets a simulator run it for years within minutes, with every fault that a network has.
//!
//! Read [`Quorum`] and [`Drift`] first; the safety argument rests on those two. Then [`Redlock`],
//! whose documentation says in which order its methods are called. Inside, a request goes through
//! `acquire` (the queues) and `attempt` (the votes), or `adopt` for a token that was handed over. A
//! lock that is held is the business of `lease` (extension, loss), `keep` (renewals) and `fill`,
//! until `release`. Every reply comes in through `session`.
//!
//! The algorithm is the one of Redis' page on distributed locks, with the rules S1 to S12 of
//! `SAFETY.md` on top. With one node it is the single-instance lock of the same page.

mod bounds;
mod config;
mod counters;
mod error;
mod event;
mod histogram;
mod holder;
mod lock;
mod machine;
mod millis;
mod node;
mod node_set;
mod quorum;
mod sabotage;
#[cfg(test)]
mod tests;
mod timers;
mod token;
mod validity;
mod wire;

pub use self::bounds::{LONGEST_TTL, MAX_QUERIES, MAX_RESOURCE, MAX_SET, MAX_SET_BYTES, MIN_TTL};
pub use self::config::{Config, ConfigError, Login, RestartGuard};
pub use self::counters::{Counters, NodeCounters, NodeLatencies};
pub use self::error::{
    AcquireError, ExtendError, LostReason, NodeOutcome, NodeOutcomes, RequestError,
};
pub use self::event::{Event, LockId, ReleaseOutcome};
pub use self::histogram::Histogram;
pub use self::holder::{Holder, QueryId};
pub use self::machine::session::MAX_REPLY;
pub use self::machine::{Action, Reason, Redlock};
pub use self::node::error::NodeError;
pub use self::node::quarantine::{Quarantine, QuarantineReason};
pub use self::node::status::{NodeState, NodeStatus};
pub use self::node_set::{MAX_NODES, NodeId, NodeSet, NodeSetIter};
pub use self::quorum::{Quorum, Verdict};
#[cfg(redbolt_sabotage)]
pub use self::sabotage::{RECREATE, Saboteur};
pub use self::token::{Nonce, Token, TokenError};
pub use self::validity::Drift;
pub use self::wire::script::{
    ACQUIRE_SET, EXTEND, EXTEND_MANY, EXTEND_SET, HOLDER, RELEASE, RELEASE_MANY, RELEASE_SET,
    Script,
};
pub use self::wire::server_error::ServerError;
