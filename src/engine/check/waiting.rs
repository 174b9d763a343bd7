//! Why a node does not vote yet, and what to do about it.

use core::time::Duration;

use super::advice::{Advice, Case, advice};
use super::report::CheckSubject;
use super::words::about;
use crate::redlock::{Answers, Found, QuarantineReason, RestartGuard, Word};

/// A node that does not vote yet.
pub(super) struct Waiting<'a> {
    pub(super) case: &'a Case<'a>,
    pub(super) answers: Option<&'a Answers>,
    /// The time left.
    pub(super) remaining: Duration,
    pub(super) reason: QuarantineReason,
    /// Whether the time runs.
    pub(super) is_running: bool,
}

impl Waiting<'_> {
    /// Returns what to say of the node.
    pub(super) fn advice(&self) -> Advice {
        use CheckSubject::{Quarantine, Writes};
        let left = about(self.remaining);
        let word = self.answers.map(|answers| answers.word);
        if word == Some(Word::Later) {
            let cause = format!("the server cannot write: {}", self.case.message.text);
            return advice(Writes, "NO WRITES", cause, self.case.on_writes());
        }
        if word == Some(Word::Denied) {
            let user = self.case.user();
            let cause = format!(
                "the user {user} has no right to keep the witness, so each new client waits {left}"
            );
            let missing = self.answers.map(|answers| answers.missing).unwrap_or_default();
            return self.case.of_witness(cause, missing.allows_scripts());
        }
        if self.case.config.restart_guard == RestartGuard::Strict {
            let cause = format!("restart_guard is strict: each new client waits {left}");
            return advice(Quarantine, "QUARANTINE", cause, "set restart_guard to on, or wait");
        }
        let remedy = match word {
            _ if self.is_running => format!("nothing: it votes in {left}"),
            Some(Word::Given(word)) if word.found == Found::Nothing => format!(
                "redbolt init --fresh, if no client can hold a lock anywhere; else redbolt init, \
                 which waits {left}"
            ),
            _ => format!("redbolt init, or any client: it votes {left} after that"),
        };
        advice(Quarantine, "QUARANTINE", self.cause(), remedy)
    }

    /// Says why the data of the node proves nothing yet.
    fn cause(&self) -> String {
        let (answers, reason) = (self.answers, self.reason);
        let Some(Word::Given(word)) = answers.map(|answers| answers.word) else {
            return reason.to_string();
        };
        let change = answers.and_then(|answers| answers.change);
        match (reason, word.found, change) {
            (QuarantineReason::FirstContact, Found::Nothing, _) => {
                // A prefix that is mistyped shows like this.
                let prefix = &self.case.config.prefix;
                let client = if prefix.is_empty() {
                    "no client".to_owned()
                } else {
                    format!("no client with the prefix \"{}\"", prefix.escape_ascii())
                };
                format!("{client} has looked at it yet: it has no witness")
            }
            (QuarantineReason::FirstContact, Found::Other, Some(change)) => {
                format!("{change}, and no client has looked at it since")
            }
            (QuarantineReason::FirstContact, Found::Same, _) => {
                let age = Duration::from_micros(word.time.saturating_sub(word.born));
                let uptime = self.case.server.and_then(|server| server.uptime);
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
}
