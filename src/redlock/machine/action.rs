//! What the driver must do with a connection, and why a timeout is due.

use crate::redlock::node_set::NodeId;

/// An action on a connection that the driver must carry out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Action {
    /// Open a connection, and report the result with
    /// [`handle_connected`](crate::redlock::Redlock::handle_connected) or
    /// [`handle_closed`](crate::redlock::Redlock::handle_closed).
    Connect(NodeId),
    /// Close the connection that is open or being opened. No report is expected.
    Close(NodeId),
    /// The node has refused the login. If there is another login by now, report that login with
    /// [`set_login`](crate::redlock::Redlock::set_login): the node is then tried at once, and else
    /// about twice a minute. Only drivers that report logins are asked.
    Login(NodeId),
}

/// The source of the next timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// A lock: an attempt, a pause before a retry, a validity or a wait ends.
    Lock,
    /// A node: a connection attempt or its timeout, a silent node, or a cleanup.
    Node(NodeId),
    /// A query for the holder of a resource.
    Query,
}
