//! The steps of an inquiry: one command each.

use bytes::BytesMut;

use crate::redlock::login::Login;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::wire::command::{self, Call, Look, Native};
use crate::redlock::wire::introduction;
use crate::redlock::wire::native;
use crate::redlock::wire::probe::PROBED;
use crate::redlock::wire::script::Script;
use crate::redlock::wire::tracking;
use crate::resp;

/// The steps, in the order in which they are sent. Steps that are not needed are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Auth,
    Select,
    /// One section of `INFO`.
    Info(&'static [u8]),
    /// What the connection says of itself.
    Introduction(usize),
    Capabilities,
    Load(Script),
    /// A try of all commands, by the text of the script and then by its SHA-1.
    Probe(Call),
    /// The change to RESP3, in which a server can push. Whoever may not goes on in RESP2.
    Hello,
    /// The wish to be told what happens to keys.
    Track,
    /// The wish to be told what happens to the witness, and the read of it by which the server
    /// knows, both before the look: so no change of the witness behind the look is missed.
    OptIn,
    ReadWitness,
    /// The label of this client, beside the locks.
    Label,
    /// One setting of the server.
    Setting(&'static [u8]),
    /// The witness, always last: the locks of the session come behind its stamp.
    Witness(Call),
    /// Tries of `SET` and of the native compare-and-delete, behind all other answers. They are only
    /// for nodes that run no scripts for us.
    TrySet,
    TryNative(Native),
}

/// The sections of `INFO` that are read, one call each: several in one call need Redis 7.
pub(in crate::redlock::node) const SECTIONS: [&[u8]; 5] =
    [b"server", b"replication", b"memory", b"stats", b"persistence"];

/// The settings that decide whether a node is durable.
pub(super) const SETTINGS: [&[u8]; 2] = [b"appendfsync", b"no-appendfsync-on-rewrite"];

/// Returns the steps of a question for the witness.
pub(super) fn about_witness(guard: RestartGuard, call: Call) -> impl Iterator<Item = Step> {
    let settings = SETTINGS.map(Step::Setting).into_iter();
    let wanted = if guard == RestartGuard::Durable { SETTINGS.len() } else { 0 };
    settings.take(wanted).chain([Step::Witness(call)])
}

impl Step {
    /// Appends the command of the step.
    pub(super) fn encode(self, login: &Login, look: &Look<'_>, out: &mut BytesMut) {
        match self {
            Self::Auth => resp::command(out, &login.auth()),
            Self::Select => {
                resp::command(out, &[b"SELECT", login.database.to_string().as_bytes()]);
            }
            Self::Info(section) => resp::command(out, &[b"INFO", section]),
            Self::Introduction(index) => introduction::introduce(out, index, look.name),
            Self::Capabilities => native::ask(out),
            Self::Load(script) => {
                resp::command(out, &[b"SCRIPT", b"LOAD", script.text.as_bytes()]);
            }
            Self::Probe(call) => command::probe(out, call, look.prefix),
            Self::Hello => tracking::hello(out),
            Self::Track => tracking::track(out),
            Self::OptIn => tracking::opt_in(out),
            Self::ReadWitness => tracking::read_witness(out, look.prefix),
            Self::Label => command::label(out, look),
            Self::Setting(name) => resp::command(out, &[b"CONFIG", b"GET", name]),
            Self::Witness(call) => command::look(out, call, look),
            Self::TrySet => native::attempt_set(out, &[look.prefix, PROBED].concat()),
            Self::TryNative(native) => {
                native::attempt(out, native, &[look.prefix, PROBED].concat())
            }
        }
    }
}
