//! The signals that this process receives.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

use rustix::process::Signal;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

/// The signals that are meant for the command.
const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// Collects signals. The descriptor becomes readable when a signal has come.
pub(super) struct Signals(SignalDelivery<UnixStream, SignalOnly>);

impl Signals {
    /// Starts to collect signals, except those that this process ignores since its start: the
    /// command ignores these as well, as `nohup` and shells want it.
    pub(super) fn new() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        let ignored = ignored();
        let wanted = PASSED_ON.into_iter().filter(|signal| ignored & bit(*signal) == 0);
        let wanted = wanted.chain([SIGCHLD]);
        SignalDelivery::with_pipe(read, write, SignalOnly, wanted).map(Self)
    }

    /// Returns a signal that has come. A signal that came several times is returned once.
    pub(super) fn next(&mut self) -> Option<Signal> {
        // Signals that this call does not take stay for the next call.
        self.0.pending().find_map(Signal::from_named_raw)
    }
}

impl AsRawFd for Signals {
    fn as_raw_fd(&self) -> RawFd {
        self.0.get_read().as_raw_fd()
    }
}

/// Returns the set of ignored signals; empty where the system does not say.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

/// The signals that have names on the command line.
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
    match NAMES.iter().find(|(_, known)| *known == signal) {
        Some((name, _)) => format!("SIG{name}"),
        None => format!("signal {}", signal.as_raw()),
    }
}

/// Parses the name of a signal, with or without `SIG`, or its number.
pub(super) fn named(text: &str) -> Result<Signal, String> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, signal)| *signal);
    let numbered = || text.parse().ok().and_then(Signal::from_named_raw);
    found.or_else(numbered).ok_or_else(|| {
        let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
        format!("{} or a number is possible", names.join(", "))
    })
}

fn bit(signal: i32) -> u64 {
    u32::try_from(signal - 1).ok().and_then(|shift| 1_u64.checked_shl(shift)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_known_by_its_names_and_its_number() {
        for text in ["USR1", "usr1", "SIGUSR1", "10"] {
            assert_eq!(named(text), Ok(Signal::USR1), "{text}");
        }
        assert_eq!(name(Signal::USR1), "SIGUSR1");
        assert_eq!(name(Signal::SEGV), "signal 11");
        for text in ["", "SIG", "USR3", "0", "-1", "99"] {
            assert!(named(text).is_err(), "{text}");
        }
    }
}
