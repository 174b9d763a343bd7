//! What comes beside the replies, and answers no request: pushes and attributes.

use super::Redlock;
use crate::redlock::node::error::NodeError;
use crate::redlock::node_set::NodeId;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::tracking::Push;
use crate::resp::Value;
use crate::time::Instant;

impl Redlock {
    /// Handles a push or an attribute.
    ///
    /// Both belong to RESP3. Nobody has asked for attributes, nor for pushes in RESP2. A flood of
    /// pushes would keep the loop from other nodes, and ends the session. A push is no answer, so
    /// the deadlines of a session do not wait for a node that only pushes.
    #[cold]
    pub(super) fn handle_beside(&mut self, now: Instant, id: NodeId, value: &Value<'_>) {
        let node = &mut self.nodes[id];
        match value {
            Value::Push(elements) if node.may_push(now) => {
                let push = Push::read(elements.clone(), &self.config.prefix);
                if !self.config.is_sabotaged(Saboteur::PushIgnored) && node.hear(push) {
                    self.watch(now, id);
                }
            }
            _ => self.drop_session(now, id, NodeError::UnexpectedReply),
        }
    }
}
