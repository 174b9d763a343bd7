//! [`RequestError`]: why a request was refused before anything was sent.

use core::fmt;
use core::time::Duration;

use super::bounds::{MAX_QUERIES, MAX_RESOURCE, MAX_SET, MAX_SET_BYTES};
use super::config_error::GUARDS;
use super::fence::FenceRefusal;
use super::token::TokenRefusal;
use crate::time::format_duration as shown;

/// The error of a request that was refused at once. Nothing was sent, and no event follows.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RequestError {
    /// The resource is empty.
    EmptyResource,
    /// The resource, prefix included, is longer than [`MAX_RESOURCE`].
    ResourceTooLong {
        /// The length of the resource in bytes, prefix included.
        len: usize,
    },
    /// The resource begins with `redbolt:`, by itself or with the prefix. The engine keeps such
    /// names for itself (S11, S13).
    ReservedResource,
    /// The lock has no resources, or more than [`MAX_SET`].
    SetSize {
        /// The number of given resources; a client counts no more than about a million.
        len: usize,
    },
    /// The resources of one lock are together longer than [`MAX_SET_BYTES`].
    SetTooLong {
        /// The length of all resources in bytes, prefixes included.
        len: usize,
    },
    /// The ttl is shorter than [`MIN_TTL`](super::MIN_TTL), or the drift leaves nothing of the ttl.
    TtlTooShort {
        /// The given ttl.
        ttl: Duration,
        /// The shortest ttl that the configured drift allows.
        least: Duration,
    },
    /// The ttl is longer than the configured `max_ttl`.
    TtlTooLong {
        /// The given ttl.
        ttl: Duration,
        /// The configured `max_ttl`.
        max: Duration,
    },
    /// No tries were asked for, and at least one is needed.
    NoTries,
    /// Several tries were asked for, and no wait. Without a wait there is one attempt.
    TriesWithoutWait {
        /// The given number of tries.
        tries: u32,
    },
    /// The node timeout of the request is out of bounds.
    NodeTimeout {
        /// The given node timeout.
        timeout: Duration,
        /// The smallest allowed value.
        least: Duration,
        /// The largest allowed value.
        most: Duration,
    },
    /// The request asks for a fencing number, or brings one, that it cannot have (S13).
    Fence(FenceRefusal),
    /// The request asks a majority of the nodes first ([`Ask::Majority`](super::Ask::Majority)),
    /// and the engine has no restart guard.
    UnguardedMajority,
    /// An earlier request for a fencing number of this lock has not been answered yet.
    DrawPending,
    /// The token that the caller has chosen is refused.
    Token(TokenRefusal),
    /// `max_locks` locks are in use or have events that wait to be taken, or as many events wait.
    /// Release locks, or take events.
    Full {
        /// The configured `max_locks`.
        max: usize,
    },
    /// The lock is unknown: the id was never handed out, or the last event of the lock has been
    /// reported.
    UnknownLock,
    /// The lock is not held: the lock is still being acquired, is being released, or was lost.
    NotHeld,
    /// The lock is held already, and there is nothing to cancel. Release the lock instead.
    AlreadyHeld,
    /// An earlier extension of this lock has not been answered yet.
    ExtensionPending,
    /// [`MAX_QUERIES`] queries have not been answered yet.
    TooManyQueries,
    /// The lock would be held longer than the configured `max_hold` (S12).
    HoldTooLong {
        /// The requested time, counted from the acquisition of the lock.
        hold: Duration,
        /// The configured `max_hold`.
        max: Duration,
    },
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyResource => write!(f, "the resource is empty"),
            Self::ResourceTooLong { len } => {
                write!(
                    f,
                    "prefix and resource have {len} bytes, at most {MAX_RESOURCE} are possible"
                )
            }
            Self::ReservedResource => {
                write!(f, "the resource begins with `redbolt:`, which is reserved")
            }
            Self::SetSize { len } => {
                write!(f, "{len} resources for one lock, between 1 and {MAX_SET} are possible")
            }
            Self::SetTooLong { len } => {
                write!(f, "the resources have {len} bytes, at most {MAX_SET_BYTES} are possible")
            }
            Self::TtlTooShort { ttl, least } => {
                let (ttl, least) = (shown(*ttl), shown(*least));
                write!(f, "the ttl is {ttl}, at least {least} is possible")
            }
            Self::TtlTooLong { ttl, max } => {
                let (ttl, max) = (shown(*ttl), shown(*max));
                write!(f, "the ttl is {ttl}, at most max_ttl = {max} is possible")
            }
            Self::NoTries => write!(f, "0 tries are asked for, at least 1 is needed"),
            Self::TriesWithoutWait { tries } => {
                write!(f, "{tries} tries need a wait, and the request has none")
            }
            Self::NodeTimeout { timeout, least, most } => {
                let [timeout, least, most] = [timeout, least, most].map(|time| shown(*time));
                write!(f, "the node timeout is {timeout}, between {least} and {most} is possible")
            }
            Self::Fence(refusal) => write!(f, "the fencing number is refused: {refusal}"),
            Self::UnguardedMajority => write!(f, "ask is majority, {GUARDS}"),
            Self::DrawPending => write!(f, "a fencing number is being drawn for this lock"),
            Self::Token(refusal) => write!(f, "the token is refused: {refusal}"),
            Self::Full { max } => {
                write!(f, "too many locks are in use: max_locks = {max} is the limit")
            }
            Self::UnknownLock => write!(f, "the lock is not known"),
            Self::NotHeld => write!(f, "the lock is not held"),
            Self::AlreadyHeld => write!(f, "the lock is held already"),
            Self::ExtensionPending => write!(f, "an extension of this lock is under way"),
            Self::TooManyQueries => write!(f, "{MAX_QUERIES} queries are under way"),
            Self::HoldTooLong { hold, max } => {
                let (hold, max) = (shown(*hold), shown(*max));
                write!(f, "the hold is {hold}, at most max_hold = {max} is possible")
            }
        }
    }
}

impl core::error::Error for RequestError {}
