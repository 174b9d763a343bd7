//! Running the command while the lock is held, and ending a command that outlives the lock.

use std::ffi::OsStr;

use redbolt::time::Instant;
use redbolt::{Event, LostReason};
use rustix::process::Signal;

use super::acquire::Lease;
use super::args::Args;
use super::changes::Changes;
use super::child::Child;
use super::failure::Failure;
use super::group;
use super::schedule::Schedule;
use super::signals;
use super::watch::{News, Watch};

/// What has been done to end the command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Running,
    Warned,
    Terminated,
    Killed,
}

/// Runs the command to its end, which comes before the end of the lock. Returns its exit code.
pub(super) fn run(watch: &mut Watch, lease: &Lease, args: &Args) -> Result<u8, Failure> {
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
        stage = stage.advance(watch.engine.now(), &schedule, &child, args, end);
        match watch.next(stage.ends_at(&schedule))? {
            News::Signal(signal) if signal != Signal::CHILD => child.signal(signal),
            News::Engine(Event::Shortened { valid_until, .. }) => {
                args.tell(format_args!("the lock is shorter: {}", LostReason::ClockBehind));
                schedule = Schedule::new(watch.engine.now(), valid_until);
            }
            News::Engine(Event::Extended { valid_until, .. }) => {
                schedule = Schedule::new(watch.engine.now(), valid_until);
                stage = stage.renewed();
            }
            News::Engine(Event::Expiring { reason, .. }) => end = reason,
            News::Engine(Event::Lost { reason, .. }) => {
                end = reason;
                args.tell(format_args!("the lock is lost: {reason}"));
                schedule = Schedule::at_once(watch.engine.now());
            }
            News::Engine(Event::Node(node)) => {
                if let Some(news) = changes.news(&watch.engine, node) {
                    args.tell(news);
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
    Child::start(program, arguments, environment).map_err(|error| Failure::Start {
        command: format!("{:?}", program.to_string_lossy()),
        error,
    })
}

impl Stage {
    /// Sends the signals that are due. After a long stop of this process, `SIGKILL` comes at once.
    fn advance(
        self,
        now: Instant,
        schedule: &Schedule,
        child: &Child,
        args: &Args,
        end: LostReason,
    ) -> Self {
        let what = match end {
            LostReason::MaxHold => "--max-hold is about to end the lock",
            _ => "the lock is about to end",
        };
        if self != Self::Killed && now >= schedule.kill_at {
            args.tell(format_args!("{what}: SIGKILL"));
            child.kill();
            return Self::Killed;
        }
        if self < Self::Terminated && now >= schedule.terminate_at {
            args.tell(format_args!("{what}: SIGTERM"));
            child.terminate();
            return Self::Terminated;
        }
        if self == Self::Running && now >= schedule.warn_at {
            if let Some(signal) = args.expiring_signal {
                let name = signals::name(signal);
                args.tell(format_args!("little is left of the lock: {name}"));
                child.signal(signal);
            }
            return Self::Warned;
        }
        self
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
