//! Visits to nodes: a conversation with each, without the loop, for an operator who waits.
//!
//! The calls of this file block. Connecting and each answer have a time limit. The lookup of a name
//! has that of the system.

use std::io;
use std::panic::resume_unwind;
use std::thread;

use super::address::Address;
use super::clock::Clock;
use super::credentials::Credentials;
use super::line::Line;
use crate::redlock::{
    Facts, Inspection, Login, Message, NodeError, Order, Receipt, RedlockConfig, Sight,
    Uninspected, Visitor,
};
use crate::resp::Value;

/// A conversation with a node that has been inspected.
pub(crate) struct Visit {
    line: Line,
    login: Login,
    sight: Sight,
    facts: Facts,
    /// The last error of the node.
    message: Message,
}

impl Visit {
    /// Connects to a node and inspects it, which writes nothing there.
    ///
    /// # Errors
    ///
    /// Returns the reason why the node cannot serve, and what it has told.
    pub(crate) fn pay(
        address: &Address,
        credentials: Option<&Credentials>,
        config: &RedlockConfig,
        nodes: usize,
    ) -> Result<Self, Box<Uninspected>> {
        let login = login(address, credentials);
        let line = Line::open(address, config.connect_timeout);
        let mut line =
            line.map_err(|failure| Uninspected::of(failure.error, &failure.detail, &login))?;
        let mut inspection = Inspection::new(&login);
        let commands = inspection.commands(visitor(config, nodes));
        match line.ask(&commands, |value| inspection.handle_reply(value)) {
            Ok(sight) => {
                let facts = inspection.facts().clone();
                Ok(Self { line, login, sight, facts, message: Message::default() })
            }
            Err(error) => Err(inspection.uninspected(error).into()),
        }
    }

    /// Returns the user of the login; `None` for `default`.
    pub(crate) fn user(&self) -> Option<&str> {
        self.login.username.as_deref()
    }

    /// Returns the last error with which the node has answered an order.
    pub(crate) fn message(&self) -> &Message {
        &self.message
    }

    /// Returns what the node has told of itself.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What the inspection has found.
    pub(crate) fn sight(&self) -> &Sight {
        &self.sight
    }

    /// Has the node execute an order.
    ///
    /// # Errors
    ///
    /// Returns the error of the node or of the connection. After an error of the connection, the
    /// node may have executed the order.
    pub(crate) fn order(
        &mut self,
        order: Order,
        config: &RedlockConfig,
        nodes: usize,
    ) -> Result<Receipt, NodeError> {
        let Self { line, login, message, .. } = self;
        let command = order.command(login, visitor(config, nodes));
        line.ask(&command, |value| {
            if let Value::Error(text) | Value::BulkError(text) = value {
                *message = Message::of_error(text, login);
            }
            order.read(value).map(Some)
        })
    }
}

fn visitor(config: &RedlockConfig, nodes: usize) -> Visitor<'_> {
    Visitor { config, nodes, since_1970: Clock::since_1970() }
}

/// Calls `visit` for each item, all at once, each in a thread of its own. Returns the results in
/// the order of the items.
///
/// # Errors
///
/// Returns the error of the system if a thread cannot be started. The other calls have ended by
/// then.
pub(crate) fn in_threads<T: Send, U: Send>(
    items: Vec<T>,
    visit: impl Fn(T) -> U + Sync,
) -> io::Result<Vec<U>> {
    let visit = &visit;
    thread::scope(|scope| {
        let spawn = |item| {
            let thread = thread::Builder::new().name("redbolt-visit".into());
            thread.spawn_scoped(scope, move || visit(item))
        };
        let threads = items.into_iter().map(spawn).collect::<io::Result<Vec<_>>>()?;
        let join = |thread: thread::ScopedJoinHandle<'_, U>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        Ok(threads.into_iter().map(join).collect())
    })
}

/// Returns the login to a node: that of the program, or else that of the address.
pub(super) fn login(address: &Address, credentials: Option<&Credentials>) -> Login {
    let login = credentials.and_then(|all| all.login(address));
    login.unwrap_or_else(|| address.login().clone())
}
