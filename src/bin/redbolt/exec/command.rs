//! Running the command while the lock is held, and ending a command that outlives the lock.

use std::ffi::OsStr;
use std::io;
use std::mem;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Engine, Event, LostReason};
use rustix::process::Signal;

use super::acquire::Lease;
use super::args::Args;
use super::changes::Changes;
use super::child::Child;
use super::ending::Ending;
use super::failure::Failure;
use super::leftovers;
use super::message::Message;
use super::schedule::Schedule;
use super::signals::{self, Meaning};
use super::speech::Speech;
use super::suspend::{self, Origin, Outcome};
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

/// The command, and what decides about its end.
struct Run<'a> {
    watch: &'a mut Watch,
    lease: &'a Lease,
    args: &'a Args,
    speech: &'a Speech,
    child: Child,
    /// The time just before the start of the command.
    started: Instant,
    is_end_told: bool,
    changes: Changes,
    schedule: Schedule,
    stage: Stage,
    /// Why the lock is about to end, or has ended.
    end: LostReason,
}

/// Runs the command to its end, which comes before the end of the lock. Returns how it has ended.
pub(super) fn run(
    watch: &mut Watch,
    lease: &Lease,
    args: &Args,
    speech: &Speech,
) -> Result<Ending, Failure> {
    let schedule = Schedule::new(watch.engine.now(), lease.valid_until);
    let started = watch.engine.now();
    let child = start(lease, args)?;
    let (command, command_pid) = (name(args), child.pid());
    speech.say(&Message::CommandStarted { command, command_pid });
    let changes = Changes::new(&watch.engine);
    let (is_end_told, stage, end) = (false, Stage::Running, LostReason::Expired);
    Run { watch, lease, args, speech, child, started, is_end_told, changes, schedule, stage, end }
        .until_ended()
}

impl Run<'_> {
    fn until_ended(mut self) -> Result<Ending, Failure> {
        loop {
            // A command that has ended by itself need not be ended: this check comes first.
            if let Some(ending) = self.child.ending()? {
                let seen = self.watch.engine.now();
                let result = (!self.waits_for_leftovers()).then(|| self.result(ending));
                self.tell_end(ending, seen);
                if let Some(result) = result {
                    return result;
                }
            }
            if let Some(signal) = self.stage.advance(
                self.watch.engine.now(),
                &self.schedule,
                &mut self.child,
                self.args,
            ) {
                self.speech.say(&self.stage.told(signal, self.end, &self.watch.engine));
            }
            match self.watch.next(self.stage.ends_at(&self.schedule))? {
                News::Signal(signal) => self.signalled(signal)?,
                News::Engine(event) => self.informed(event),
                News::Time => {}
            }
        }
    }

    /// Returns whether the command has left something behind that holds the lock in its place, as
    /// long as there is time.
    fn waits_for_leftovers(&mut self) -> bool {
        let waits = self.args.wait_group && self.stage < Stage::Killed && !self.child.reap_all();
        if waits {
            // The keys of the terminal are for this process now, which passes them on.
            self.child.end_loan();
        }
        waits
    }

    /// Tells once that the command has ended.
    fn tell_end(&mut self, ending: Ending, seen: Instant) {
        if mem::replace(&mut self.is_end_told, true) {
            return;
        }
        let (command, command_pid) = (name(self.args), self.child.pid());
        let (ran, held) = (seen - self.started, seen - self.lease.since);
        self.speech.say(&Message::CommandEnded { command, command_pid, ending, ran, held });
    }

    /// Returns how the command has ended if that was before the end of the lock.
    fn result(&mut self, ending: Ending) -> Result<Ending, Failure> {
        // This process may have been stopped meanwhile. Nobody then knows when the command has
        // ended, so the lock must still be held now.
        if self.stage <= Stage::Warned && self.watch.engine.is_held(self.lease.lock) {
            return Ok(ending);
        }
        // What the command has left behind had its time to end as well.
        let survivors = !leftovers::end(self.watch, &mut self.child)?;
        let (resource, what) = (self.args.resource_name(), self.stage.tell());
        Err(Failure::Overrun { resource, end: self.end, what, survivors })
    }

    fn informed(&mut self, event: Event) {
        match event {
            Event::Shortened { valid_until, .. } => {
                self.schedule = Schedule::new(self.watch.engine.now(), valid_until);
                self.speech.say(&Message::Shortened);
            }
            Event::Extended { valid_until, .. } => {
                self.schedule = Schedule::new(self.watch.engine.now(), valid_until);
                self.stage = self.stage.renewed();
            }
            Event::Expiring { reason, .. } => self.end = reason,
            Event::Lost { reason, .. } => {
                self.end = reason;
                self.child.kill();
                self.stage = Stage::Killed;
                let nodes = nodes::describe(&self.watch.engine, None);
                self.speech.say(&Message::Lost { reason, nodes });
            }
            Event::Node(node) => {
                if let Some(news) = self.changes.news(&self.watch.engine, node) {
                    self.speech.say(&Message::Node(news));
                }
            }
            _ => {}
        }
    }

    fn signalled(&mut self, signal: Signal) -> io::Result<()> {
        match signals::meaning(signal) {
            Meaning::ForCommand => self.child.signal(signal),
            Meaning::EndsCommand => {
                self.child.signal(signal);
                // A stopped command dies of nothing but `SIGKILL` before it goes on.
                self.child.signal(Signal::CONT);
            }
            Meaning::Child => {
                if self.child.ending()?.is_none() {
                    self.child.reap();
                    if let Some(signal) = self.child.stopped_by()? {
                        self.stopped(signal)?;
                    }
                }
            }
            Meaning::Stop => _ = self.suspend(Origin::Ours)?,
            Meaning::Continue => self.child.lend_terminal(),
            Meaning::None => {}
        }
        Ok(())
    }

    /// Handles a stop of the command as a shell does: by a stop of the whole job.
    fn stopped(&mut self, signal: Signal) -> io::Result<()> {
        let wants_terminal = match signal {
            Signal::TTIN | Signal::TTOU => true,
            // Another redbolt stops itself where its command wants the terminal, and a process with
            // handlers can do so by this signal alone.
            Signal::STOP => !self.child.has_terminal() && self.child.has_stopped_its_job(),
            _ => false,
        };
        let has_terminal = wants_terminal && self.child.lend_on_demand();
        // `SIGCONT` discards a `Ctrl-Z` that was typed while the command was stopped.
        if has_terminal && !self.child.awaits(Signal::TSTP) {
            self.child.signal(Signal::CONT);
            return Ok(());
        }
        // Somebody has stopped the command and not the job. Where the command has the terminal,
        // nobody could type at it any more.
        if signal == Signal::STOP && !wants_terminal && !self.child.has_terminal() {
            return Ok(());
        }
        if self.suspend(Origin::Command)? == Outcome::Orphaned {
            if wants_terminal && !has_terminal {
                self.speech.say(&Message::TerminalWanted);
            } else {
                self.child.signal(Signal::CONT);
            }
        }
        Ok(())
    }

    /// Stops the command and this process, until somebody continues this process. The command goes
    /// on only if the lock is still held then.
    fn suspend(&mut self, origin: Origin) -> io::Result<Outcome> {
        let outcome = suspend::suspend(self.watch, Some(&mut self.child), origin)?;
        if outcome == Outcome::Orphaned {
            return Ok(outcome);
        }
        self.watch.engine.poll(Some(Duration::ZERO))?;
        while let Some(event) = self.watch.engine.next_event() {
            self.informed(event);
        }
        let engine = &self.watch.engine;
        if !engine.is_held(self.lease.lock) || engine.now() >= self.schedule.kill_at {
            // Without having gone on.
            self.child.kill();
            self.stage = Stage::Killed;
            return Ok(outcome);
        }
        match origin {
            Origin::Ours => self.child.lend_terminal(),
            Origin::Command => _ = self.child.lend_on_demand(),
        }
        self.child.resume_all();
        self.speech.say(match outcome {
            Outcome::Unstoppable => &Message::Unstoppable,
            _ => &Message::Continued,
        });
        Ok(outcome)
    }
}

fn start(lease: &Lease, args: &Args) -> Result<Child, Failure> {
    let (program, arguments) = args.command.split_first().ok_or_else(|| {
        // The parser of the command line demands a command.
        Failure::Usage("no command given".to_owned())
    })?;
    let token = lease.token.to_hex();
    let fence = lease.fence.map(|fence| fence.to_string());
    let environment = [
        ("REDBOLT_RESOURCE", Some(args.resource.as_os_str())),
        ("REDBOLT_TOKEN", Some(OsStr::new(&token))),
        // That of another lock, around this one, says nothing of this one.
        ("REDBOLT_FENCE", fence.as_deref().map(OsStr::new)),
    ];
    Child::start(program, arguments, environment)
        .map_err(|error| Failure::Start { command: name(args), error })
}

/// The name of the command for a message, without its arguments.
fn name(args: &Args) -> String {
    args.command.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Stage {
    /// Sends the signal that is due, and returns which it was. After a long stop of this process,
    /// `SIGKILL` comes at once.
    fn advance(
        &mut self,
        now: Instant,
        schedule: &Schedule,
        child: &mut Child,
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
