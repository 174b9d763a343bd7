//! What comes beside the replies, and answers no request: pushes and attributes.

use super::Redlock;
use crate::redlock::node::error::NodeError;
use crate::redlock::node_set::NodeId;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::tracking::{Push, Touched};
use crate::resp::{Elements, Value};
use crate::time::Instant;

impl Redlock {
    /// Handles a push or an attribute.
    ///
    /// Both belong to RESP3. Nobody has asked for attributes, nor for pushes in RESP2. A flood of
    /// pushes would keep the loop from other nodes, and ends the session. A push is no answer, so
    /// the deadlines of a session do not wait for a node that only pushes.
    #[cold]
    pub(super) fn handle_beside(&mut self, now: Instant, id: NodeId, value: &Value<'_>) {
        match value {
            Value::Push(elements) if self.nodes[id].may_push(now) => {
                match Push::read(elements.clone()) {
                    Push::AllKeys => self.handle_touched(now, id, Touched::AllKeys),
                    Push::Keys(keys) => self.handle_touched_keys(now, id, keys),
                    Push::Other => {}
                }
            }
            _ => self.drop_session(now, id, NodeError::UnexpectedReply),
        }
    }

    /// Handles the keys of a push: as many as a reply has room for.
    fn handle_touched_keys(&mut self, now: Instant, id: NodeId, keys: Elements<'_>) {
        for key in keys {
            let touched = Touched::read(&key, &self.config.prefix);
            self.handle_touched(now, id, touched);
            if touched == Touched::AllKeys {
                return;
            }
        }
    }

    /// Handles what a push says of one key.
    fn handle_touched(&mut self, now: Instant, id: NodeId, touched: Touched<'_>) {
        if self.config.is_sabotaged(Saboteur::PushIgnored) {
            return;
        }
        let node = &mut self.nodes[id];
        let must_look = match touched {
            Touched::AllKeys => node.heard_of_all_keys(),
            Touched::Witness => node.heard_of_witness(),
            Touched::Lock(key) => return self.wake_listeners(now, id, key),
        };
        if must_look {
            self.watch(now, id);
        }
        if touched == Touched::AllKeys {
            self.wake_all(now, id);
        }
    }
}
