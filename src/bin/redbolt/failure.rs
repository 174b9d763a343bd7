//! Why a command has not done everything: the exit code, and the message.

use std::fmt::Display;
use std::io;

use redbolt::{EngineError, UnlockError, WhoError};

use crate::exit;

/// The exit code, and the message for the person at the terminal.
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { code: exit::USAGE, message: message.to_string() }
    }

    pub(crate) fn no_quorum(message: impl Display) -> Self {
        Self { code: exit::NO_QUORUM, message: message.to_string() }
    }

    pub(crate) fn software(message: impl Display) -> Self {
        Self { code: exit::SOFTWARE, message: message.to_string() }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::software(error)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Io(_) => Self::software(error),
            // An address, or a setting.
            _ => Self::usage(error),
        }
    }
}

impl From<WhoError> for Failure {
    fn from(error: WhoError) -> Self {
        match error {
            WhoError::Io(_) => Self::software(error),
            _ => Self::usage(error),
        }
    }
}

impl From<UnlockError> for Failure {
    fn from(error: UnlockError) -> Self {
        match error {
            UnlockError::Io(_) => Self::software(error),
            _ => Self::usage(error),
        }
    }
}
