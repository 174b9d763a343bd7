//! The callbacks of callers.

use super::Worker;
use crate::client::command::OnNode;
use crate::client::notice::LockNotice;
use crate::client::report::NodeReport;
use crate::client::ticket::OnLost;
use crate::net::callback;
use crate::redlock::{NodeId, NodeStatus};

impl Worker {
    /// Tells a callback that its lock is lost.
    pub(super) fn call_on_lost(&mut self, call: OnLost, notice: LockNotice) {
        if callback::call(|| call(notice)).is_none() {
            self.panicked("on_lost");
        }
    }

    /// Tells the callbacks for nodes of a change. A callback that panics is not called again.
    pub(super) fn tell(&mut self, node: NodeId) {
        // Credentials are asked for when a node changes. They are needed again, so that they are
        // called on, and told of once.
        if self.engine.credential_panics() > 0 && !self.is_credential_panic_told {
            self.is_credential_panic_told = true;
            self.engine.panicked("credentials");
        }
        let Some(status) = self.engine.node(node) else { return };
        let is_news = self.changes.is_news(node, status.state);
        if !is_news || self.watchers.is_empty() {
            return;
        }
        let report = NodeReport::new(node, &self.addresses, &status);
        let mut index = 0;
        while let Some(watcher) = self.watchers.get_mut(index) {
            if callback::call(|| watcher(&report)).is_some() {
                index += 1;
            } else {
                callback::discard(self.watchers.remove(index));
                self.panicked("on_node");
            }
        }
    }

    /// Tells a new callback how every node is, and keeps it for changes.
    pub(super) fn watch(&mut self, mut watcher: OnNode) {
        let nodes = self.engine.nodes();
        let reports: Vec<_> = nodes
            .map(|(node, _, status)| {
                let state = self.changes.standing(node, status.state);
                let status = NodeStatus { state, ..status };
                NodeReport::new(node, &self.addresses, &status)
            })
            .collect();
        if callback::call(|| reports.iter().for_each(&mut *watcher)).is_some() {
            self.watchers.push(watcher);
        } else {
            callback::discard(watcher);
            self.panicked("on_node");
        }
    }

    pub(super) fn panicked(&mut self, callback: &'static str) {
        self.panics += 1;
        self.engine.panicked(callback);
    }
}
