//! [`ConfigError`], the error of a configuration that cannot work.

use core::fmt;
use core::time::Duration;

use super::node_set::MAX_NODES;
use crate::time::format_duration as shown;

/// What a client needs that asks a majority first.
pub(super) const GUARDS: &str = "which needs restart_guard = on, strict or durable, but it is off";

/// The error of a configuration that cannot work, or cannot work safely.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// No nodes were given, or more than [`MAX_NODES`].
    Nodes {
        /// The given number.
        count: usize,
    },
    /// The same node was given twice, and would vote twice.
    EqualNodes {
        /// The name of both.
        name: String,
    },
    /// The quorum is less than a majority, or more than the number of nodes.
    Quorum {
        /// The demanded quorum.
        need: usize,
        /// The smallest safe quorum.
        majority: usize,
        /// The number of nodes, which is the largest possible quorum.
        nodes: usize,
    },
    /// [`Ask::Majority`](super::Ask::Majority) was chosen without a restart guard: a single node
    /// that restarts could let a second client in.
    UnguardedMajority,
    /// The prefix begins with `redbolt:`, where other clients have what they keep beside locks.
    ReservedPrefix,
    /// The name of the connections has a space, or a character that is not visible ASCII.
    ConnectionName,
    /// The drift leaves no validity, not even with the longest ttl.
    Drift {
        /// The drift of the longest ttl.
        drift: Duration,
        /// The longest ttl.
        max_ttl: Duration,
    },
    /// A duration is out of bounds.
    Duration {
        /// The name of the setting.
        what: &'static str,
        /// The given value.
        value: Duration,
        /// The smallest allowed value.
        least: Duration,
        /// The largest allowed value.
        most: Duration,
    },
    /// A text is too short or too long.
    Length {
        /// The name of the setting.
        what: &'static str,
        /// The given number of bytes.
        len: usize,
        /// The smallest allowed number.
        least: usize,
        /// The largest allowed number.
        most: usize,
    },
    /// A number is out of bounds.
    Size {
        /// The name of the setting.
        what: &'static str,
        /// The given value.
        value: usize,
        /// The smallest allowed value.
        least: usize,
        /// The largest allowed value.
        most: usize,
    },
}

impl ConfigError {
    /// Returns what the setting can be: the end of a sentence that names the setting and its value.
    pub(crate) fn possible(&self) -> Option<String> {
        Some(match self {
            Self::Quorum { majority, nodes, .. } if majority == nodes => {
                let noun = if *nodes == 1 { "node" } else { "nodes" };
                format!("with {nodes} {noun} only {nodes} is possible")
            }
            Self::Quorum { majority, nodes, .. } => {
                format!("with {nodes} nodes between {majority} and {nodes} is possible")
            }
            Self::Duration { least, most, .. } if *most == Duration::MAX => {
                format!("at least {} is possible", shown(*least))
            }
            Self::Duration { least, most, .. } => {
                format!("between {} and {} is possible", shown(*least), shown(*most))
            }
            Self::Length { least, most, .. } | Self::Size { least, most, .. } => {
                format!("between {least} and {most} is possible")
            }
            Self::UnguardedMajority => GUARDS.to_owned(),
            Self::Drift { drift, max_ttl } => {
                let (drift, max_ttl) = (shown(*drift), shown(*max_ttl));
                format!("which makes a drift of {drift}: less than max_ttl = {max_ttl} is possible")
            }
            Self::Nodes { .. }
            | Self::EqualNodes { .. }
            | Self::ReservedPrefix
            | Self::ConnectionName => return None,
        })
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let possible = self.possible().unwrap_or_default();
        match self {
            Self::Nodes { count } => {
                write!(f, "{count} nodes given, between 1 and {MAX_NODES} are possible")
            }
            Self::EqualNodes { name } => {
                write!(f, "node {name} is given twice, it would vote twice")
            }
            Self::Quorum { need, .. } => write!(f, "a quorum of {need} given, {possible}"),
            Self::UnguardedMajority => write!(f, "ask is majority, {possible}"),
            Self::ReservedPrefix => {
                f.write_str("the prefix begins with \"redbolt:\", which is reserved")
            }
            Self::ConnectionName => f.write_str(
                "connection_name has a character that servers take in no name: only visible ASCII \
                 characters without a space are possible",
            ),
            Self::Drift { drift, max_ttl } => {
                let (drift, max_ttl) = (shown(*drift), shown(*max_ttl));
                write!(f, "the drift is {drift}, less than max_ttl = {max_ttl} is possible")
            }
            Self::Duration { what, value, .. } => {
                write!(f, "{what} is {}, {possible}", shown(*value))
            }
            Self::Length { what, len, .. } => write!(f, "{what} has {len} bytes, {possible}"),
            Self::Size { what, value, .. } => write!(f, "{what} is {value}, {possible}"),
        }
    }
}

impl core::error::Error for ConfigError {}
