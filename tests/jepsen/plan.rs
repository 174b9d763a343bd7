//! The plan of a client for one lock.

use std::mem;
use std::time::Duration;

use fastrand::Rng;

use crate::log::What;
use crate::order::Habit;

/// The number of resources for which the clients compete.
const RESOURCES: usize = 6;

/// The number of resources where all locks have numbers.
const NUMBERED: usize = 50;

/// The most resources of one lock.
const MOST: usize = 3;

/// The intentions for one lock. Times are since boot.
pub(crate) struct Plan {
    pub(crate) resources: Vec<String>,
    pub(crate) ttl: Duration,
    /// How long the client waits for the lock.
    pub(crate) wait: Duration,
    /// For how long the lock is kept alive; zero for not at all.
    pub(crate) keeps: Duration,
    /// Whether the lock is to have a number from the start.
    pub(crate) is_fenced: bool,
    /// When the next step is due; `None` leaves the lock alone.
    pub(crate) due: Option<Duration>,
    pub(crate) end: End,
    /// How long the client holds the lock until the first step; `None` lets the lock lapse.
    holds: Option<Duration>,
    /// How many steps come before the last step, and whether the first of them draws a number.
    steps: u32,
    draws_first: bool,
}

/// A step before the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Extends the lock to this ttl.
    Extend(Duration),
    /// Draws a new number.
    Draw,
}

/// The last step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Releases the lock and waits for the answers.
    Release,
    /// Releases the lock and waits for nothing.
    Drop,
    /// Gives the lock to whoever wants to adopt it.
    Give,
    /// Leaves the lock to its ttl.
    Leak,
}

impl Plan {
    pub(crate) fn draw(rng: &mut Rng, habit: Habit, max_ttl: Duration, now: Duration) -> Self {
        match habit {
            Habit::Mixed => Self::mixed(rng, max_ttl, now),
            Habit::Clinging => Self {
                resources: vec!["r0".to_owned()],
                ttl: max_ttl,
                wait: 10 * max_ttl,
                keeps: Duration::ZERO,
                is_fenced: false,
                due: None,
                end: End::Release,
                holds: None,
                steps: 0,
                draws_first: false,
            },
            Habit::Gathered => Self::gathered(rng, max_ttl),
            Habit::Numbered => Self::numbered(rng, max_ttl),
        }
    }

    /// Waits for a lock that somebody else has, most of the time. The short ttl makes for short
    /// pauses, so that a wait which is not used to its end is noticed.
    fn gathered(rng: &mut Rng, max_ttl: Duration) -> Self {
        let keeps = share(max_ttl, rng.u32(100..300));
        Self {
            resources: vec!["r0".to_owned()],
            ttl: share(max_ttl, 20),
            wait: max_ttl,
            keeps,
            is_fenced: false,
            due: None,
            end: End::Release,
            holds: Some(keeps),
            steps: 0,
            draws_first: false,
        }
    }

    /// Takes locks with numbers, some of them wanted by many, for a ttl of some round trips: many
    /// keys end while others are being asked for. A quarter of the locks is held to the end of the
    /// validity or longer, and some are for several resources.
    fn numbered(rng: &mut Rng, max_ttl: Duration) -> Self {
        let ttl = Duration::from_millis(rng.u64(12..60));
        // Few of the resources are wanted by most.
        let most = rng.usize(1..=NUMBERED);
        let most = rng.usize(1..=most);
        let end = match rng.u32(..20) {
            0..=10 => End::Release,
            11..=13 => End::Drop,
            14 => End::Give,
            _ => End::Leak,
        };
        Self {
            resources: draw(rng, most),
            ttl,
            wait: max_ttl / 2,
            keeps: Duration::ZERO,
            is_fenced: true,
            due: None,
            end,
            holds: Some(share(ttl, rng.u32(..130))),
            steps: u32::from(rng.u32(..8) == 0),
            draws_first: false,
        }
    }

    /// Most locks are held briefly, so that many change hands. A third is held for so long that
    /// much can go wrong meanwhile, or beyond the validity, to be lost; some of these are extended
    /// a few times, or kept alive, or get new numbers. Some locks lapse; some are for several
    /// resources; a third has a number from the start; and some requests are cancelled before they
    /// are granted.
    fn mixed(rng: &mut Rng, max_ttl: Duration, now: Duration) -> Self {
        let ttl = share(max_ttl, rng.u32(20..=100));
        let wait = if rng.u32(..5) == 0 { Duration::ZERO } else { max_ttl * rng.u32(1..=2) };
        let (holds, steps) = match rng.u32(..40) {
            0..=23 => (Some(Duration::from_millis(rng.u64(..20))), 0),
            24..=33 => (Some(share(ttl, rng.u32(..150))), 0),
            34..=38 => (Some(share(ttl, rng.u32(10..80))), rng.u32(1..5)),
            _ => (None, 0),
        };
        let cancels = rng.u32(..20) == 0;
        let due = cancels.then(|| now + share(max_ttl, rng.u32(..50)));
        let end = match rng.u32(..20) {
            0..=11 => End::Release,
            12..=14 => End::Drop,
            15..=18 => End::Give,
            _ => End::Leak,
        };
        let (resources, keeps) = (draw(rng, RESOURCES), Duration::ZERO);
        let is_fenced = rng.u32(..3) == 0;
        let draws_first = false;
        let plan =
            Self { resources, ttl, wait, keeps, is_fenced, due, end, holds, steps, draws_first };
        if rng.u32(..12) == 0 { plan.kept_alive(rng) } else { plan }
    }

    /// Keeps the lock alive for up to three ttls, and holds it for less or for longer.
    fn kept_alive(mut self, rng: &mut Rng) -> Self {
        self.keeps = share(self.ttl, rng.u32(50..300));
        self.holds = Some(share(self.ttl, rng.u32(50..350)));
        self.steps = rng.u32(..3);
        self
    }

    /// Makes this the plan for a lock that is adopted, with the number that it has. The lock gets
    /// one of its new owner's at once, which keeps the former owner out of the storage.
    pub(crate) fn adopting(&mut self, resources: Vec<String>) {
        self.resources = resources;
        self.is_fenced = false;
        self.draws_first = true;
        self.steps += 1;
        self.holds = self.holds.map(|_| Duration::ZERO);
    }

    /// Returns the line of the log for a request with this plan, or for the adoption of a token.
    pub(crate) fn wanted(&self, adopts: Option<String>) -> What {
        let [ttl, wait, keeps] = [self.ttl, self.wait, self.keeps]
            .map(|time| u64::try_from(time.as_millis()).expect("a few seconds"));
        let (resources, is_fenced) = (self.resources.clone(), self.is_fenced);
        What::Wanted { resources, ttl, wait, keeps, adopts, is_fenced }
    }

    /// Starts the clock of the steps: the lock is held since now.
    pub(crate) fn hold(&mut self, now: Duration) {
        self.due = self.holds.map(|holds| now + holds);
    }

    /// Returns this step, after which the next one is due, or `None` if it is the last step. A lock
    /// that is kept alive is not extended besides.
    pub(crate) fn next_step(&mut self, rng: &mut Rng, now: Duration) -> Option<Step> {
        self.steps = self.steps.checked_sub(1)?;
        self.due = Some(now + share(self.ttl, rng.u32(10..90)));
        let draws = mem::take(&mut self.draws_first) || rng.bool();
        let may_extend = self.keeps.is_zero() && !draws;
        Some(if may_extend { Step::Extend(self.ttl) } else { Step::Draw })
    }
}

/// Returns the name of any resource.
pub(crate) fn resource(rng: &mut Rng) -> String {
    format!("r{}", rng.usize(..RESOURCES))
}

/// Returns the names of one of the first so many resources, or of some.
fn draw(rng: &mut Rng, among: usize) -> Vec<String> {
    let count = if rng.u32(..7) == 0 { rng.usize(2..=MOST) } else { 1 };
    let mut names: Vec<_> = (0..among).collect();
    rng.shuffle(&mut names);
    names.iter().take(count).map(|name| format!("r{name}")).collect()
}

fn share(of: Duration, percent: u32) -> Duration {
    of * percent / 100
}
