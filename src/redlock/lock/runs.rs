//! What an engine remembers of locks that have followed one another on a resource.
//!
//! An engine that asks again at once for what it has just released is never refused, and sees
//! nobody else. A run is how the engine knows that others could hardly come in between.

use core::time::Duration;

use crate::time::Instant;

/// For how many resources runs are remembered.
const PLACES: usize = 256;

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
    /// When the engine asks next whether somebody else waits.
    asks_at: u64,
}

/// What follows from the release of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Follow {
    Nothing,
    /// It is time to ask whether somebody else wants the resource.
    Ask,
    /// Somebody else does.
    Leave,
}

/// The runs of an engine.
#[derive(Debug)]
pub(crate) struct Runs {
    /// The break in which others have a moment, the longest of them, and the time from one question
    /// to the next, in nanoseconds.
    gap: u64,
    long: u64,
    each: u64,
    places: Box<[Run; PLACES]>,
}

impl Runs {
    pub(crate) fn new(gap: Duration, long: Duration, each: Duration) -> Self {
        let nanos = |time| (Instant::ZERO + time).as_nanos();
        let places = Box::new([Run::default(); PLACES]);
        Self { gap: nanos(gap), long: nanos(long), each: nanos(each), places }
    }

    /// Takes note that a lock is released whose attempt had `started`.
    ///
    /// Another resource gets the place only behind a break. So no crowd of resources drives out the
    /// run of one that is released again and again.
    #[inline]
    pub(crate) fn released(&mut self, now: Instant, hash: u32, started: Instant) -> Follow {
        let (now, started) = (now.as_nanos(), started.as_nanos());
        let run = &mut self.places[hash as usize % PLACES];
        // Behind a break a run begins anew, be it that of another resource.
        if started >= run.over_at {
            let asks_at = started.saturating_add(self.each);
            let over_at = now.saturating_add(self.gap);
            *run = Run { hash, over_at, asks_at, ..Run::default() };
        } else if run.hash == hash {
            run.over_at = now.saturating_add(self.gap);
            if now >= run.asks_at {
                run.asks_at = now.saturating_add(self.each);
                let is_wanted = core::mem::take(&mut run.is_wanted);
                return if is_wanted { Follow::Leave } else { Follow::Ask };
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
mod tests {
    use super::*;

    const OTHER: u32 = 7 + PLACES as u32;

    fn runs() -> Runs {
        let long = Duration::from_millis(500);
        Runs::new(Duration::from_millis(50), long, long)
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(10_000 + millis)
    }

    /// Notes a lock from `started` to `released`, in milliseconds.
    fn lock(runs: &mut Runs, hash: u32, started: u64, released: u64) -> Follow {
        runs.released(at(released), hash, at(started))
    }

    #[test]
    fn locks_that_follow_one_another_ask_once_in_a_while() {
        let mut runs = runs();
        let asks = |index: &u64| lock(&mut runs, 7, index * 100, index * 100 + 90) == Follow::Ask;
        let asked: Vec<u64> = (0..30).filter(asks).collect();
        assert_eq!(asked, [5, 10, 15, 20, 25], "each 500 ms, from a release on");
    }

    #[test]
    fn a_break_in_which_others_have_their_moment_ends_the_run() {
        let mut runs = runs();
        for index in 0..100 {
            assert_eq!(lock(&mut runs, 7, index * 100, index * 100 + 50), Follow::Nothing);
        }
        let single = lock(&mut runs, 7, 20_000, 29_000);
        assert_eq!(single, Follow::Nothing, "a single lock, however long");
        assert_eq!(lock(&mut runs, 7, 29_049, 29_050), Follow::Ask);
    }

    #[test]
    fn a_pause_of_the_engine_itself_ends_no_run() {
        let mut runs = runs();
        assert_eq!(lock(&mut runs, 7, 0, 400), Follow::Nothing);
        runs.pauses(OTHER, at(450));
        runs.pauses(7, at(450));
        runs.wanted(7);
        assert_eq!(lock(&mut runs, 7, 451, 460), Follow::Leave);
        runs.pauses(7, at(500));
        runs.wanted(7);
        assert_eq!(lock(&mut runs, 7, 700, 710), Follow::Leave, "a pause that has ended late");
        runs.pauses(7, at(750));
        runs.wanted(7);
        assert_eq!(lock(&mut runs, 7, 1_251, 1_260), Follow::Nothing, "nobody came any more");
    }

    #[test]
    fn an_engine_comes_back_once_from_a_pause_and_for_its_resource() {
        let mut runs = runs();
        lock(&mut runs, 7, 0, 1);
        assert!(!runs.comes_back(7));
        runs.pauses(7, at(50));
        assert!(!runs.comes_back(OTHER));
        assert!(runs.comes_back(7) && !runs.comes_back(7));
        runs.pauses(7, at(100));
        assert_eq!(lock(&mut runs, 7, 9_000, 9_001), Follow::Nothing);
        assert!(!runs.comes_back(7), "that was long ago");
    }

    #[test]
    fn a_resource_takes_the_place_of_one_that_rests_and_of_no_other() {
        let mut runs = runs();
        for index in 0..10 {
            let follow = if index == 8 { Follow::Ask } else { Follow::Nothing };
            assert_eq!(lock(&mut runs, 7, index * 60, index * 60 + 40), follow, "{index}");
            assert_eq!(lock(&mut runs, OTHER, index * 60 + 1, index * 60 + 41), Follow::Nothing);
        }
        assert_eq!(lock(&mut runs, OTHER, 1_000, 1_001), Follow::Nothing, "the place is free");
        assert_eq!(lock(&mut runs, 7, 1_002, 1_003), Follow::Nothing, "and taken");
        assert_eq!(lock(&mut runs, OTHER, 1_004, 1_501), Follow::Ask);
    }

    #[test]
    fn what_others_want_is_told_once_and_for_the_resource() {
        let mut runs = runs();
        lock(&mut runs, 7, 0, 1);
        runs.wanted(OTHER);
        assert_eq!(lock(&mut runs, 7, 1, 2), Follow::Nothing);
        runs.wanted(7);
        assert_eq!(lock(&mut runs, 7, 2, 3), Follow::Leave);
        assert_eq!(lock(&mut runs, 7, 3, 4), Follow::Nothing);
        runs.wanted(7);
        assert_eq!(lock(&mut runs, 7, 100, 101), Follow::Nothing, "that was long ago");
        assert_eq!(lock(&mut runs, 7, 102, 103), Follow::Nothing);
    }
}
