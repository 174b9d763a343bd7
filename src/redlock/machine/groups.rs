//! How releases and extensions leave: gathered per node, many keys in one script call.
//!
//! A script call costs a server about as much as a `SET`, nearly whatever the script does. In one
//! call for 64 keys, each key costs a fraction of that. So everything that waits for a node leaves
//! together when the bytes for the node are collected. No request is held back to make a group
//! larger: a group is what came while the last group was on its way. On a quiet engine a group is a
//! single lock, which leaves at once.

use super::Redlock;
use super::encode::Sources;
use crate::redlock::lock::Phase;
use crate::redlock::node::batch::{Flush, Member};
use crate::redlock::node::request::{CompareRequest, Expected, GROUP, Op, Request};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::command::{Call, Form};
use crate::time::Instant;

impl Redlock {
    /// Adds a member to the batch of each of `nodes`, where it waits until the bytes of the node
    /// are collected.
    pub(super) fn add_to_batches(&mut self, nodes: NodeSet, member: Member) {
        for id in nodes {
            self.nodes[id].batch.add(member);
        }
    }

    /// Encodes what waits for a node: requests for fencing numbers, and the members if they are
    /// due.
    pub(super) fn flush_batch(&mut self, now: Instant, id: NodeId, flush: Flush) {
        // Of all nodes at once, because this is asked at every write.
        if self.gathered > 0 && !self.config.is_sabotaged(Saboteur::ReleaseOvertakes) {
            self.flush_gathered(now, id);
        }
        if self.nodes[id].batch.is_due(flush) {
            self.flush_members(now, id);
        }
        if self.config.is_sabotaged(Saboteur::ReleaseOvertakes) {
            self.flush_gathered(now, id);
        }
    }

    /// Encodes all members that wait for a node.
    fn flush_members(&mut self, now: Instant, id: NodeId) {
        let is_cut = self.config.is_sabotaged(Saboteur::ReleaseWithoutCompare);
        loop {
            let (count, is_set) = self.nodes[id].batch.take_releases(is_cut);
            if count == 0 {
                break;
            }
            let form = self.form_of_release(id, count, is_set);
            self.send_group(now, id, Op::Release, form, count, is_set);
        }
        loop {
            let (count, is_set) = self.take_extensions(id);
            if count == 0 {
                break;
            }
            // An extension never goes by `SET … IFEQ … PX`, which servers with a native release
            // have as well. That command sets the ttl whatever it was: a late one, left behind by a
            // dead connection, would cut short what a later extension was granted (S7). Redis 8.6.3
            // also looks the key up twice for that command. The second look-up may move a table
            // that is shrinking, and another key is overwritten.
            self.send_group(now, id, Op::Extend, Form::Script(Call::Sha), count, is_set);
        }
    }

    /// Returns the form of a release. One key goes by the server's own command if there is one;
    /// more keys go by script.
    fn form_of_release(&self, id: NodeId, count: usize, is_set: bool) -> Form {
        match self.nodes[id].native {
            Some(native) if count == 1 && !is_set => Form::Native(native),
            _ => Form::Script(Call::Sha),
        }
    }

    /// Moves up to a group of waiting extensions to those on their way. An extension that nobody
    /// waits for any more is left out. Returns how many were moved, and whether they are one set.
    fn take_extensions(&mut self, id: NodeId) -> (usize, bool) {
        let mut count = 0;
        let is_cut = self.config.is_sabotaged(Saboteur::ExtensionRecreates);
        let most = if is_cut { 1 } else { GROUP };
        while count < most {
            let batch = &mut self.nodes[id].batch;
            let Some(member) = batch.next_extension() else { break };
            if member.is_set && count > 0 {
                break;
            }
            batch.pop_extension();
            if self.is_open_round(member) {
                self.nodes[id].batch.push_sent(member);
                count += 1;
                if member.is_set {
                    return (count, true);
                }
            } else {
                self.table[member.slot].reply_settled();
                self.recycle(member.slot);
            }
        }
        (count, false)
    }

    /// Returns `true` if the lock is still in the round of this extension or adoption.
    pub(super) fn is_open_round(&self, member: Member) -> bool {
        let lock = &self.table[member.slot];
        matches!(lock.phase, Phase::Held | Phase::Adoption) && lock.round.number == member.serial
    }

    /// Sends one request over the last `count` members on their way.
    pub(super) fn send_group(
        &mut self,
        now: Instant,
        id: NodeId,
        op: Op,
        form: Form,
        count: usize,
        is_set: bool,
    ) {
        // At most `GROUP`, which fits.
        let request = CompareRequest { op, form, count: count as u32 };
        let node = &mut self.nodes[id];
        let members = node.batch.youngest(count);
        let (table, nonce, cleanup) = (&self.table, &self.nonce, &node.cleanup);
        let sources = Sources {
            #[cfg(redbolt_sabotage)]
            config: &self.config,
            table,
            nonce,
            cleanup,
        };
        let bytes = self.last_request.bytes(request, members.clone(), |out| {
            sources.encode(out, request, members, is_set);
        });
        node.send(bytes, Expected { request: Request::Compare(request), sent: now });
        node.batch.request_sent();
        node.counters.scripts += 1;
    }
}
