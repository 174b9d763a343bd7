//! What [`Check`](super::Check) has found.

use core::fmt;
use core::time::Duration;
use std::net::IpAddr;

use super::clock::CheckClock;
use super::facts::CheckServer;
use super::state::CheckState;
use super::verdict::CheckVerdict;
use crate::engine::deployment::Deployment;
use crate::net::Address;
use crate::redlock::MissingRights;

/// What was found, node by node in the order of the configuration, what is wrong with it, and
/// whether locks can be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckReport {
    pub(super) nodes: Vec<CheckNode>,
    pub(super) findings: Vec<CheckFinding>,
    pub(super) verdict: CheckVerdict,
}

impl CheckReport {
    /// Returns the nodes.
    pub fn nodes(&self) -> &[CheckNode] {
        &self.nodes
    }

    /// Returns what is wrong, and what to do about it: first what keeps nodes from voting, then
    /// what does not.
    pub fn findings(&self) -> &[CheckFinding] {
        &self.findings
    }

    /// Returns whether locks can be had.
    pub fn verdict(&self) -> &CheckVerdict {
        &self.verdict
    }
}

/// A line for each node, indented by two spaces, a line for each finding, and the verdict.
impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in &self.nodes {
            writeln!(f, "  {}: {}", node.address, node.label)?;
        }
        self.findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))?;
        writeln!(f, "{}", self.verdict)
    }
}

/// What was found on one node. A field is `None` if the node did not tell.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CheckNode {
    /// The address, as configured. `Display` does not show the login.
    pub address: Address,
    /// Whether the node votes, as a client sees it that meets the node now.
    pub state: CheckState,
    /// The state in one word or two, for a table. More labels may come.
    ///
    /// `ready` is the label of a node that votes, and `QUARANTINE` of one that may have forgotten
    /// locks. The other labels say what keeps a node from voting:
    ///
    /// | label | what |
    /// | --- | --- |
    /// | `NO NAME` | the name cannot be resolved |
    /// | `DOWN` | there is no connection |
    /// | `SILENT` | the connection is there, and no answer |
    /// | `TLS` | TLS cannot be spoken: a certificate, a file, or what else the finding says |
    /// | `PROTECTED` | protected mode takes only the server's own machine |
    /// | `NOAUTH`, `WRONGPASS`, `LOGIN` | no login, a wrong password, another refusal of a login |
    /// | `DATABASE` | the server has no database with this number |
    /// | `NO RIGHTS` | the user may not run a command that locks need |
    /// | `NO WITNESS` | the user may not keep the witness |
    /// | `NO WRITES`, `BUSY` | the server cannot write, or takes no more clients |
    /// | `LOADING` | the server reads its data |
    /// | `REPLICA`, `CLUSTER` | the server is a replica, or a member of a cluster |
    /// | `INFO`, `STRANGE` | `INFO` lacks a field, or no Redis answers |
    /// | `EVICTING` | the server may evict locks |
    /// | `TWIN` | another address of the list leads to the same process |
    /// | `NODES`, `MAX_TTL` | the deployment of the node has other constants |
    /// | `CLOSED` | a change of the deployment has closed the node |
    pub label: &'static str,
    /// What the server has told about itself.
    pub server: Option<CheckServer>,
    /// The median of some round trips.
    pub round_trip: Option<Duration>,
    /// The clock of the node.
    pub clock: Option<CheckClock>,
    /// The commands that the node does not run for us.
    pub missing: MissingRights,
    /// The machine of the node.
    pub machine: Option<IpAddr>,
    /// What the witness of the node says of the deployment; `None` without a witness.
    pub deployment: Option<Deployment>,
}

/// The subject of a [`CheckFinding`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CheckSubject {
    /// The node cannot be reached, or does not answer.
    Connection,
    /// The login.
    Login,
    /// The rights of the user.
    Rights,
    /// What the server is: a replica, a member of a cluster, something else.
    Role,
    /// `maxmemory-policy`.
    Policy,
    /// Two addresses of one process.
    SameProcess,
    /// Two nodes on one machine.
    SameMachine,
    /// The number of nodes, or `max_ttl`.
    Deployment,
    /// The node may have forgotten locks.
    Quarantine,
    /// The node cannot write for the moment.
    Writes,
    /// What survives a restart.
    Persistence,
    /// Replicas.
    Replicas,
    /// A certificate of TLS that ends soon.
    Certificate,
    /// The clock of a node.
    Clock,
    /// The clock of this machine.
    OurClock,
}

impl CheckSubject {
    /// Returns the name, in lower case, with `_` between words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Login => "login",
            Self::Rights => "rights",
            Self::Role => "role",
            Self::Policy => "policy",
            Self::SameProcess => "same_process",
            Self::SameMachine => "same_machine",
            Self::Deployment => "deployment",
            Self::Quarantine => "quarantine",
            Self::Writes => "writes",
            Self::Persistence => "persistence",
            Self::Replicas => "replicas",
            Self::Certificate => "certificate",
            Self::Clock => "clock",
            Self::OurClock => "our_clock",
        }
    }
}

/// Something that is wrong, or that an operator may want to know, and what to do about it.
///
/// `Display` writes one line.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CheckFinding {
    /// The nodes; none if the finding is about this machine.
    pub nodes: Vec<Address>,
    /// What the finding is about.
    pub subject: CheckSubject,
    /// Whether the finding keeps the nodes from voting.
    pub blocks: bool,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, node) in self.nodes.iter().enumerate() {
            write!(f, "{}{node}", if place == 0 { "" } else { ", " })?;
        }
        let here = if self.nodes.is_empty() { "this machine" } else { "" };
        write!(f, "{here}: {} → {}", self.cause, self.remedy)
    }
}
