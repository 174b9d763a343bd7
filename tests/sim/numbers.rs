//! What a caller knows of the numbers of its locks (S13), and what the checks are shown of that.

use redbolt::redlock::{Event, Fence, FenceBar, LockId};
use redbolt::time::Instant;

use crate::book::{NOBODYS, State, allowed};
use crate::client::Client;
use crate::fences::{Promise, Told};
use crate::net::Net;

/// How many trips a number takes at most: the first, and those in which masters are to accept
/// another number.
pub(crate) const TRIPS: u32 = 5;

/// A question for a number, for a lock that is held.
#[derive(Clone, Copy)]
pub(crate) struct Draw {
    /// The time by which there is an answer.
    due: u64,
    since: u64,
}

/// What the caller knows of the number of a lock.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    is_wanted: bool,
    fence: Option<Fence>,
    draw: Option<Draw>,
}

impl Client {
    /// Asks for a new number for a lock that is held.
    pub(crate) fn draw_fence(&mut self, net: &mut Net, id: LockId) {
        let patience = self.redlock.config().close_timeout;
        let due = net.now + allowed(patience * TRIPS);
        if self.redlock.draw_fence(self.clock(net.now), id).is_err() {
            return;
        }
        let name = self.name;
        net.trace.say(net.now, format_args!("client {name} draws a number for {id:?}"));
        let since = net.now;
        let Some(lock) = self.known(net, id, State::Held) else { return };
        let (token, before) = (lock.token, lock.number.draw.replace(Draw { due, since }));
        if before.is_some() {
            net.fail(format_args!("S13: {id:?} draws twice at a time"));
        }
        net.checks.fences.draws(name, token);
    }

    /// Enters into the book with which number a lock was granted. A lock has a number exactly if
    /// the caller has asked for one.
    pub(crate) fn numbered(&mut self, net: &mut Net, id: LockId, fence: Option<Fence>) {
        let Some(lock) = self.known(net, id, State::Held) else { return };
        let is_wanted = lock.number.is_wanted;
        lock.number.fence = fence;
        if is_wanted != fence.is_some() {
            net.fail(format_args!("S13: {id:?} was granted with {fence:?}, asked: {is_wanted}"));
        }
        if let Some(fence) = fence {
            self.tell(net, id, fence, None);
        }
    }

    /// Enters the answer to a question for a number into the book.
    pub(crate) fn drawn(&mut self, net: &mut Net, event: &Event) {
        let (id, fence) = match *event {
            Event::Fenced { lock, fence } => (lock, Some(fence)),
            Event::FenceFailed { lock, .. } => (lock, None),
            _ => return,
        };
        let Some(lock) = self.known(net, id, State::Held) else { return };
        let draw = lock.number.draw.take();
        lock.number.fence = fence.or(lock.number.fence);
        match (draw, fence) {
            (None, _) => net.fail(format_args!("S13: {id:?} has a number that nobody wanted")),
            (Some(draw), Some(fence)) => self.tell(net, id, fence, Some(draw.since)),
            (Some(_), None) => {}
        }
    }

    /// Shows the checks a number that the client was told.
    fn tell(&self, net: &mut Net, id: LockId, fence: Fence, drawn_since: Option<u64>) {
        net.trace.add(&[fence.get()]);
        let now = net.now;
        let Some(lock) = self.lock(id) else { return };
        let (resources, token, since) = (lock.resources, lock.token, lock.since);
        // One read has brought the numbers, and the news that the lock is over already.
        if token == NOBODYS {
            return;
        }
        if self.redlock.fence(id) != Some(fence) && self.redlock.peek_token(id).is_some() {
            net.fail(format_args!("S13: {id:?} was told {fence}, and does not know of it"));
        }
        net.nodes.iter_mut().for_each(|node| node.note_clock(now));
        let rules = net.checks.rules;
        let skew = self.redlock.config().fence_skew.as_nanos() as u64;
        let is_forgotten = net.nodes.iter().any(|node| node.lost_numbers);
        let is_near = net.nodes.iter().all(|node| node.error_max <= skew);
        let promise = match is_forgotten && !(rules.quarantines && is_near) {
            true => Promise::Nothing,
            // Who believes for too long may be told after somebody else.
            false if !rules.excludes || self.is_excused(since) => Promise::Apart,
            false => Promise::Holding,
        };
        let (client, prefix, number) = (self.name, self.prefix, fence.get());
        let told =
            Told { client, prefix, resources, token, number, drawn_since, promise, is_forgotten };
        net.checks.told(now, &told);
    }

    /// Checks which masters the client takes for those whose clocks are far away.
    pub(crate) fn check_bars(&self, net: &mut Net) {
        if !net.checks.rules.quarantines {
            return;
        }
        let now: Instant = self.clock(net.now);
        for (index, id) in self.redlock.nodes().into_iter().enumerate() {
            let bar = self.redlock.node(now, id).and_then(|status| status.fence_bar);
            let is_off = bar == Some(FenceBar::ClockOff);
            let is_far = net.nodes[index].is_far;
            // A master whose data is too young is not asked for its clock.
            if (is_off && !is_far) || (bar.is_none() && is_far) {
                net.fail(format_args!("S13: the bar of {id:?} is {bar:?}, far: {is_far}"));
            }
        }
    }
}

impl Number {
    /// Returns whether a master may know a number of the lock.
    pub(crate) fn is_known(&self) -> bool {
        self.is_wanted || self.fence.is_some() || self.draw.is_some()
    }

    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, fence: None, draw: None }
    }

    /// Returns the time by which the caller is told, if the caller waits for anything.
    pub(crate) fn due(&self) -> u64 {
        self.draw.map_or(u64::MAX, |draw| draw.due)
    }

    /// Gives a client that was asleep more time.
    pub(crate) fn excuse(&mut self, stopped: u64, due: u64) {
        if let Some(draw) = &mut self.draw {
            draw.due = (draw.due + stopped).max(due);
        }
    }
}
