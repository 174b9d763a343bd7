//! What an engine remembers of locks that have followed one another on a resource.
//!
//! An engine that asks again at once for what it has just released is never refused, and sees
//! nobody else. A run is how the engine knows that others could hardly come in between.

use core::time::Duration;

use crate::time::Instant;

/// For how many resources runs are remembered.
const PLACES: usize = 256;

/// One of so many questions goes to another voter than the first.
const QUESTIONS_A_TURN: u8 = 3;

/// How many releases of another resource, with none of a third one, give that one the place.
const ENOUGH_RIVALS: u8 = 16;

/// The shortest time from one question to the next where tenures are longer: a lock that is held
/// for as long costs one command more.
const LEAST_EVERY: Duration = Duration::from_millis(50);

/// Returns for how long locks of one engine follow one another before the engine asks whether
/// somebody waits, and before those leave a mark who have seen nobody else.
pub(crate) fn ask_every(tenure: Duration) -> Duration {
    (tenure / 8).max(tenure.min(LEAST_EVERY))
}

/// Returns the place in the order of the resource, among all voters, of the one that the next
/// question goes to, or the next mark, of which there were so many before. Mostly that is the first
/// voter. Clients that see other voters would never meet there, so of `every` so many one goes to
/// the next of all.
pub(crate) fn place(before: u8, every: u8) -> usize {
    let (turn, rest) = (before / every, before % every);
    if rest + 1 == every { usize::from(turn) + 1 } else { 0 }
}

/// Locks on one resource, each requested so soon behind the one before that others had no moment.
///
/// Times are in nanoseconds, and are those of what comes next: each release compares them.
#[derive(Clone, Copy, Default, Debug)]
struct Run {
    /// The hash of the resource. Two resources with the same one share a run, which costs a
    /// question.
    hash: u32,
    /// Whether somebody else wants the resource.
    is_wanted: bool,
    /// Whether the engine comes back from a pause that has ended its tenure.
    comes_back: bool,
    /// From when on others have had their moment, since the last release.
    over_at: u64,
    /// When the engine asks next whether somebody else waits, and how often it has asked.
    asks_at: u64,
    asked: u8,
    /// The resource that was released last in the same place, and how often one after the other.
    rival: u32,
    rivals: u8,
}

impl Run {
    /// Takes note of a release of another resource with the same place. Returns whether that one
    /// has the place from now on.
    #[cold]
    fn is_driven_out(&mut self, hash: u32) -> bool {
        self.rivals = if self.rival == hash { self.rivals.saturating_add(1) } else { 1 };
        self.rival = hash;
        self.rivals >= ENOUGH_RIVALS && !self.is_wanted
    }
}

/// What follows from the release of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Follow {
    Nothing,
    /// It is time to ask whether somebody else wants the resource, at the voter with this
    /// [`place`].
    Ask {
        place: usize,
    },
    /// Somebody else does.
    Leave,
}

/// The runs of an engine.
#[derive(Debug)]
pub(crate) struct Runs {
    /// The break in which others have a moment, in nanoseconds as all of these.
    gap: u64,
    /// For how long a run goes on behind a pause of the engine itself.
    long: u64,
    /// The time from one question to the next.
    every: u64,
    places: Box<[Run; PLACES]>,
}

impl Runs {
    pub(crate) fn new(gap: Duration, tenure: Duration) -> Self {
        let nanos = |time| (Instant::ZERO + time).as_nanos();
        let places = Box::new([Run::default(); PLACES]);
        let (gap, long, every) = (nanos(gap), nanos(tenure), nanos(ask_every(tenure)));
        Self { gap, long, every, places }
    }

    /// Takes note that a lock is released, or passed on, whose attempt had `started`.
    ///
    /// Another resource gets the place behind a break, or when it was released some times while no
    /// third one was. So no crowd of resources drives out the run of one that is released again and
    /// again, and two such resources have the place in turn.
    #[inline]
    pub(crate) fn released(&mut self, now: Instant, hash: u32, started: Instant) -> Follow {
        let (now, started) = (now.as_nanos(), started.as_nanos());
        let run = &mut self.places[hash as usize % PLACES];
        // Behind a break a run begins anew, be it that of another resource.
        if started >= run.over_at || (run.hash != hash && run.is_driven_out(hash)) {
            let asks_at = started.saturating_add(self.every);
            let over_at = now.saturating_add(self.gap);
            // A rival without a break gets the place of a run that has nothing but breaks.
            let Run { rival, rivals, .. } = if run.hash == hash { *run } else { Run::default() };
            *run = Run { hash, over_at, asks_at, rival, rivals, ..Run::default() };
        } else if run.hash == hash {
            run.over_at = now.saturating_add(self.gap);
            if now >= run.asks_at {
                run.asks_at = now.saturating_add(self.every);
                if core::mem::take(&mut run.is_wanted) {
                    return Follow::Leave;
                }
                let place = place(run.asked, QUESTIONS_A_TURN);
                run.asked = run.asked.wrapping_add(1);
                return Follow::Ask { place };
            }
        }
        Follow::Nothing
    }

    /// Takes note that the engine pauses `until` then, although the caller has asked again. A pause
    /// at the end of a tenure can be too short for those who wait, and does not end the run. The
    /// pause can also end late, on a thread that is seldom awake: with a gap of a millisecond each
    /// pause would look like a break, and what others want would be forgotten each time.
    #[cold]
    pub(crate) fn pauses(&mut self, hash: u32, until: Instant) {
        let run = &mut self.places[hash as usize % PLACES];
        if run.hash == hash {
            run.over_at = run.over_at.max(until.as_nanos().saturating_add(self.long));
            run.comes_back = true;
        }
    }

    /// Returns once whether the engine comes back from such a pause.
    pub(crate) fn comes_back(&mut self, hash: u32) -> bool {
        let run = &mut self.places[hash as usize % PLACES];
        run.hash == hash && core::mem::take(&mut run.comes_back)
    }

    /// Takes note that somebody else wants the resource.
    #[cold]
    pub(crate) fn wanted(&mut self, hash: u32) {
        let run = &mut self.places[hash as usize % PLACES];
        if run.hash == hash {
            (run.is_wanted, run.asks_at) = (true, 0);
        }
    }
}

#[cfg(test)]
mod tests;
