//! The Redlock algorithm over N nodes, as a state machine without input or output.
//!
//! This module knows attempts, votes, validity, leases, retries, the health of nodes, and which
//! bytes each node is to be sent. This module must never know a socket, a clock, a thread or the
//! environment: time is an argument, randomness is a seed, and bytes come and go through method
//! calls. A simulator can therefore run years of the algorithm within minutes, with every fault
//! that a network has.
//!
//! The safety argument rests on [`Quorum`] and [`Drift`]: read these two first. Then read
//! [`Redlock`], whose documentation says in which order a driver calls the methods.
//!
//! The algorithm is that of Redis' page on distributed locks, with the rules S1 to S13 of
//! `SAFETY.md` on top. With one node, the algorithm is the single-instance lock of the same page.
//!
//! # Rooms
//!
//! The files of this module lie in four rooms and a root. A room may use the rooms below it in this
//! table, and never a room above.
//!
//! | room | owns |
//! | --- | --- |
//! | `machine` | the decisions: [`Redlock`], the type that a driver calls |
//! | `node` | one master: its connection, the replies that it owes, what it has proved |
//! | `lock` | one lock: its phase, its votes, and where its token may be |
//! | `wire` | the bytes that leave, and the types that replies become |
//! | root | the types that all rooms use: configuration, errors, events, quorum, validity, token |
//!
//! A request comes in through `machine/acquire` and waits in `machine/line`. `machine/attempt` asks
//! the nodes and decides by their votes. `machine/adopt` does the same for a token from another
//! process. A held lock is extended by `machine/lease`, kept alive by `machine/renew`, given to
//! nodes that lack its key by `machine/repair`, and ended by `machine/release`. Connections begin
//! and end in `machine/session`. `machine/reply` takes every reply and hands the answer to the file
//! that has asked.

mod ask;
mod bounds;
mod config;
mod config_error;
mod counters;
mod error;
mod event;
mod fence;
mod histogram;
mod holder;
mod limits;
mod lock;
mod login;
mod machine;
mod millis;
mod node;
mod node_outcome;
mod node_set;
mod options;
mod order;
mod pattern;
mod quorum;
mod request_error;
mod restart_guard;
mod sabotage;
#[cfg(feature = "serde")]
mod serde_impl;
#[cfg(feature = "serde")]
mod serde_names;
#[cfg(any(feature = "net", feature = "serde"))]
mod settings;
#[cfg(feature = "net")]
mod stored;
mod stripe;
#[cfg(test)]
mod tests;
mod timers;
mod token;
mod validity;
mod wire;
mod xxh64;

pub use self::ask::Ask;
pub use self::bounds::{
    LONGEST_TTL, MAX_NODE_TIMEOUT, MAX_QUERIES, MAX_REPLY, MAX_RESOURCE, MAX_SET, MAX_SET_BYTES,
    MIN_NODE_TIMEOUT, MIN_TTL,
};
pub use self::config::RedlockConfig;
pub use self::config_error::ConfigError;
pub use self::counters::{
    Counters, ExpiringCounters, FailedCounters, LostCounters, NodeCounters, NodeLatencies,
};
pub use self::error::{AcquireError, DrawError, ExtendError, LostReason};
pub use self::event::{Event, LockId, ReleaseOutcome};
pub use self::fence::{Fence, FenceError, FenceRefusal};
pub use self::histogram::Histogram;
pub use self::holder::{Holder, Occupancy, QueryId};
pub use self::login::Login;
pub use self::machine::{Action, Reason, Redlock};
pub use self::node::error::NodeError;
pub use self::node::error::tls::{TlsError, TlsFileError};
pub use self::node::fitness::FenceBar;
#[cfg(feature = "net")]
pub(crate) use self::node::inquiry::Word;
#[cfg(feature = "net")]
pub(crate) use self::node::message::{Message, server_text};
pub use self::node::quarantine::{Quarantine, QuarantineReason};
pub use self::node::status::{NodeState, NodeStatus};
#[cfg(feature = "net")]
pub(crate) use self::node::visit::answers::{Answers, Unanswered};
#[cfg(feature = "net")]
pub(crate) use self::node::visit::audit::Audit;
#[cfg(feature = "net")]
pub(crate) use self::node::visit::facts::Facts;
#[cfg(feature = "net")]
pub(crate) use self::node::visit::inspection::{Inspection, Sight, Standing, Uninspected};
#[cfg(feature = "net")]
pub(crate) use self::node::visit::prospect::{FirstLook, Prospect, prospects};
#[cfg(feature = "net")]
pub(crate) use self::node::visit::{Order, Receipt, Visitor};
#[cfg(feature = "net")]
pub(crate) use self::node::witness::disagreement;
#[cfg(feature = "net")]
pub(crate) use self::node_outcome::AtNodes;
pub use self::node_outcome::{NodeOutcome, NodeOutcomes};
pub use self::node_set::{MAX_NODES, NodeId, NodeSet, NodeSetIter};
pub use self::options::{AcquireOptions, RetryContext};
pub use self::quorum::{Quorum, Verdict};
pub use self::request_error::RequestError;
pub use self::restart_guard::RestartGuard;
#[cfg(redbolt_sabotage)]
pub use self::sabotage::{RECREATE, Saboteur};
#[cfg(all(feature = "net", feature = "serde"))]
pub(crate) use self::serde_impl::{Maybe, Names, Number, read_setting, unknown, write_settings};
#[cfg(feature = "net")]
pub(crate) use self::settings::{Setting, Unfit};
#[cfg(feature = "net")]
pub use self::stored::{Stored, StoredValue};
#[cfg(feature = "net")]
pub(crate) use self::stripe::{Checksum, STRIPES};
pub use self::token::{Nonce, Token, TokenError, TokenRefusal};
pub use self::validity::Drift;
#[cfg(feature = "net")]
pub(crate) use self::wire::command::label_key;
#[doc(hidden)]
pub use self::wire::fencing::{
    ACQUIRE_FENCED, ACQUIRE_FENCED_MANY, ACQUIRE_FENCED_SET, DRAW, DRAW_SET, RAISE, RAISE_SET,
};
#[cfg(feature = "embedded")]
pub(crate) use self::wire::fencing::{CUT, FENCES};
#[cfg(feature = "embedded")]
pub(crate) use self::wire::peek::PEEK;
#[cfg(feature = "net")]
pub(crate) use self::wire::peek::{Removal, peek, read_peek, read_removal, remove};
pub use self::wire::probe::MissingRights;
#[doc(hidden)]
pub use self::wire::probe::PROBE;
#[cfg(feature = "net")]
pub(crate) use self::wire::rights::{WITNESS_RIGHTS, rules};
#[doc(hidden)]
pub use self::wire::script::{
    ACQUIRE_SET, EXTEND, EXTEND_MANY, EXTEND_SET, HOLDER, RELEASE, RELEASE_MANY, RELEASE_SET,
    Script,
};
pub use self::wire::server_error::{Complaint, ServerError};
#[cfg(feature = "net")]
pub(crate) use self::wire::testimony::{Constants, Found, Testimony};
#[cfg(feature = "embedded")]
pub(crate) use self::wire::witness::CLOSED;
#[cfg(feature = "embedded")]
pub(crate) use self::wire::witness::COUNT_LABELS;
#[doc(hidden)]
pub use self::wire::witness::{CLOSE, DECLARE_FRESH, LOOK, RAISE_MAX_TTL, REOPEN};
#[cfg(feature = "net")]
pub(crate) use self::wire::written::read_time;
