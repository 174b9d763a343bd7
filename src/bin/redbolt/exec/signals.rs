//! The signals that this process receives.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

use nix::sys::signal::SigSet;
use rustix::process::Signal;
use signal_hook::consts::{
    SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2,
};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use crate::ignored::Ignored;

/// The signals that are meant for the command.
const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// The signals by which terminals and shells stop and continue jobs. Those of the terminal must not
/// stop this process alone, because the command has a group of its own and would go on.
const JOB_CONTROL: [i32; 4] = [SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT];

/// Collects signals. The descriptor becomes readable when a signal has come.
pub(super) struct Signals {
    delivery: SignalDelivery<UnixStream, SignalOnly>,
    /// Signals that have been collected and not been returned, each once.
    kept: Vec<Signal>,
}

/// What a signal to this process means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// The signal is for the command.
    ForCommand,
    /// The same, and a command that does not handle the signal dies of it.
    EndsCommand,
    /// A child has ended or has been stopped.
    Child,
    /// This job is to stop.
    Stop,
    /// This job goes on.
    Continue,
    /// Nothing.
    None,
}

/// Returns what a signal to this process means.
pub(super) fn meaning(signal: Signal) -> Meaning {
    match signal {
        Signal::CHILD => Meaning::Child,
        Signal::TSTP => Meaning::Stop,
        Signal::CONT => Meaning::Continue,
        // Another process of our group has used the terminal from its background.
        Signal::TTIN | Signal::TTOU => Meaning::None,
        Signal::HUP | Signal::INT | Signal::QUIT | Signal::TERM => Meaning::EndsCommand,
        _ => Meaning::ForCommand,
    }
}

impl Signals {
    /// Starts to collect signals, except those that this process ignores since its start: the
    /// command ignores these as well, as `nohup` and shells want it.
    pub(super) fn new() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        let ignored = Ignored::at_start();
        let wanted = PASSED_ON.into_iter().chain(JOB_CONTROL);
        let wanted = wanted.filter(|signal| !ignored.has(*signal)).chain([SIGCHLD]);
        // This signal tells of the end of the command. The parent of this process may have blocked
        // the signal.
        let mut child = SigSet::empty();
        child.add(nix::sys::signal::Signal::SIGCHLD);
        child.thread_unblock()?;
        let delivery = SignalDelivery::with_pipe(read, write, SignalOnly, wanted)?;
        Ok(Self { delivery, kept: Vec::new() })
    }

    /// Returns a signal that has come. A signal that came several times is returned once.
    pub(super) fn next(&mut self) -> Option<Signal> {
        self.collect();
        // The order in which two signals came is not known. The system takes back a signal to stop
        // when one to continue comes.
        if [Signal::TSTP, Signal::CONT].iter().all(|signal| self.kept.contains(signal)) {
            self.kept.retain(|signal| *signal != Signal::TSTP);
        }
        self.kept.pop()
    }

    fn collect(&mut self) {
        for signal in self.delivery.pending().filter_map(Signal::from_named_raw) {
            if !self.kept.contains(&signal) {
                self.kept.push(signal);
            }
        }
    }

    /// Returns whether `SIGCONT` has come, and forgets the signal.
    pub(super) fn take_continue(&mut self) -> bool {
        self.collect();
        let count = self.kept.len();
        self.kept.retain(|signal| *signal != Signal::CONT);
        self.kept.len() < count
    }

    /// Forgets the signals of job control that have come so far.
    pub(super) fn forget_job_control(&mut self) {
        self.collect();
        self.kept.retain(|signal| !JOB_CONTROL.contains(&signal.as_raw()));
    }
}

impl AsRawFd for Signals {
    fn as_raw_fd(&self) -> RawFd {
        self.delivery.get_read().as_raw_fd()
    }
}

/// The signals that have names on the command line. `SIGKILL` is no warning.
const NAMES: [(&str, Signal); 13] = [
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
    ("PIPE", Signal::PIPE),
    ("ALRM", Signal::ALARM),
    ("TERM", Signal::TERM),
    ("CONT", Signal::CONT),
    ("STOP", Signal::STOP),
    ("TSTP", Signal::TSTP),
    ("URG", Signal::URG),
    ("WINCH", Signal::WINCH),
];

/// Returns the name of a signal for a message.
pub(super) fn name(signal: Signal) -> String {
    name_of(signal.as_raw())
}

/// The same for the number of a signal. Those for real-time programs have no names.
pub(super) fn name_of(signal: i32) -> String {
    let known = nix::sys::signal::Signal::try_from(signal);
    known.map_or_else(|_| format!("signal {signal}"), |known| known.as_str().to_owned())
}

/// The names of the signals that [`named`] knows.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

/// Parses the name of a signal, with or without `SIG`, or its number.
pub(super) fn named(text: &str) -> Result<Signal, String> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, signal)| *signal);
    // Whatever has no other name here. SIGKILL would be no warning.
    let numbered = || text.parse().ok().and_then(Signal::from_named_raw);
    found.or_else(numbered).filter(|signal| *signal != Signal::KILL).ok_or_else(|| {
        let names: Vec<_> = names().collect();
        format!("{}, or the number of a signal from 1 to 31 but 9, is possible", names.join(", "))
    })
}

#[cfg(test)]
mod tests;
