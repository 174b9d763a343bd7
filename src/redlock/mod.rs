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

mod acquire;
mod adopt;
mod answer;
mod attempt;
mod backoff;
mod batch;
mod cleanup;
mod command;
mod config;
mod counters;
mod error;
mod event;
mod fill;
mod handshake;
mod histogram;
mod keep;
mod lease;
mod lock;
mod machine;
mod millis;
mod names;
mod node;
mod nodes;
mod outbox;
mod pipeline;
mod quarantine;
mod query;
mod queue;
mod quorum;
mod release;
mod reply;
mod request;
mod sabotage;
mod script;
mod session;
mod status;
mod table;
#[cfg(test)]
mod tests;
mod timers;
mod token;
mod validity;

pub use self::config::{Config, ConfigError, LONGEST_TTL, Login, MAX_RESOURCE, MIN_TTL};
pub use self::counters::{Counters, NodeCounters, NodeLatencies};
pub use self::error::{
    AcquireError, ExtendError, LostReason, NodeOutcome, NodeOutcomes, RequestError,
};
pub use self::event::{Event, LockId, ReleaseOutcome};
pub use self::histogram::Histogram;
pub use self::machine::{Action, Reason, Redlock};
pub use self::names::{MAX_SET, MAX_SET_BYTES};
pub use self::nodes::{Iter, MAX_NODES, NodeId, NodeSet};
pub use self::quarantine::{Quarantine, QuarantineReason, RestartGuard};
pub use self::query::{Holder, MAX_QUERIES, QueryId};
pub use self::quorum::{Quorum, Verdict};
pub use self::reply::ServerError;
#[cfg(redbolt_sabotage)]
pub use self::sabotage::{RECREATE, Saboteur};
pub use self::script::{
    ACQUIRE_SET, EXTEND, EXTEND_MANY, EXTEND_SET, HOLDER, RELEASE, RELEASE_MANY, RELEASE_SET,
    Script,
};
pub use self::session::MAX_REPLY;
pub use self::status::{NodeState, NodeStatus, Trouble};
pub use self::token::{Nonce, Token, TokenError};
pub use self::validity::Drift;
