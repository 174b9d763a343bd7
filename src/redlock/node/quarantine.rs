//! The quarantine of a node, as users see it, and its reasons (S11).

use core::fmt;
use core::time::Duration;

use crate::time::format_rounded;

/// The reason why a node does not vote although it could.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum QuarantineReason {
    /// This client meets the node for the first time, and nothing proves that the data of the node
    /// has been in one piece for long enough.
    FirstContact,
    /// The process is not the one that was there before.
    Restarted,
    /// The process is the same, but not the id of its replication (`master_replid`). The process
    /// was a replica meanwhile; or its first replica has attached, or the last one has been gone
    /// for `repl-backlog-ttl`, which a client cannot tell apart.
    NewReplicationId,
    /// The process has evicted keys.
    EvictedKeys,
    /// The process is the same, but its witness is gone or younger than before: somebody has
    /// flushed the node, or has loaded other data.
    DataLost,
    /// The node has shown its witness to this client before, and answers with an error now: rights
    /// were taken away, or something else is wrong. Whether the witness is still there, and the
    /// keys with it, is not known.
    WitnessDenied,
    /// Nobody looked at the node for longer than a lock can last, while other nodes were in use; or
    /// this client did not, and believes no witness of the node. Another process may have taken its
    /// place meanwhile.
    OutOfService,
    /// The node said during a session that it is loading, or that it is a replica. The data of the
    /// node may have been exchanged.
    StoppedServing,
    /// The `maxmemory-policy` of the node was changed during a session to one that evicts keys.
    EvictingPolicy,
    /// The node was in cluster or sentinel mode during a session.
    NotStandalone,
    /// The node has not answered a look for too long, or not since it said that its keys may be
    /// gone.
    Unseen,
}

impl fmt::Display for QuarantineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstContact => "nothing proves that it has kept its data for long enough",
            Self::Restarted => "it was restarted",
            Self::NewReplicationId => {
                "its replication id has changed: it was a replica, its first replica attached, or \
                 the last one has been gone for repl-backlog-ttl"
            }
            Self::EvictedKeys => "it has evicted keys",
            Self::DataLost => "it has lost data",
            Self::WitnessDenied => "it does not show its witness any more, and may have lost data",
            Self::OutOfService => {
                "unseen for longer than a lock can last: another process may have had its place"
            }
            Self::StoppedServing => "it was loading data, or a replica, while it was in use",
            Self::EvictingPolicy => "its maxmemory-policy was not noeviction while it was in use",
            Self::NotStandalone => "it was in cluster or sentinel mode while it was in use",
            Self::Unseen => "it has not answered a look at its data",
        })
    }
}

/// The quarantine of a node, which does not vote for a while (S11). Releases and extensions are
/// still sent to the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Quarantine {
    /// The reason.
    pub reason: QuarantineReason,
    /// The time left. Zero for [`QuarantineReason::Unseen`], which ends with the next answer.
    pub remaining: Duration,
}

impl Quarantine {
    /// Returns the time left as text, unless that is unknown or less than can be shown.
    pub(crate) fn left(&self) -> Option<String> {
        (!self.remaining.is_zero()).then(|| format_rounded(self.remaining))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_left_is_shown_unless_there_is_none() {
        let rows = [(0, None), (1, Some("1ms")), (59_812_345_678, Some("59.9s"))];
        for (nanos, expected) in rows {
            let remaining = Duration::from_nanos(nanos);
            let quarantine = Quarantine { reason: QuarantineReason::Restarted, remaining };
            assert_eq!(quarantine.left().as_deref(), expected, "{nanos} ns");
        }
    }
}
