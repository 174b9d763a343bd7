//! What `redbolt exec` can say.
//!
//! The names of the events and of their fields are a promise to programs that read `--log json`.
//! Times are in milliseconds. The resource is no part of a message: a run has one, and each line of
//! JSON names it.

use std::fmt;
use std::time::Duration;

use redbolt::LostReason;
use redbolt::time::{Instant, format_rounded};
use rustix::process::Signal;
use serde::Serialize;

use super::ending::Ending;
use super::failure::Failure;
use super::fields;
use super::occupant::Occupant;
use super::signals;
use crate::nodes::{GUARD_HINT, NodeLine, NodeList};

/// Why a lock is lost that the nodes do not have any more.
const NO_VALUE: &str = "no quorum has its value any more; it is gone there, or another stands \
                        there, as after redbolt unlock";

/// For whom a message is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    /// Only for those who want to know what happens: `--verbose`.
    Info,
    /// For everybody: something needs attention, and the run goes on.
    Warn,
    /// For everybody: why the exit code is not that of the command.
    Error,
}

/// How much of a wait is left; nothing for a wait that only a signal ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Left(#[serde(serialize_with = "fields::some_millis")] Option<Duration>);

impl Left {
    /// The rest of a wait.
    pub(super) fn of(wait: Duration) -> Self {
        Self(Some(wait).filter(|wait| *wait != Duration::MAX))
    }

    /// The rest of a wait that ends at a point in time.
    pub(super) fn until(end: Instant, now: Instant) -> Self {
        Self((end != Instant::FAR_FUTURE).then(|| end - now))
    }
}

/// Continues "waiting ".
impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(left) => write!(f, "another {}", format_rounded(left)),
            None => f.write_str("until a signal comes"),
        }
    }
}

/// One message. A list of nodes that has nothing to tell is empty.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Message<'a> {
    /// Nodes in quarantine let no quorum vote before `left`, which is within the wait.
    QuorumAwaited {
        #[serde(rename = "left_ms", serialize_with = "fields::millis")]
        left: Duration,
        nodes: NodeList,
    },
    /// Too few nodes vote. The wait goes on for `left`.
    NoQuorumYet {
        #[serde(rename = "left_ms")]
        left: Left,
        nodes: NodeList,
    },
    /// The lock is still waited for.
    Waiting {
        #[serde(rename = "waited_ms", serialize_with = "fields::millis")]
        waited: Duration,
        #[serde(rename = "left_ms")]
        left: Left,
        attempts: u64,
        occupant: Occupant,
        /// A line for each node if too few of them vote, or say what they have.
        nodes: NodeList,
    },
    /// What stands under the resource will not go away by itself.
    Stuck { occupant: Occupant },
    /// The lock is held.
    Locked {
        #[serde(rename = "took_ms", serialize_with = "fields::millis")]
        took: Duration,
    },
    /// The lock is held, and some nodes have had no vote.
    NotAllReady { nodes: NodeList },
    /// The command runs. Only its name is told: arguments may hold secrets.
    CommandStarted { command: String, command_pid: i32 },
    /// The state of a node has changed.
    Node(NodeLine),
    /// The end of the lock has come nearer.
    Shortened,
    /// The command got the signal of `--expiring-signal`.
    Expiring {
        #[serde(serialize_with = "fields::signal")]
        signal: Signal,
    },
    /// The command got a signal because the lock is about to end.
    Ending {
        #[serde(serialize_with = "fields::reason")]
        reason: LostReason,
        #[serde(serialize_with = "fields::signal")]
        signal: Signal,
        nodes: NodeList,
    },
    /// The lock has ended under the command, which was killed.
    Lost {
        #[serde(serialize_with = "fields::reason")]
        reason: LostReason,
        nodes: NodeList,
    },
    /// The command is stopped, and wants a terminal that this process cannot give away.
    TerminalWanted,
    /// Something that the command has started cannot be stopped, so that the job goes on.
    Unstoppable,
    /// This process was stopped together with the command, and both go on.
    Continued,
    /// The command has ended. With `--wait-group` others may hold the lock in its place.
    CommandEnded {
        command: String,
        command_pid: i32,
        #[serde(flatten)]
        ending: Ending,
        #[serde(rename = "ran_ms", serialize_with = "fields::millis")]
        ran: Duration,
        #[serde(rename = "held_ms", serialize_with = "fields::millis")]
        held: Duration,
    },
    /// No ttl reaches to the end of `--at-least`, and this process stays for so long.
    Staying {
        #[serde(rename = "left_ms", serialize_with = "fields::millis")]
        left: Duration,
    },
    /// Too few nodes keep the lock for the rest of `--at-least`, and this process tries again.
    NotKeptYet {
        #[serde(rename = "left_ms", serialize_with = "fields::millis")]
        left: Duration,
        nodes: NodeList,
    },
    /// The lock stays on the nodes.
    Kept {
        #[serde(rename = "left_ms", serialize_with = "fields::millis")]
        left: Duration,
    },
    /// The lock stays for a shorter time than `--at-least`, or has ended.
    KeptShort {
        #[serde(rename = "left_ms", serialize_with = "fields::millis")]
        left: Duration,
        #[serde(rename = "short_ms", serialize_with = "fields::millis")]
        short: Duration,
    },
    /// The lock is not released: something of the command may still act.
    LeftToTtl,
    /// The lock is released.
    Released {
        #[serde(rename = "confirmed")]
        is_confirmed: bool,
        #[serde(rename = "held_ms", serialize_with = "fields::millis")]
        held: Duration,
    },
    /// The lock had ended before, and what is left of its keys is deleted.
    Cleared {
        #[serde(rename = "confirmed")]
        is_confirmed: bool,
    },
    /// This program has a bug.
    Panicked {
        #[serde(skip_serializing)]
        what: String,
    },
    /// So many messages were not written, because nobody read those before.
    LeftOut { count: u64 },
    /// Why the exit code is not that of the command.
    Failed {
        exit_code: u8,
        #[serde(flatten)]
        failure: &'a Failure,
    },
}

impl Message<'_> {
    pub(super) fn level(&self) -> Level {
        match self {
            Self::Waiting { .. }
            | Self::Locked { .. }
            | Self::NotAllReady { .. }
            | Self::CommandStarted { .. }
            | Self::Node(_)
            | Self::Shortened
            | Self::Expiring { .. }
            | Self::Continued
            | Self::CommandEnded { .. }
            | Self::Kept { .. }
            | Self::Released { .. }
            | Self::Cleared { .. } => Level::Info,
            Self::QuorumAwaited { .. }
            | Self::NoQuorumYet { .. }
            | Self::Stuck { .. }
            | Self::Ending { .. }
            | Self::Lost { .. }
            | Self::TerminalWanted
            | Self::Unstoppable
            | Self::Staying { .. }
            | Self::NotKeptYet { .. }
            | Self::KeptShort { .. }
            | Self::LeftToTtl
            | Self::LeftOut { .. } => Level::Warn,
            Self::Panicked { .. } | Self::Failed { .. } => Level::Error,
        }
    }

    /// Whether `--quiet` says this: why the exit code is not that of the command, and what led
    /// there; or why the command may run again too early. Another who holds the lock is no fault,
    /// and has an exit code.
    pub(super) fn breaks_quiet(&self) -> bool {
        match self {
            Self::Failed { failure, .. } => !failure.is_conflict(),
            Self::Ending { .. } | Self::Lost { .. } | Self::Panicked { .. } => true,
            Self::KeptShort { .. } => true,
            _ => false,
        }
    }

    /// The message for people, in a run for this resource.
    pub(super) fn text<'b>(&'b self, resource: &'b str) -> Text<'b> {
        Text { message: self, resource }
    }
}

/// A message as a person reads it.
pub(super) struct Text<'a> {
    message: &'a Message<'a>,
    resource: &'a str,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = self.resource;
        match self.message {
            Message::QuorumAwaited { left, nodes } => {
                let left = format_rounded(*left);
                write!(f, "waiting {left} for a quorum of nodes for {resource:?}:")?;
                write!(f, "\n{nodes}\n{GUARD_HINT}")
            }
            Message::NoQuorumYet { left, nodes } => {
                let voters = nodes.voters();
                write!(f, "no quorum of nodes for {resource:?}, waiting {left}{voters}:\n{nodes}")
            }
            Message::Waiting { left, attempts, occupant, nodes, .. } => {
                let plural = if *attempts == 1 { "" } else { "s" };
                let is_about_nodes = nodes.is_empty() || *occupant == Occupant::Unknown;
                let more = if is_about_nodes { "" } else { ", but too few nodes vote" };
                let after = format!("after {attempts} attempt{plural}");
                write!(
                    f,
                    "waiting {left} for {resource:?} {after}: {occupant}{more}{}",
                    nodes.below()
                )
            }
            Message::Stuck { occupant } => {
                let way_out = occupant.way_out();
                write!(f, "{resource:?} will not come free by itself: {occupant}{way_out}")
            }
            Message::Locked { took } => write!(f, "{resource:?} is locked after {took:.1?}"),
            Message::NotAllReady { nodes } => write!(f, "not every node is ready:\n{nodes}"),
            Message::CommandStarted { command, command_pid } => {
                write!(f, "{command:?} runs as process {command_pid}")
            }
            Message::Node(line) => write!(f, "node {line}"),
            Message::Shortened => {
                write!(f, "the lock on {resource:?} is shorter: {}", LostReason::ClockBehind)
            }
            Message::Expiring { signal } => {
                write!(f, "little is left of the lock on {resource:?}: {}", signals::name(*signal))
            }
            Message::Ending { reason, signal, nodes } => {
                let signal = signals::name(*signal);
                let about = about_to_end(*reason, resource);
                write!(f, "{about}: {signal}{}", nodes_behind(*reason, nodes))
            }
            Message::Lost { reason, nodes } => {
                write!(f, "the lock on {resource:?} is lost: {}", why_lost(*reason, nodes))
            }
            Message::TerminalWanted => f.write_str(
                "the command is stopped: it wants the terminal, which is not ours to give away",
            ),
            Message::Unstoppable => {
                f.write_str("not stopped: something that the command has started cannot be stopped")
            }
            Message::Continued => f.write_str("continued"),
            Message::CommandEnded { command, ending, ran, .. } => {
                write!(f, "{command:?} {ending} after {}", format_rounded(*ran))
            }
            Message::Staying { .. }
            | Message::NotKeptYet { .. }
            | Message::Kept { .. }
            | Message::KeptShort { .. }
            | Message::LeftToTtl
            | Message::Released { .. }
            | Message::Cleared { .. } => self.behind(f),
            Message::LeftOut { count: 1 } => f.write_str("1 message is left out here"),
            Message::LeftOut { count } => write!(f, "{count} messages are left out here"),
            Message::Panicked { what } => write!(f, "a bug of redbolt: {what}"),
            Message::Failed { failure, .. } => failure.fmt(f),
        }
    }
}

impl Text<'_> {
    /// Writes what becomes of the lock behind the command.
    fn behind(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = self.resource;
        match self.message {
            Message::Staying { left } => {
                let left = format_rounded(*left);
                write!(
                    f,
                    "redbolt stays for {left}: no ttl of {resource:?} reaches as far as --at-least"
                )
            }
            Message::NotKeptYet { left, nodes } => {
                let left = format_rounded(*left);
                write!(f, "too few nodes keep {resource:?} for another {left}, trying on:\n{nodes}")
            }
            Message::Kept { left } => {
                write!(f, "{resource:?} stays locked for another {}", format_rounded(*left))
            }
            Message::KeptShort { left, short } if left.is_zero() => {
                let short = format_rounded(*short);
                write!(f, "the lock on {resource:?} has ended {short} before --at-least is over")
            }
            Message::KeptShort { left, short } => {
                let [left, short] = [left, short].map(|time| format_rounded(*time));
                write!(
                    f,
                    "{resource:?} stays locked for another {left}, {short} less than --at-least"
                )
            }
            Message::LeftToTtl => write!(
                f,
                "the lock on {resource:?} is left to its ttl: what is left of the command may \
                 not be dead yet"
            ),
            Message::Released { is_confirmed, held } => {
                let (held, more) = (format_rounded(*held), unconfirmed(*is_confirmed));
                write!(f, "{resource:?} is released after {held}{more}")
            }
            Message::Cleared { is_confirmed } => {
                let more = unconfirmed(*is_confirmed);
                write!(f, "what was left of the lock on {resource:?} is deleted{more}")
            }
            _ => Ok(()),
        }
    }
}

fn unconfirmed(is_confirmed: bool) -> &'static str {
    if is_confirmed { "" } else { ", but too few nodes have confirmed it" }
}

fn why_lost(reason: LostReason, nodes: &NodeList) -> String {
    match reason {
        // Nodes that are well are no reason.
        LostReason::Majority if nodes.are_ready() => NO_VALUE.to_owned(),
        LostReason::Majority => format!("{NO_VALUE}{}", nodes.below()),
        reason => format!("{reason}{}", nodes_behind(reason, nodes)),
    }
}

/// Returns the nodes, below a line, where they can be the reason.
fn nodes_behind(reason: LostReason, nodes: &NodeList) -> String {
    if reason == LostReason::MaxHold { String::new() } else { nodes.below() }
}

fn about_to_end(reason: LostReason, resource: &str) -> String {
    match reason {
        LostReason::MaxHold => format!("--max-hold is about to end the lock on {resource:?}"),
        _ => format!("the lock on {resource:?} is about to end"),
    }
}
