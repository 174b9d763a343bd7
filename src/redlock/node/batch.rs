//! The compare requests of one node: releases, cleanups and extensions that wait to be sent, and
//! those that are on their way.

use std::collections::VecDeque;

/// What a compare request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// A lock is given back.
    Release,
    /// A token that may exist is deleted (S6).
    CleanUp,
    /// A lock is kept.
    Extend,
    /// A token that another process took is looked for, and its lock kept.
    Adopt,
}

/// One lock in a compare request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    pub(crate) purpose: Purpose,
    /// The slot of the lock; for a cleanup the place on the list.
    pub(crate) slot: u32,
    /// The serial of the attempt; for an extension or an adoption the number of the round.
    pub(crate) serial: u64,
    /// Whether the lock is on several resources. Such a member goes alone.
    pub(crate) is_set: bool,
}

/// When the members that wait for a node leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flush {
    /// Unless a group is on its way: then more gathers until the reply to that one is there.
    WhenIdle,
    /// Now, whatever is on its way.
    Now,
}

/// The compare requests of one node.
#[derive(Default)]
pub(crate) struct Batch {
    /// Wait to be sent: releases and cleanups.
    releases: VecDeque<Member>,
    /// Wait to be sent: extensions and adoptions.
    extensions: VecDeque<Member>,
    /// On their way, in the order of the requests.
    sent: VecDeque<Member>,
    /// How many requests these are.
    requests: usize,
    /// How many of the releases that wait are about several resources.
    sets: usize,
}

impl Batch {
    pub(crate) fn add(&mut self, member: Member) {
        match member.purpose {
            Purpose::Release | Purpose::CleanUp => {
                self.sets += usize::from(member.is_set);
                self.releases.push_back(member);
            }
            Purpose::Extend | Purpose::Adopt => self.extensions.push_back(member),
        }
    }

    /// How many members wait or are on their way.
    pub(crate) fn len(&self) -> usize {
        self.releases.len() + self.extensions.len() + self.sent.len()
    }

    /// Whether something waits that is to leave now.
    pub(crate) fn is_due(&self, flush: Flush) -> bool {
        let is_waiting = !self.releases.is_empty() || !self.extensions.is_empty();
        is_waiting && (self.requests == 0 || flush == Flush::Now)
    }

    /// Moves up to `max` releases to those on their way. Returns how many, and whether it is a set,
    /// which goes alone.
    pub(crate) fn take_releases(&mut self, max: usize) -> (usize, bool) {
        let (mut count, mut is_set) = (self.releases.len().min(max), false);
        if self.sets > 0 && count > 0 {
            let singles = self.releases.iter().take_while(|member| !member.is_set).count();
            is_set = singles == 0;
            self.sets -= usize::from(is_set);
            count = count.min(singles.max(1));
        }
        self.sent.extend(self.releases.drain(..count));
        (count, is_set)
    }

    /// The next extension that waits.
    pub(crate) fn next_extension(&self) -> Option<Member> {
        self.extensions.front().copied()
    }

    /// Takes out the next extension that waits.
    pub(crate) fn pop_extension(&mut self) -> Option<Member> {
        self.extensions.pop_front()
    }

    /// Adds a member to the youngest request, which is about to leave.
    pub(crate) fn push_sent(&mut self, member: Member) {
        self.sent.push_back(member);
    }

    /// The members of the youngest request, which is about to leave with `count` of them.
    pub(crate) fn youngest(&self, count: usize) -> impl ExactSizeIterator<Item = &Member> + Clone {
        self.sent.range(self.sent.len() - count..)
    }

    /// A request with the youngest members has left.
    pub(crate) fn request_sent(&mut self) {
        self.requests += 1;
    }

    /// The oldest request was answered: its members are taken out with
    /// [`pop_sent`](Self::pop_sent).
    pub(crate) fn request_answered(&mut self) {
        self.requests -= 1;
    }

    /// The next member of the oldest request.
    pub(crate) fn pop_sent(&mut self) -> Option<Member> {
        self.sent.pop_front()
    }

    /// Whether the youngest on their way is a set.
    pub(crate) fn ends_with_set(&self) -> bool {
        self.sent.back().is_some_and(|member| member.is_set)
    }

    /// Takes out everything: the connection is gone.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Member> + use<> {
        let Self { releases, extensions, sent, .. } = core::mem::take(self);
        sent.into_iter().chain(releases).chain(extensions)
    }
}
