//! How releases and extensions leave: gathered per node, as one script call over many keys.
//!
//! A script call costs a server about as much as a `SET`, nearly whatever it does; one call for 64
//! keys costs it a fraction per key. So whatever waits for a node when its bytes are collected
//! leaves together. Nothing is held back to make a group: what is gathered is what came while the
//! last group was on its way. On a quiet engine that is one lock, which leaves at once and alone.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::command::{self, Form, Subject};
use super::lease::Compared;
use super::lock::Phase;
use super::machine::Redlock;
use super::nodes::NodeId;
use super::pipeline::{Expected, What};
use super::reply::ServerError;
use super::sabotage::Saboteur;
use super::token::Token;
use crate::time::Instant;

/// How many keys one script call takes. The gain flattens out here, and a longer call would hold
/// up the locks behind it.
pub(super) const GROUP: usize = 64;

/// What a compare request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// A lock is given back.
    Release,
    /// A token that may exist is deleted (S6).
    CleanUp,
    /// A lock is kept.
    Extend,
}

/// One lock in a compare request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Member {
    pub(super) purpose: Purpose,
    /// The slot of the lock; for a cleanup the place on the list.
    pub(super) slot: u32,
    /// The serial of the attempt; for an extension the number of the round.
    pub(super) serial: u64,
    /// It is about several resources that are one lock, and goes alone.
    pub(super) is_set: bool,
}

/// The compare requests of one node.
#[derive(Default)]
pub(super) struct Batch {
    /// Wait to be sent: releases and cleanups.
    releases: VecDeque<Member>,
    /// Wait to be sent: extensions.
    extensions: VecDeque<Member>,
    /// On their way, in the order of the requests.
    sent: VecDeque<Member>,
    /// How many requests these are.
    requests: usize,
    /// How many of the releases that wait are about several resources.
    sets: usize,
}

impl Batch {
    pub(super) fn add(&mut self, member: Member) {
        match member.purpose {
            Purpose::Release | Purpose::CleanUp => {
                self.sets += usize::from(member.is_set);
                self.releases.push_back(member);
            }
            Purpose::Extend => self.extensions.push_back(member),
        }
    }

    /// How many keys wait or are on their way.
    pub(super) fn len(&self) -> usize {
        self.releases.len() + self.extensions.len() + self.sent.len()
    }

    /// Whether something waits to be sent.
    fn is_waiting(&self) -> bool {
        !self.releases.is_empty() || !self.extensions.is_empty()
    }

    /// The next key of the oldest request.
    pub(super) fn pop_sent(&mut self) -> Option<Member> {
        self.sent.pop_front()
    }

    /// A request was answered.
    pub(super) fn answered(&mut self) {
        self.requests -= 1;
    }

    /// Whether the youngest on their way is about several resources.
    fn ends_with_set(&self) -> bool {
        self.sent.back().is_some_and(|member| member.is_set)
    }

    /// Takes out everything: the connection is gone.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Member> + use<> {
        let Self { releases, extensions, sent, .. } = core::mem::take(self);
        sent.into_iter().chain(releases).chain(extensions)
    }
}

impl Redlock {
    /// Encodes what waits for a node, unless a group is on its way: then more gathers until its
    /// reply is there. With `now_or_never` it does not wait for that.
    pub(super) fn seal(&mut self, now: Instant, id: NodeId, now_or_never: bool) {
        let batch = &self.nodes[id.index()].batch;
        if !batch.is_waiting() || (batch.requests > 0 && !now_or_never) {
            return;
        }
        loop {
            let (count, is_set) = self.take_releases(id);
            if count == 0 {
                break;
            }
            let form = self.form_of_release(id, count, is_set);
            self.transmit(now, id, What::Release(form), count, is_set);
        }
        loop {
            let (count, is_set) = self.take_extensions(id);
            if count == 0 {
                break;
            }
            // Never by `SET … IFEQ … PX`, which servers with a native release have as well: it sets
            // the ttl whatever it was. One that a dead connection left behind would cut short what
            // a later extension was granted (S7). And Redis 8.6.3 looks the key up twice for it;
            // the second look may move a table that is shrinking, and another key is overwritten.
            self.transmit(now, id, What::Extend(Form::Sha), count, is_set);
        }
    }

    /// One key goes by the server's own command where it has one, more go by script.
    fn form_of_release(&self, id: NodeId, count: usize, is_set: bool) -> Form {
        match self.nodes[id.index()].native {
            Some(native) if count == 1 && !is_set => Form::Native(native),
            _ => Form::Sha,
        }
    }

    /// Moves up to a group of releases to those on their way; returns how many, and whether it is a
    /// set, which goes alone.
    fn take_releases(&mut self, id: NodeId) -> (usize, bool) {
        let group =
            if self.config.is_sabotaged(Saboteur::ReleaseWithoutCompare) { 1 } else { GROUP };
        let Batch { releases, sent, sets, .. } = &mut self.nodes[id.index()].batch;
        let (mut count, mut is_set) = (releases.len().min(group), false);
        if *sets > 0 && count > 0 {
            let singles = releases.iter().take_while(|member| !member.is_set).count();
            is_set = singles == 0;
            *sets -= usize::from(is_set);
            count = count.min(singles.max(1));
        }
        sent.extend(releases.drain(..count));
        (count, is_set)
    }

    /// Moves up to a group of extensions to those on their way, passing over those that nobody
    /// waits for any more; returns how many, and whether it is a set.
    fn take_extensions(&mut self, id: NodeId) -> (usize, bool) {
        let mut count = 0;
        let group = if self.config.is_sabotaged(Saboteur::ExtensionRecreates) { 1 } else { GROUP };
        while count < group {
            let batch = &mut self.nodes[id.index()].batch;
            let Some(&member) = batch.extensions.front() else { break };
            if member.is_set && count > 0 {
                break;
            }
            batch.extensions.pop_front();
            if self.is_open_round(member) {
                self.nodes[id.index()].batch.sent.push_back(member);
                count += 1;
                if member.is_set {
                    return (count, true);
                }
            } else {
                self.table[member.slot].owed -= 1;
                self.recycle(member.slot);
            }
        }
        (count, false)
    }

    /// Encodes one request over the last `count` locks on their way.
    fn transmit(&mut self, now: Instant, id: NodeId, what: What, count: usize, is_set: bool) {
        if is_set {
            self.encode_set(id, what);
        } else {
            self.encode_group(id, what, count);
        }
        let node = &mut self.nodes[id.index()];
        node.batch.requests += 1;
        node.counters.scripts += 1;
        node.pipeline.push(Expected { what, slot: count as u32, serial: 0, sent: now });
    }

    /// The last one on its way is about several resources, and alone in its request.
    fn encode_set(&mut self, id: NodeId, what: What) {
        let node = &mut self.nodes[id.index()];
        let Some(member) = node.batch.sent.back() else { return };
        let members = core::iter::once(member);
        let (table, nonce, cleanup) = (&self.table, &self.nonce, &node.cleanup);
        let bytes = self.last_request.bytes(what, members, |out| {
            if member.purpose == Purpose::CleanUp {
                let (What::Release(form), Some(ghost)) = (what, cleanup.get(member.slot)) else {
                    return;
                };
                return command::release_all(out, form, ghost.names(), &ghost.token);
            }
            let lock = &table[member.slot];
            let serial = if what.is_extend() { lock.serial } else { member.serial };
            let token = table.token(member.slot, nonce, serial);
            match what {
                What::Release(form) => command::release_all(out, form, lock.names(), &token),
                What::Extend(form) => {
                    command::extend_all(out, form, lock.names(), &token, lock.round.ttl);
                }
                _ => unreachable!("these are not compare requests"),
            }
        });
        node.outbox.buffer().extend_from_slice(bytes);
    }

    fn encode_group(&mut self, id: NodeId, what: What, count: usize) {
        let node = &mut self.nodes[id.index()];
        let (table, nonce, cleanup) = (&self.table, &self.nonce, &node.cleanup);
        let first = node.batch.sent.len() - count;
        let members = node.batch.sent.range(first..);
        let subjects = members.clone().map(|member| match member.purpose {
            Purpose::CleanUp => {
                // A place is not used again while a request names it.
                let ghost = cleanup.get(member.slot);
                let resource = ghost.map_or(&[][..], |ghost| ghost.names().bytes);
                let token = ghost.map_or(Token::NONE, |ghost| ghost.token);
                Subject { resource, token, ttl: Default::default() }
            }
            Purpose::Release => {
                let lock = &table[member.slot];
                let token = table.token(member.slot, nonce, member.serial);
                Subject { resource: &lock.resource, token, ttl: lock.ttl }
            }
            Purpose::Extend => {
                let lock = &table[member.slot];
                let token = table.token(member.slot, nonce, lock.serial);
                Subject { resource: &lock.resource, token, ttl: lock.round.ttl }
            }
        });
        let bytes = self.last_request.bytes(what, members, |out| match what {
            #[cfg(redbolt_sabotage)]
            What::Release(_) if self.config.is_sabotaged(Saboteur::ReleaseWithoutCompare) => {
                command::delete(out, subjects);
            }
            #[cfg(redbolt_sabotage)]
            What::Extend(_) if self.config.is_sabotaged(Saboteur::ExtensionRecreates) => {
                command::recreate(out, subjects);
            }
            What::Release(form) => command::release(out, form, subjects),
            What::Extend(form) => command::extend(out, form, subjects),
            _ => unreachable!("these are not compare requests"),
        });
        node.outbox.buffer().extend_from_slice(bytes);
    }

    /// The node could not run the oldest request in this form: puts it in the next one, on the
    /// same connection. False if there is none.
    pub(super) fn put_otherwise(
        &mut self,
        now: Instant,
        id: NodeId,
        request: Expected,
        error: ServerError,
    ) -> bool {
        let node = &mut self.nodes[id.index()];
        let next = |form| match form {
            Form::Native(_) => Some(Form::Sha),
            Form::Sha => Some(Form::Text),
            Form::Text => None,
        };
        let what = match request.what {
            What::Release(form) => next(form).map(What::Release),
            What::Extend(form) => next(form).map(What::Extend),
            _ => None,
        };
        let Some(what) = what else { return false };
        if matches!(error, ServerError::Unsupported | ServerError::Denied) {
            // It would say so every time.
            node.native = None;
        }
        self.nodes[id.index()].batch.answered();
        let (count, stale) = self.requeue(id, request.slot);
        if count > 0 {
            let is_set = self.nodes[id.index()].batch.ends_with_set();
            self.transmit(now, id, what, count, is_set);
        }
        // Only now: what follows from an answer may put more behind those on their way.
        for member in stale {
            self.handle_extension(now, id, member, Compared::Failed);
        }
        true
    }

    /// Makes the oldest `count` keys on their way the youngest. Extensions whose round is over are
    /// left out: the ttl that they asked for is not known any more. Returns how many remain, and
    /// those that do not, which are owed an answer.
    fn requeue(&mut self, id: NodeId, count: u32) -> (usize, SmallVec<[Member; 4]>) {
        let (mut remain, mut stale) = (0, SmallVec::new());
        for _ in 0..count {
            let Some(member) = self.nodes[id.index()].batch.pop_sent() else { break };
            if member.purpose == Purpose::Extend && !self.is_open_round(member) {
                stale.push(member);
            } else {
                self.nodes[id.index()].batch.sent.push_back(member);
                remain += 1;
            }
        }
        (remain, stale)
    }

    /// Whether somebody still waits for this extension.
    fn is_open_round(&self, member: Member) -> bool {
        let lock = &self.table[member.slot];
        matches!(lock.phase, Phase::Held | Phase::Adoption) && lock.round.number == member.serial
    }

    /// The node refused a group because of one of its keys: asks for each of them alone, on the
    /// same connection. False for a request that is alone already.
    pub(super) fn put_one_by_one(&mut self, now: Instant, id: NodeId, request: Expected) -> bool {
        let count = request.slot as usize;
        let what = match request.what {
            What::Release(_) => What::Release(Form::Sha),
            What::Extend(_) => What::Extend(Form::Sha),
            _ => return false,
        };
        if count < 2 {
            return false;
        }
        self.nodes[id.index()].batch.answered();
        for _ in 0..count {
            let (remain, stale) = self.requeue(id, 1);
            if remain > 0 {
                self.transmit(now, id, what, 1, false);
            }
            for member in stale {
                self.handle_extension(now, id, member, Compared::Failed);
            }
        }
        true
    }

    /// Hands an answer to the one who asked for it.
    pub(super) fn answer_member(
        &mut self,
        now: Instant,
        id: NodeId,
        member: Member,
        answer: Compared,
    ) {
        match member.purpose {
            Purpose::Release => self.handle_release(now, id, member, answer),
            Purpose::Extend => self.handle_extension(now, id, member, answer),
            Purpose::CleanUp => {
                let cleanup = &mut self.nodes[id.index()].cleanup;
                match answer {
                    Compared::Ours => cleanup.settled(member.slot, member.serial),
                    _ => cleanup.again(now, member.slot, member.serial),
                }
            }
        }
    }

    /// The connection died before the answer came.
    pub(super) fn orphan_member(&mut self, now: Instant, id: NodeId, member: Member) {
        match member.purpose {
            Purpose::CleanUp => {
                self.nodes[id.index()].cleanup.lost(now, member.slot, member.serial)
            }
            _ => self.answer_member(now, id, member, Compared::Failed),
        }
    }
}
