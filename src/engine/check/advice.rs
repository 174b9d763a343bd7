//! Why a node is out, and what to do about it: what `redbolt check` and `redbolt init` say.
//!
//! [`waiting`](super::waiting) says the same of nodes that wait.

use core::time::Duration;
use std::io::ErrorKind;

use super::facts::CheckServer;
use super::report::CheckSubject;
use crate::net::Address;
use crate::redlock::{
    Complaint, Message, MissingRights, NodeError, RedlockConfig, ServerError, TlsError,
    WITNESS_RIGHTS, rules,
};
use crate::time::format_duration;

/// What is known of a node that is out.
pub(in crate::engine) struct Case<'a> {
    pub(in crate::engine) config: &'a RedlockConfig,
    /// The user of the login; `None` for `default`.
    pub(in crate::engine) user: Option<&'a str>,
    /// Whether the node is reached through a Unix socket.
    pub(in crate::engine) is_local: bool,
    /// The last error of the server.
    pub(in crate::engine) message: &'a Message,
    pub(in crate::engine) server: Option<&'a CheckServer>,
    /// The node that is the same process.
    pub(in crate::engine) twin: Option<&'a Address>,
}

/// What to say of a node that does not vote.
pub(in crate::engine) struct Advice {
    pub(in crate::engine) subject: CheckSubject,
    /// The state in a word or two.
    pub(in crate::engine) label: &'static str,
    pub(in crate::engine) cause: String,
    pub(in crate::engine) remedy: String,
}

pub(super) fn advice(
    subject: CheckSubject,
    label: &'static str,
    cause: impl Into<String>,
    remedy: impl Into<String>,
) -> Advice {
    Advice { subject, label, cause: cause.into(), remedy: remedy.into() }
}

impl Case<'_> {
    /// Returns what to say of a node with this error.
    pub(in crate::engine) fn of_error(&self, error: NodeError) -> Advice {
        use CheckSubject::{Deployment, Policy, Role, SameProcess};
        match error {
            NodeError::LoginRefused | NodeError::Server(ServerError::Denied) => {
                self.of_login(error)
            }
            NodeError::MissingRights(missing) => self.of_rights(missing),
            NodeError::Server(ServerError::KeyDenied) => self.of_keys(),
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
                let nodes = if recorded == 1 { "node" } else { "nodes" };
                let remedy = format!(
                    "list the {recorded} {nodes} that all clients list; to change their number, \
                     end all clients, then redbolt init --reconfigure"
                );
                advice(Deployment, "NODES", error.to_string(), remedy)
            }
            NodeError::Reconfiguring => {
                let cause = "closed for all clients by redbolt init --reconfigure";
                let remedy = "wait for the end of that run; if it was cut short, end all clients, \
                              then redbolt init --reconfigure again";
                advice(Deployment, "CLOSED", cause, remedy)
            }
            error => self.of_connection(error),
        }
    }

    fn of_tls(&self, error: TlsError) -> Advice {
        use TlsError as Tls;
        let remedy = match error {
            Tls::CaFile(_) | Tls::CertFile(_) | Tls::KeyFile(_) => {
                "correct the path, or let this user read the file, which must be in PEM"
            }
            Tls::NoSystemRoots => "give the CA of the server: ca=FILE behind the address",
            Tls::OwnCertificate => "give the key of this very certificate: cert=FILE&key=FILE",
            Tls::Expired => "renew the certificate of the server, or set the clock of this machine",
            Tls::NotYetValid => "set the clock of this machine, or sign the certificate anew",
            Tls::WrongName => {
                "give the name of the certificate: server_name=NAME behind the address, or as the \
                 host"
            }
            Tls::UnknownCa => "give the CA that has signed the certificate: ca=FILE",
            Tls::BadCertificate => "sign the certificate anew, as one of a server, by a CA",
            Tls::CertificateWanted => {
                "give a certificate of ours: cert=FILE&key=FILE; or tls-auth-clients no"
            }
            Tls::CertificateRefused => {
                "have our certificate signed by a CA of the server's tls-ca-cert-file, and renewed \
                 in time"
            }
            Tls::NotTls => "correct the port to the server's tls-port, or use redis://",
            Tls::TlsWanted => "use rediss://, or correct the port",
            Tls::HandshakeTimeout => {
                "correct the port to the server's tls-port: a port without TLS does not answer; or \
                 the server is stopped or busy"
            }
            _ => "compare tls-protocols and tls-ciphers of the server, and look at its log",
        };
        let cause = self.in_its_words(&NodeError::Tls(error));
        advice(CheckSubject::Connection, "TLS", cause, remedy)
    }

    fn of_connection(&self, error: NodeError) -> Advice {
        use CheckSubject::{Connection, Role, Writes};
        let limit = format_duration(self.config.connect_timeout);
        let down = |remedy: &str| advice(Connection, "DOWN", error.to_string(), remedy);
        match error {
            NodeError::Tls(error) => self.of_tls(error),
            NodeError::NameNotResolved => {
                let remedy = "check the name, and the DNS or /etc/hosts of this machine";
                advice(Connection, "NO NAME", error.to_string(), remedy)
            }
            NodeError::Connect(ErrorKind::ConnectionRefused) if !self.is_local => down(
                "start the server, or correct the port; a server with `bind 127.0.0.1` listens to \
                 its own machine only",
            ),
            NodeError::Connect(_) if self.is_local => down(
                "check the path: the server has to run, with `unixsocket` set to this path, and \
                 `unixsocketperm` must let this user in",
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
            NodeError::Closed | NodeError::Io(_) => down(
                "check the server's log, and what stands between: a proxy, a firewall; a port \
                     that wants TLS needs rediss://",
            ),
            NodeError::Server(ServerError::Overloaded) => advice(
                Writes,
                "BUSY",
                self.in_its_words(&error),
                match self.message.complaint {
                    Some(Complaint::ScriptHangs) => "SCRIPT KILL ends a script that hangs",
                    Some(Complaint::ClientsFull) => "raise maxclients, or end clients",
                    _ => self.on_writes(),
                },
            ),
            NodeError::IncompleteInfo(_) => {
                let remedy = "use Redis, Valkey or KeyDB, and no proxy that shortens INFO: \
                              FLAVOURS.md has what a server must tell";
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
        let cause = self.in_its_words(&error);
        let where_to = "redis://USER:PASSWORD@HOST, or --user and --password-file";
        match self.message.complaint {
            Some(Complaint::LoginMissing) => {
                let remedy = format!("give the login of this node: {where_to}");
                advice(Login, "NOAUTH", cause, remedy)
            }
            Some(Complaint::ProtectedMode) => {
                let remedy = "set requirepass on the server, or protected-mode no in a closed \
                              network";
                // The text of this error is a page long.
                let cause = "the server runs in protected mode, and takes only its own machine";
                advice(Connection, "PROTECTED", cause, remedy)
            }
            Some(Complaint::DatabaseUnknown) => {
                let remedy = "correct the number of the database in the address";
                advice(Login, "DATABASE", cause, remedy)
            }
            Some(Complaint::LoginUnwanted) => {
                let remedy = "give this node no password, or set requirepass on the server";
                advice(Login, "LOGIN", cause, remedy)
            }
            complaint => {
                let remedy = format!("correct the user or the password of this node: {where_to}");
                let is_wrong = complaint == Some(Complaint::LoginWrong);
                let label = if is_wrong { "WRONGPASS" } else { "LOGIN" };
                let message = &self.message.text;
                let words =
                    if message.is_empty() { String::new() } else { format!(" ({message})") };
                let cause =
                    format!("the server refused the login of the user {}{words}", self.user());
                advice(Login, label, cause, remedy)
            }
        }
    }

    fn of_rights(&self, missing: MissingRights) -> Advice {
        let user = self.user();
        let cause = format!("the user {user} may not run: {missing}");
        let remedy = format!(
            "ACL SETUSER {user} {}; or take back the rename-command of them",
            rules(missing.names())
        );
        advice(CheckSubject::Rights, "NO RIGHTS", cause, remedy)
    }

    /// Returns what to say of a node where the user has no right to the keys of the witness.
    fn of_keys(&self) -> Advice {
        let cause = format!("the user {} has no right to keep the witness", self.user());
        self.of_witness(cause, true)
    }

    /// Returns what to say of a node where the user cannot keep the witness, for want of keys or of
    /// scripts.
    pub(super) fn of_witness(&self, cause: impl Into<String>, runs_scripts: bool) -> Advice {
        let (user, keys) = (self.user(), self.config.own_keys());
        let scripts = if runs_scripts { "" } else { " +eval +evalsha" };
        let remedy = format!("ACL SETUSER {user} ~{keys} {}{scripts}", rules(WITNESS_RIGHTS));
        advice(CheckSubject::Rights, "NO WITNESS", cause, remedy)
    }

    /// Returns what to do on a server that cannot write.
    pub(super) fn on_writes(&self) -> &'static str {
        match self.message.complaint {
            Some(Complaint::MemoryFull) => "raise maxmemory, or delete keys that are no locks",
            Some(Complaint::PersistenceBroken) => "mend the persistence, as the server's log says",
            Some(Complaint::ReplicasMissing) => {
                "set min-replicas-to-write 0: a lock master needs no replicas"
            }
            _ => "look at the server's log",
        }
    }

    /// Returns the words of the server, or else those of the error.
    fn in_its_words(&self, error: &NodeError) -> String {
        let message = &self.message.text;
        if message.is_empty() { error.to_string() } else { format!("{error} ({message})") }
    }

    pub(in crate::engine) fn user(&self) -> &str {
        self.user.unwrap_or("default")
    }
}
