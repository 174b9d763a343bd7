//! Why `redbolt init` has not done everything: the exit code, and the message.

use std::fmt::Display;

use crate::exit;

/// Why `redbolt init` has not done everything.
pub(super) struct Failure {
    pub(super) code: u8,
    pub(super) message: String,
}

impl Failure {
    pub(super) fn usage(message: impl Display) -> Self {
        Self { code: exit::USAGE, message: message.to_string() }
    }

    pub(super) fn no_quorum(message: impl Display) -> Self {
        Self { code: exit::NO_QUORUM, message: message.to_string() }
    }

    pub(super) fn system(message: impl Display) -> Self {
        Self { code: exit::SOFTWARE, message: message.to_string() }
    }
}
