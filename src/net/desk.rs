//! Conversations of an operator with a node: what stands under some resources, and the release of
//! one value.

use bytes::BytesMut;

use super::address::Address;
use super::audit::{Heard, hear};
use super::clock::Clock;
use super::credentials::Credentials;
use super::line::Line;
use super::transport::Failure;
use super::visit::login;
use crate::redlock::{
    Audit, Login, Message, NodeError, RedlockConfig, Removal, ServerError, Stored, Unanswered,
    Visitor, peek, read_peek, read_removal, remove, server_text,
};

/// How many keys are looked at in one write. Their answers fit into the buffers of a socket, so
/// that neither side waits for the other to read.
const KEYS_AT_ONCE: usize = 32;

/// How much is shown of the name of a type. No type of Redis has so long a name.
const KIND: usize = 32;

/// A conversation with a node that has said what a client would think of it.
pub(crate) struct Talk {
    line: Line,
    login: Login,
    heard: Heard,
}

impl Talk {
    /// Connects to a node, logs in, and asks what tells whether the node votes. This writes nothing
    /// there.
    ///
    /// # Errors
    ///
    /// Returns the reason why the node cannot be asked anything, and what else is known of it.
    pub(crate) fn begin(
        address: &Address,
        credentials: Option<&Credentials>,
        config: &RedlockConfig,
        nodes: usize,
    ) -> Result<Self, Unanswered> {
        let login = login(address, credentials);
        let line = Line::open(address, config.connect_timeout);
        let mut line = line.map_err(|Failure { error, detail }| Unanswered {
            error,
            message: Message::of_detail(&detail, &login),
        })?;
        let visitor = Visitor { config, nodes, since_1970: Clock::since_1970() };
        let heard = hear(&mut line, Audit::brief(&login, visitor));
        // The class of an error says enough of what a server says.
        let heard = heard.map_err(|unanswered| Unanswered::of(unanswered.error))?;
        Ok(Self { line, login, heard })
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
                let stored = read_peek(value).map_err(NodeError::from);
                found.push(stored.and_then(|stored| without_secret(stored, &self.login)));
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

/// Returns what may be shown of the answer of a node that has this login from us. A value with our
/// password is no lock, but the lie of a server that wants to have it printed.
fn without_secret(stored: Stored, login: &Login) -> Result<Stored, NodeError> {
    match stored {
        Stored::Value { value, .. } if login.is_in(value.as_bytes()) => {
            Err(NodeError::UnexpectedReply)
        }
        Stored::Data { kind, ttl } => {
            Ok(Stored::Data { kind: server_text(kind.as_bytes(), login, KIND), ttl })
        }
        stored => Ok(stored),
    }
}
