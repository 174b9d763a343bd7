//! Running the command while the lock is held, and ending a command that outlives the lock.

use std::ffi::OsStr;

use redbolt::time::Instant;
use redbolt::{Engine, Event, LostReason};
use rustix::process::Signal;

use super::acquire::Lease;
use super::args::Args;
use super::changes::Changes;
use super::child::Child;
use super::failure::Failure;
use super::group;
use super::message::Message;
use super::schedule::Schedule;
use super::speech::Speech;
use super::watch::{News, Watch};
use crate::nodes;

/// What has been done to end the command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Running,
    Warned,
    Terminated,
    Killed,
}

/// Runs the command to its end, which comes before the end of the lock. Returns its exit code.
pub(super) fn run(
    watch: &mut Watch,
    lease: &Lease,
    args: &Args,
    speech: &Speech,
) -> Result<u8, Failure> {
    let mut schedule = Schedule::new(watch.engine.now(), lease.valid_until);
    let mut child = start(lease, args)?;
    let mut changes = Changes::new(&watch.engine);
    let mut stage = Stage::Running;
    let mut end = LostReason::Expired;
    loop {
        // A command that has ended by itself need not be ended: this check comes first.
        if let Some(code) = child.exit_code()? {
            // This process may have been stopped meanwhile. Nobody then knows when the command has
            // ended, so the lock must still be held now.
            if stage <= Stage::Warned && watch.engine.is_held(lease.lock) {
                return Ok(code);
            }
            // The processes that the command has left behind had their time to end as well.
            let group = child.end_group();
            let survivors = !group::is_gone(watch, group)?;
            let (resource, what) = (args.resource_name(), stage.tell());
            return Err(Failure::Overrun { resource, end, what, survivors });
        }
        if let Some(signal) = stage.advance(watch.engine.now(), &schedule, &child, args) {
            speech.say(&stage.told(signal, end, &watch.engine));
        }
        match watch.next(stage.ends_at(&schedule))? {
            News::Signal(signal) if signal != Signal::CHILD => child.signal(signal),
            News::Engine(Event::Shortened { valid_until, .. }) => {
                schedule = Schedule::new(watch.engine.now(), valid_until);
                speech.say(&Message::Shortened);
            }
            News::Engine(Event::Extended { valid_until, .. }) => {
                schedule = Schedule::new(watch.engine.now(), valid_until);
                stage = stage.renewed();
            }
            News::Engine(Event::Expiring { reason, .. }) => end = reason,
            News::Engine(Event::Lost { reason, .. }) => {
                end = reason;
                child.kill();
                stage = Stage::Killed;
                let nodes = nodes::describe(&watch.engine, None);
                speech.say(&Message::Lost { reason, nodes });
            }
            News::Engine(Event::Node(node)) => {
                if let Some(news) = changes.news(&watch.engine, node) {
                    speech.say(&Message::Node(news));
                }
            }
            News::Signal(_) | News::Engine(_) | News::Time => {}
        }
    }
}

fn start(lease: &Lease, args: &Args) -> Result<Child, Failure> {
    let (program, arguments) = args.command.split_first().ok_or_else(|| {
        // The parser of the command line demands a command.
        Failure::Usage("no command given".to_owned())
    })?;
    let token = lease.token.to_hex();
    let environment =
        [("REDBOLT_RESOURCE", args.resource.as_os_str()), ("REDBOLT_TOKEN", OsStr::new(&token))];
    Child::start(program, arguments, environment)
        .map_err(|error| Failure::Start { command: program.to_string_lossy().into_owned(), error })
}

impl Stage {
    /// Sends the signal that is due, and returns which it was. After a long stop of this process,
    /// `SIGKILL` comes at once.
    fn advance(
        &mut self,
        now: Instant,
        schedule: &Schedule,
        child: &Child,
        args: &Args,
    ) -> Option<Signal> {
        if *self != Self::Killed && now >= schedule.kill_at {
            child.kill();
            *self = Self::Killed;
            return Some(Signal::KILL);
        }
        if *self < Self::Terminated && now >= schedule.terminate_at {
            child.terminate();
            *self = Self::Terminated;
            return Some(Signal::TERM);
        }
        if *self == Self::Running && now >= schedule.warn_at {
            *self = Self::Warned;
            return args.expiring_signal.inspect(|signal| child.signal(*signal));
        }
        None
    }

    /// Returns what is said of a signal that was sent at the beginning of this stage.
    fn told(self, signal: Signal, reason: LostReason, engine: &Engine) -> Message<'static> {
        if self == Self::Warned {
            return Message::Expiring { signal };
        }
        Message::Ending { reason, signal, nodes: nodes::not_voting(engine) }
    }

    /// Returns the stage after a renewal of the lock. A command that got `SIGTERM` ends all the
    /// same.
    fn renewed(self) -> Self {
        if self == Self::Warned { Self::Running } else { self }
    }

    fn ends_at(self, schedule: &Schedule) -> Instant {
        match self {
            Self::Running => schedule.warn_at,
            Self::Warned => schedule.terminate_at,
            Self::Terminated => schedule.kill_at,
            Self::Killed => Instant::FAR_FUTURE,
        }
    }

    fn tell(self) -> &'static str {
        match self {
            Self::Running | Self::Warned => "it was over when the command was seen to have ended",
            Self::Terminated => "the command got SIGTERM",
            Self::Killed => "the command was killed",
        }
    }
}
