//! How the command has ended. This process ends in the same way, as if the shell had started the
//! command itself.

use std::fmt;
use std::process::ExitCode;

use rustix::process::{Signal, WaitIdStatus, getpid};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use signal_hook::low_level::emulate_default_handler;

use super::{signals, system};

/// The end of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    Exited(u8),
    /// The number of the signal of which the process died.
    Died(i32),
}

impl Ending {
    /// Reads the status of a process that has ended.
    pub(super) fn of(status: &WaitIdStatus) -> Self {
        let code = status.exit_status().and_then(|code| u8::try_from(code).ok());
        let died = || Self::Died(status.terminating_signal().unwrap_or_default());
        code.map_or_else(died, Self::Exited)
    }

    pub(super) fn by(signal: Signal) -> Self {
        Self::Died(signal.as_raw())
    }

    /// The exit code of shells for this end.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Died(signal) => u8::try_from(128 + signal.clamp(0, 127)).unwrap_or(u8::MAX),
        }
    }

    /// Ends this process in the same way: of the same signal, so that a shell knows that `Ctrl-C`
    /// is meant for its loop as well. Returns the exit code where that is not possible.
    pub(super) fn follow(self) -> ExitCode {
        // The system ignores such a signal for its first process.
        if let (Self::Died(signal), false) = (self, getpid().is_init()) {
            // The command has left its memory for the debugger, and this process is not to blame.
            _ = system::leave_no_core();
            // Returns for signals that end no process.
            _ = emulate_default_handler(signal);
        }
        self.code().into()
    }
}

/// Continues the name of the command.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited with {code}"),
            Self::Died(signal) => write!(f, "died of {}", signals::name_of(*signal)),
        }
    }
}

/// The fields `code` and `signal`, of which one is null.
impl Serialize for Ending {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (code, signal) = match self {
            Self::Exited(code) => (Some(code), None),
            Self::Died(signal) => (None, Some(signals::name_of(*signal))),
        };
        let mut fields = to.serialize_struct("Ending", 2)?;
        fields.serialize_field("code", &code)?;
        fields.serialize_field("signal", &signal)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_gives_the_exit_code_of_a_shell() {
        let rows = [
            (Ending::Exited(0), 0),
            (Ending::Exited(255), 255),
            (Ending::by(Signal::INT), 130),
            (Ending::by(Signal::KILL), 137),
            (Ending::Died(64), 192),
        ];
        for (ending, code) in rows {
            assert_eq!(ending.code(), code, "{ending:?}");
        }
    }
}
