//! Resources and nodes as logs and errors show them.

use core::fmt;
use std::borrow::Cow;

use crate::net::Address;
use crate::redlock::{NodeError, NodeOutcome, NodeStatus};

/// The number of bytes that are shown of the name of a resource.
const SHOWN: usize = 64;

/// The resources of a lock: the first, cut to 64 bytes, and how many more there are.
#[derive(Clone, Copy)]
pub(crate) struct Resources<'a> {
    pub(crate) first: &'a [u8],
    pub(crate) count: usize,
}

impl<'a> Resources<'a> {
    pub(crate) fn new(mut resources: impl Iterator<Item = &'a [u8]>) -> Self {
        let first = resources.next();
        let count = usize::from(first.is_some()) + resources.count();
        Self { first: first.unwrap_or_default(), count }
    }
}

impl fmt::Display for Resources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, rest) = self.first.split_at(self.first.len().min(SHOWN));
        write!(f, "\"{}{}\"", shown.escape_ascii(), if rest.is_empty() { "" } else { "…" })?;
        match self.count {
            0 | 1 => Ok(()),
            count => write!(f, " and {} more", count - 1),
        }
    }
}

/// A number of things: `1 lock`, `2 locks`.
pub(crate) struct Count<'a>(pub(crate) usize, pub(crate) &'a str);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, thing) = self;
        write!(f, "{count} {thing}{}", if *count == 1 { "" } else { "s" })
    }
}

/// The outcomes of a request at nodes, each with the address of the node and what is wrong with it.
pub(crate) struct Nodes<'a>(pub(crate) Vec<(&'a Address, NodeOutcome, Cow<'a, str>)>);

impl fmt::Display for Nodes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (address, outcome, reason)) in self.0.iter().enumerate() {
            let semicolon = if place == 0 { "" } else { "; " };
            let comma = if reason.is_empty() { "" } else { ", " };
            write!(f, "{semicolon}{address}: {outcome}{comma}{reason}")?;
        }
        Ok(())
    }
}

/// The status of a node. An error that concerns another node names that node by its address.
#[derive(Clone, Copy)]
pub(crate) struct Status<'a> {
    pub(crate) status: &'a NodeStatus<'a>,
    /// The addresses of all nodes.
    pub(crate) addresses: &'a [Address],
}

impl fmt::Display for Status<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = self.status.error.map(|error| Error { error, addresses: self.addresses });
        self.status.write(f, error.as_ref().map(|error| error as &dyn fmt::Display))?;
        f.write_str(login_hint(self.status))
    }
}

/// Returns where to give the login that a node wants, for the end of a text about the node.
fn login_hint(node: &NodeStatus<'_>) -> &'static str {
    if node.lacks_login() { "; a login is needed, as in redis://USER:PASSWORD@HOST" } else { "" }
}

/// The error of a node, with the address of the node that the error names.
struct Error<'a> {
    error: NodeError,
    addresses: &'a [Address],
}

impl fmt::Display for Error<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let other = match self.error {
            NodeError::SameProcess(other) => self.addresses.get(other.index()),
            _ => None,
        };
        match other {
            Some(other) => write!(f, "{}{other}", NodeError::SAME_PROCESS),
            None => self.error.fmt(f),
        }
    }
}

/// Returns what is wrong with a node that has neither agreed nor refused, for [`Nodes`]; nothing
/// for the others. `addresses` are those of all nodes.
pub(crate) fn reason(outcome: NodeOutcome, node: &NodeStatus<'_>, addresses: &[Address]) -> String {
    let error = node.error.map(|error| Error { error, addresses });
    let mut retry = String::new();
    // A string takes everything.
    let _ = node.write_retry(&mut retry);
    match (error, node.quarantine) {
        _ if matches!(outcome, NodeOutcome::Granted | NodeOutcome::Refused) => String::new(),
        (Some(error), _) if node.message.is_empty() => format!("{error}{retry}"),
        (Some(error), _) => format!("{error} ({}){retry}{}", node.message, login_hint(node)),
        (None, Some(quarantine)) => match quarantine.left() {
            Some(left) => format!("{} ({left} left)", quarantine.reason),
            None => quarantine.reason.to_string(),
        },
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(resources: &[&[u8]]) -> String {
        Resources::new(resources.iter().copied()).to_string()
    }

    #[test]
    fn a_resource_is_shown_as_one_short_line_whatever_its_bytes() {
        assert_eq!(shown(&[b"orders/42"]), "\"orders/42\"");
        assert_eq!(shown(&[b"a\nb\"\xff\x1b[31m"]), r#""a\nb\"\xff\x1b[31m""#);
        assert_eq!(shown(&[b"a", b"b", b"c"]), "\"a\" and 2 more");
        let long = vec![b'x'; 5_000];
        assert_eq!(shown(&[&long[..64]]), format!("\"{}\"", "x".repeat(64)));
        assert_eq!(shown(&[&long]), format!("\"{}…\"", "x".repeat(64)));
    }
}
