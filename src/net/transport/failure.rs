//! [`Failure`]: why a transport could not be set up.

use crate::redlock::{NodeError, TlsError};

/// Why a transport could not be set up, and what else an operator wants to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::net) struct Failure {
    pub(in crate::net) error: NodeError,
    /// Such as the path of a file; may be empty.
    pub(in crate::net) detail: String,
}

impl From<NodeError> for Failure {
    fn from(error: NodeError) -> Self {
        Self { error, detail: String::new() }
    }
}

impl From<TlsError> for Failure {
    fn from(error: TlsError) -> Self {
        NodeError::Tls(error).into()
    }
}
