//! The compare requests of one node: releases, cleanups and extensions that wait to be sent, and
//! those on their way.

use std::collections::VecDeque;

use super::request::GROUP;

/// The purpose of a member of a compare request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Releases a lock.
    Release,
    /// Deletes a token that may exist although nobody holds the lock (S6).
    CleanUp,
    /// Extends a lock.
    Extend,
    /// Looks for a token that another process took, and keeps its lock.
    Adopt,
}

/// One lock in a compare request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    pub(crate) purpose: Purpose,
    /// The slot of the lock; for a cleanup, the place on the cleanup list.
    pub(crate) slot: u32,
    /// The serial of the attempt; for an extension or an adoption, the number of the round.
    pub(crate) serial: u64,
    /// Whether the lock has several resources. Such a member goes alone.
    pub(crate) is_set: bool,
}

/// The moment at which waiting members leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flush {
    /// As soon as no group is on its way. Until the reply to that group, more members gather.
    WhenIdle,
    /// Now, even if a group is on its way.
    Now,
}

/// The compare requests of one node.
pub(crate) struct Batch {
    /// Releases and cleanups that wait to be sent.
    releases: VecDeque<Member>,
    /// Extensions and adoptions that wait to be sent.
    extensions: VecDeque<Member>,
    /// Members on their way, in the order of their requests.
    sent: VecDeque<Member>,
    /// The number of requests on their way.
    requests: usize,
    /// The number of waiting releases that have several resources.
    sets: usize,
    /// The number of releases that leave in one request.
    most: usize,
}

impl Batch {
    pub(crate) const fn new() -> Self {
        Self {
            releases: VecDeque::new(),
            extensions: VecDeque::new(),
            sent: VecDeque::new(),
            requests: 0,
            sets: 0,
            most: GROUP,
        }
    }

    /// Says whether the node runs scripts. A node without them has a native command for releases,
    /// which takes one key.
    pub(crate) const fn set_scripts(&mut self, runs_scripts: bool) {
        self.most = if runs_scripts { GROUP } else { 1 };
    }

    /// Adds a member to those that wait.
    #[inline]
    pub(crate) fn add(&mut self, member: Member) {
        match member.purpose {
            Purpose::Release | Purpose::CleanUp => {
                self.sets += usize::from(member.is_set);
                self.releases.push_back(member);
            }
            Purpose::Extend | Purpose::Adopt => self.extensions.push_back(member),
        }
    }

    /// Returns the number of members that wait or are on their way.
    pub(crate) fn len(&self) -> usize {
        self.releases.len() + self.extensions.len() + self.sent.len()
    }

    /// Returns `true` if members wait and may leave now.
    pub(crate) fn is_due(&self, flush: Flush) -> bool {
        let is_waiting = !self.releases.is_empty() || !self.extensions.is_empty();
        is_waiting && (self.requests == 0 || flush == Flush::Now)
    }

    /// Moves up to a group of releases, or one if `is_cut`, to those on their way. Returns how many
    /// were moved, and whether they are one set, which goes alone.
    pub(crate) fn take_releases(&mut self, is_cut: bool) -> (usize, bool) {
        let most = if is_cut { 1 } else { self.most };
        let (mut count, mut is_set) = (self.releases.len().min(most), false);
        if self.sets > 0 && count > 0 {
            let singles = self.releases.iter().take_while(|member| !member.is_set).count();
            is_set = singles == 0;
            self.sets -= usize::from(is_set);
            count = count.min(singles.max(1));
        }
        self.send_releases(count);
        (count, is_set)
    }

    /// Moves the first `count` releases to the members on their way.
    ///
    /// A group is moved as one or two pieces of memory: one by one, its members cost 180
    /// instructions of a cycle. For a lone member that would be too much.
    fn send_releases(&mut self, count: usize) {
        if count <= 1 {
            let lone = self.releases.front().filter(|_| count == 1).copied();
            if let Some(member) = lone {
                self.releases.pop_front();
                self.sent.push_back(member);
            }
            return;
        }
        let (front, back) = self.releases.as_slices();
        let (front, _) = front.split_at(count.min(front.len()));
        self.sent.extend(front);
        self.sent.extend(&back[..count - front.len()]);
        self.releases.drain(..count);
    }

    /// Returns the next extension that waits.
    pub(crate) fn next_extension(&self) -> Option<Member> {
        self.extensions.front().copied()
    }

    /// Removes and returns the next extension that waits.
    pub(crate) fn pop_extension(&mut self) -> Option<Member> {
        self.extensions.pop_front()
    }

    /// Adds a member to the youngest request, which is about to leave.
    pub(crate) fn push_sent(&mut self, member: Member) {
        self.sent.push_back(member);
    }

    /// Returns the members of the youngest request, which is about to leave with `count` members.
    pub(crate) fn youngest(&self, count: usize) -> impl ExactSizeIterator<Item = &Member> + Clone {
        self.sent.range(self.sent.len() - count..)
    }

    /// Counts a request: the one with the youngest members has left.
    pub(crate) fn request_sent(&mut self) {
        self.requests += 1;
    }

    /// Counts the reply to the oldest request. The caller takes its members with
    /// [`pop_sent`](Self::pop_sent).
    pub(crate) fn request_answered(&mut self) {
        self.requests -= 1;
    }

    /// Removes and returns the next member of the oldest request.
    pub(crate) fn pop_sent(&mut self) -> Option<Member> {
        self.sent.pop_front()
    }

    /// Returns `true` if the youngest member on its way is a set.
    pub(crate) fn ends_with_set(&self) -> bool {
        self.sent.back().is_some_and(|member| member.is_set)
    }

    /// Removes and returns all members, because the connection is gone.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Member> + use<> {
        let Self { releases, extensions, sent, .. } = core::mem::replace(self, Self::new());
        sent.into_iter().chain(releases).chain(extensions)
    }
}
