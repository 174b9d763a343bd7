//! Conversations of an operator with a node: what stands under some resources, and the release of
//! one value.

use bytes::BytesMut;

use super::address::Address;
use super::audit::{Heard, hear};
use super::clock::Clock;
use super::credentials::Credentials;
use super::visit::{Line, login};
use crate::redlock::{
    Audit, NodeError, RedlockConfig, Removal, ServerError, Stored, Visitor, peek, read_peek,
    read_removal, remove,
};

/// How many keys are looked at in one write. Their answers fit into the buffers of a socket, so
/// that neither side waits for the other to read.
const KEYS_AT_ONCE: usize = 32;

/// A conversation with a node that has said what a client would think of it.
pub(crate) struct Talk {
    line: Line,
    heard: Heard,
}

impl Talk {
    /// Connects to a node, logs in, and asks what tells whether the node votes. This writes nothing
    /// there.
    ///
    /// # Errors
    ///
    /// Returns the reason why the node cannot be asked anything.
    pub(crate) fn begin(
        address: &Address,
        credentials: Option<&Credentials>,
        config: &RedlockConfig,
        nodes: usize,
    ) -> Result<Self, NodeError> {
        let login = login(address, credentials);
        let mut line = Line::open(address, config.connect_timeout)?;
        let visitor = Visitor { config, nodes, since_1970: Clock::since_1970() };
        let heard = hear(&mut line, &login, Audit::brief(&login, visitor));
        let heard = heard.map_err(|unanswered| unanswered.error)?;
        Ok(Self { line, heard })
    }

    /// What the node has said about itself.
    pub(crate) fn heard(&self) -> &Heard {
        &self.heard
    }

    /// Looks at these keys. Writes nothing. Each key has an answer or an error of its own: after an
    /// error of the connection, all that are left have this error.
    pub(crate) fn look(&mut self, keys: &[Vec<u8>]) -> Vec<Result<Stored, NodeError>> {
        let mut found = Vec::with_capacity(keys.len());
        for chunk in keys.chunks(KEYS_AT_ONCE) {
            let mut commands = BytesMut::new();
            chunk.iter().for_each(|key| peek(&mut commands, key));
            let end = found.len() + chunk.len();
            let asked = self.line.ask(&commands, |value| {
                found.push(read_peek(value).map_err(NodeError::from));
                Ok((found.len() == end).then_some(()))
            });
            if let Err(error) = asked {
                found.resize(keys.len(), Err(error));
            }
            if found.len() == keys.len() {
                break;
            }
        }
        found
    }

    /// Deletes a key that has exactly this value; `None` where data of another type stands there.
    ///
    /// # Errors
    ///
    /// Returns the error of the node or of the connection. After an error of the connection, the
    /// node may have deleted the key.
    pub(crate) fn remove(
        &mut self,
        key: &[u8],
        value: &[u8],
    ) -> Result<Option<Removal>, NodeError> {
        let mut command = BytesMut::new();
        remove(&mut command, key, value);
        let removal = self.line.ask(&command, |value| Ok(Some(read_removal(value)?)));
        match removal {
            Err(NodeError::Server(ServerError::WrongType)) => Ok(None),
            removal => removal.map(Some),
        }
    }
}
