//! The callbacks of callers. A panic of a callback ends the callback, and not the thread, on which
//! all other locks depend.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Worker;
use crate::client::notice::LockNotice;
use crate::client::report::NodeReport;
use crate::client::ticket::OnLost;
use crate::redlock::NodeId;

impl Worker {
    /// Tells a callback that its lock is lost.
    pub(super) fn call_on_lost(&mut self, call: OnLost, notice: LockNotice) {
        if !returns(|| call(notice)) {
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
        let count = self.watchers.len();
        self.watchers.retain_mut(|watcher| returns(|| watcher(&report)));
        for _ in self.watchers.len()..count {
            self.panicked("on_node");
        }
    }

    fn panicked(&mut self, callback: &'static str) {
        self.panics += 1;
        self.engine.panicked(callback);
    }
}

/// Calls a function of the caller's. Returns `false` if it panicked.
fn returns(call: impl FnOnce()) -> bool {
    // Nothing of the worker is in the closure but what the callback may see.
    let result = catch_unwind(AssertUnwindSafe(call));
    // The drop of a payload may panic as well. A callback panics once, so little is leaked.
    result.map_err(core::mem::forget).is_ok()
}
