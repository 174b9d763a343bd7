//! Why a node does not vote, and what to do about it.

use core::time::Duration;
use std::io::ErrorKind;

use super::facts::CheckServer;
use super::report::CheckSubject;
use super::state::CheckState;
use super::words::about;
use crate::net::{Address, Audited};
use crate::redlock::{
    Constants, Found, MissingRights, NodeError, QuarantineReason, RedlockConfig, RestartGuard,
    ServerError, Word,
};
use crate::time::format_duration;

/// What is known of a node that does not vote.
pub(super) struct Case<'a> {
    pub(super) config: &'a RedlockConfig,
    pub(super) audited: &'a Audited,
    pub(super) server: Option<&'a CheckServer>,
    /// The node that is the same process.
    pub(super) twin: Option<&'a Address>,
}

/// What to say of a node that does not vote.
pub(super) struct Advice {
    pub(super) subject: CheckSubject,
    /// The state in a word or two.
    pub(super) label: &'static str,
    pub(super) cause: String,
    pub(super) remedy: String,
}

fn advice(
    subject: CheckSubject,
    label: &'static str,
    cause: impl Into<String>,
    remedy: impl Into<String>,
) -> Advice {
    Advice { subject, label, cause: cause.into(), remedy: remedy.into() }
}

impl Case<'_> {
    /// Returns what to say of the node; `None` if the node votes.
    pub(super) fn advice(&self, state: &CheckState) -> Option<Advice> {
        match *state {
            CheckState::Ready => None,
            CheckState::Out(error) => Some(self.of_error(error)),
            CheckState::Quarantined { remaining, reason, is_running } => {
                Some(self.of_quarantine(remaining, reason, is_running))
            }
        }
    }

    fn of_error(&self, error: NodeError) -> Advice {
        use CheckSubject::{Deployment, Policy, Role, SameProcess};
        match error {
            NodeError::LoginRefused | NodeError::Server(ServerError::Denied) => {
                self.of_login(error)
            }
            NodeError::MissingRights(missing) => self.of_rights(missing),
            NodeError::Replica => {
                let master = self.server.and_then(|server| server.master.as_deref());
                let cause = match master {
                    Some(master) => format!("a replica of {master}"),
                    None => error.to_string(),
                };
                let remedy = "point this entry at the master, or make the server a master of its \
                              own: REPLICAOF NO ONE";
                advice(Role, "REPLICA", cause, remedy)
            }
            NodeError::NotStandalone => {
                let remedy = "use a server of its own, with cluster-enabled no";
                advice(Role, "CLUSTER", error.to_string(), remedy)
            }
            NodeError::Loading => {
                let remedy = "wait until the server has loaded its data";
                advice(Role, "LOADING", error.to_string(), remedy)
            }
            NodeError::EvictsKeys => {
                let policy = self.server.and_then(|server| server.policy.as_deref());
                let policy = policy.unwrap_or("not noeviction");
                let cause = format!("maxmemory-policy is {policy}: the server may evict locks");
                let remedy = "CONFIG SET maxmemory-policy noeviction, and CONFIG REWRITE";
                advice(Policy, "EVICTING", cause, remedy)
            }
            NodeError::SameProcess(_) => {
                let twin = self.twin.map(ToString::to_string).unwrap_or_default();
                let cause = format!("{}{twin}, which would vote twice", NodeError::SAME_PROCESS);
                advice(
                    SameProcess,
                    "TWIN",
                    cause,
                    "give each server once: correct or drop one entry",
                )
            }
            NodeError::MaxTtlTooLong { ours, recorded } => {
                let [ours, recorded] =
                    [ours, recorded].map(|ttl| format_duration(Duration::from_millis(ttl)));
                let cause = format!("max_ttl is {ours} here and {recorded} in the deployment");
                let remedy = format!(
                    "set max_ttl to {recorded} here, or raise that of the deployment: redbolt init \
                     --max-ttl {ours}"
                );
                advice(Deployment, "MAX_TTL", cause, remedy)
            }
            NodeError::OtherNodes { recorded, .. } => {
                let is_closed = Constants { nodes: recorded, max_ttl: 0 }.is_closed();
                let remedy = match is_closed {
                    true => "end all clients, then redbolt init --reconfigure once more".to_owned(),
                    false => format!(
                        "list the {recorded} nodes that all clients list; to change their number, \
                         end all clients, then redbolt init --reconfigure"
                    ),
                };
                advice(Deployment, "NODES", error.to_string(), remedy)
            }
            error => self.of_connection(error),
        }
    }

    fn of_connection(&self, error: NodeError) -> Advice {
        use CheckSubject::{Connection, Role, Writes};
        let limit = format_duration(self.config.connect_timeout);
        let down = |remedy: &str| advice(Connection, "DOWN", error.to_string(), remedy);
        match error {
            NodeError::NameNotResolved => {
                let remedy = "check the name, and the DNS or /etc/hosts of this machine";
                advice(Connection, "NO NAME", error.to_string(), remedy)
            }
            NodeError::Connect(ErrorKind::ConnectionRefused) => down(
                "start the server, or correct the port; a server with `bind 127.0.0.1` listens to \
                 its own machine only",
            ),
            NodeError::Connect(_) => down("check the address, the route and the firewall"),
            NodeError::ConnectTimeout => advice(
                Connection,
                "DOWN",
                format!("connecting took longer than {limit}"),
                "check that the machine is up, and that no firewall drops the packets",
            ),
            NodeError::HandshakeTimeout => advice(
                Connection,
                "SILENT",
                format!("connected, but no answer within {limit}"),
                "the server is stopped, busy with a slow command, or no Redis: look at its log",
            ),
            NodeError::Closed | NodeError::Io(_) => {
                down("check the server's log, and what stands between: a proxy, a firewall")
            }
            NodeError::Server(ServerError::Overloaded) => advice(
                Writes,
                "BUSY",
                self.in_its_words(&error),
                "raise maxclients, or end clients; SCRIPT KILL ends a script that hangs",
            ),
            NodeError::IncompleteInfo(_) => {
                let remedy = "use a Redis or Valkey server, not a proxy that shortens INFO";
                advice(Role, "INFO", error.to_string(), remedy)
            }
            error => advice(
                Role,
                "STRANGE",
                self.in_its_words(&error),
                "correct the port: a Redis or Valkey server has to listen there",
            ),
        }
    }

    fn of_login(&self, error: NodeError) -> Advice {
        use CheckSubject::{Connection, Login};
        let message = self.message();
        let cause = self.in_its_words(&error);
        let where_to = "redis://USER:PASSWORD@HOST, or --user and --password-file";
        if message.starts_with("NOAUTH") {
            let remedy = format!("give the login of this node: {where_to}");
            advice(Login, "NOAUTH", cause, remedy)
        } else if message.contains("DENIED") {
            let remedy = "set requirepass on the server, or protected-mode no in a closed network";
            // The text of this error is a page long.
            let cause = "the server runs in protected mode, and takes only its own machine";
            advice(Connection, "PROTECTED", cause, remedy)
        } else if message.contains("DB index") {
            let remedy = "correct the number of the database in the address";
            advice(Login, "DATABASE", cause, remedy)
        } else if message.contains("without any password") {
            let remedy = "give this node no password, or set requirepass on the server";
            advice(Login, "LOGIN", cause, remedy)
        } else {
            let remedy = format!("correct the user or the password of this node: {where_to}");
            let label = if message.starts_with("WRONGPASS") { "WRONGPASS" } else { "LOGIN" };
            advice(Login, label, cause, remedy)
        }
    }

    fn of_rights(&self, missing: MissingRights) -> Advice {
        let user = self.user();
        let rules: Vec<_> = missing.names().map(|name| format!("+{name}")).collect();
        let cause = format!("the user {user} may not run: {missing}");
        let remedy = format!(
            "ACL SETUSER {user} {}; or take back the rename-command of them",
            rules.join(" ")
        );
        advice(CheckSubject::Rights, "NO RIGHTS", cause, remedy)
    }

    fn of_quarantine(
        &self,
        remaining: Duration,
        reason: QuarantineReason,
        is_running: bool,
    ) -> Advice {
        use CheckSubject::{Quarantine, Rights, Writes};
        let left = about(remaining);
        let word = self.audited.answers().map(|answers| answers.word);
        if word == Some(Word::Later) {
            let cause = format!("the server cannot write: {}", self.message());
            return advice(Writes, "NO WRITES", cause, self.on_writes());
        }
        if word == Some(Word::Denied) {
            let user = self.user();
            let pattern = self.pattern();
            let cause = format!(
                "the user {user} has no right to keep the witness, so each new client waits {left}"
            );
            let remedy = format!("ACL SETUSER {user} ~{pattern} +get +set +time +info");
            return advice(Rights, "NO WITNESS", cause, remedy);
        }
        if self.config.restart_guard == RestartGuard::Strict {
            let cause = format!("restart_guard is strict: each new client waits {left}");
            return advice(Quarantine, "QUARANTINE", cause, "set restart_guard to on, or wait");
        }
        let cause = self.quarantine_cause(reason);
        let remedy = match word {
            _ if is_running => format!("nothing: it votes in {left}"),
            Some(Word::Given(word)) if word.found == Found::Nothing => format!(
                "redbolt init --fresh, if no client can hold a lock anywhere; else redbolt init, \
                 which waits {left}"
            ),
            _ => format!("redbolt init, or any client: it votes {left} after that"),
        };
        advice(Quarantine, "QUARANTINE", cause, remedy)
    }

    /// Says why the data of the node proves nothing yet.
    fn quarantine_cause(&self, reason: QuarantineReason) -> String {
        let answers = self.audited.answers();
        let Some(Word::Given(word)) = answers.map(|answers| answers.word) else {
            return reason.to_string();
        };
        let change = answers.and_then(|answers| answers.change);
        match (reason, word.found, change) {
            (QuarantineReason::FirstContact, Found::Nothing, _) => {
                "no client has looked at it yet: it has no witness".to_owned()
            }
            (QuarantineReason::FirstContact, Found::Other, Some(change)) => {
                format!("{change}, and no client has looked at it since")
            }
            (QuarantineReason::FirstContact, Found::Same, _) => {
                let age = Duration::from_micros(word.time.saturating_sub(word.born));
                let uptime = self.server.and_then(|server| server.uptime);
                let born = format!("its witness is {} old", about(age));
                // A client looks at a new process within a second or so.
                let is_restarted =
                    uptime.is_some_and(|uptime| uptime.abs_diff(age) < Duration::from_secs(3));
                if is_restarted {
                    format!("it was started {} ago, and {born}", about(uptime.unwrap_or_default()))
                } else {
                    born
                }
            }
            _ => reason.to_string(),
        }
    }

    fn on_writes(&self) -> &'static str {
        match self.message().split(' ').next() {
            Some("OOM") => "raise maxmemory, or delete keys that are no locks",
            Some("MISCONF") => "mend the persistence, as the server's log says",
            Some("NOREPLICAS") => "set min-replicas-to-write 0: a lock master needs no replicas",
            _ => "look at the server's log",
        }
    }

    /// Returns the words of the server, or else those of the error.
    fn in_its_words(&self, error: &NodeError) -> String {
        let message = self.message();
        if message.is_empty() { error.to_string() } else { format!("{error} ({message})") }
    }

    fn message(&self) -> &str {
        match &self.audited.result {
            Ok(heard) => &heard.answers.message,
            Err(unanswered) => &unanswered.message,
        }
    }

    pub(super) fn user(&self) -> &str {
        self.audited.user.as_deref().unwrap_or("default")
    }

    /// Returns the pattern of the keys of the witness.
    fn pattern(&self) -> String {
        format!("{}redbolt:*", self.config.prefix.escape_ascii())
    }
}
