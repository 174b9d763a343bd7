//! Sets that take their resources one by one, and the locks on single resources that they have
//! meanwhile.

use core::time::Duration;
use std::collections::HashMap;

use smallvec::SmallVec;

use crate::redlock::event::LockId;
use crate::time::Instant;

/// The steps of one set: a lock on each of its first resources.
pub(crate) type Steps = SmallVec<[LockId; 8]>;

/// The longest time for which a set keeps its first resources while it waits for another one.
const MOST_PATIENCE: Duration = Duration::from_secs(30);

/// All sets that others have kept waiting, and all steps.
#[derive(Default)]
pub(crate) struct Sets {
    sets: HashMap<LockId, Set>,
    /// The set of each step. A step stays here until its last event, which the set may not live to
    /// see.
    owners: HashMap<LockId, LockId>,
    /// The slots of the steps that are released now, ahead of the request for their set.
    pub(crate) releasing: SmallVec<[u32; 8]>,
}

/// What is known of one set that others keep waiting.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) steps: Steps,
    /// The end of the steps or, between steps, of the time in which the set takes none.
    pub(crate) until: Instant,
    patience: Duration,
}

impl Sets {
    /// Returns `true` if some lock is a step.
    #[inline]
    pub(crate) fn has_steps(&self) -> bool {
        !self.owners.is_empty()
    }

    /// Returns the set of a step.
    pub(crate) fn owner(&self, step: LockId) -> Option<LockId> {
        self.owners.get(&step).copied()
    }

    /// Takes note that the last event of a step has come.
    pub(crate) fn ended(&mut self, step: LockId) {
        self.owners.remove(&step);
    }

    /// Returns whether a set that was refused has waited long enough to take its resources one by
    /// one: for `patience` since the first call, and since its last steps ended for as long as
    /// these were allowed to take. The first call for a set begins its time.
    pub(crate) fn has_waited(&mut self, now: Instant, set: LockId, patience: Duration) -> bool {
        let new = || Set { steps: Steps::new(), until: now + patience, patience };
        now >= self.sets.entry(set).or_insert_with(new).until
    }

    /// Begins the steps of a set, which end after twice the time for which the set has waited.
    pub(crate) fn begin(&mut self, now: Instant, set: LockId, latest: Instant) {
        let Some(set) = self.sets.get_mut(&set) else { return };
        set.patience = set.patience.saturating_mul(2).min(MOST_PATIENCE);
        set.until = (now + set.patience).min(latest);
        set.steps.clear();
    }

    /// Takes note of a step.
    pub(crate) fn add(&mut self, set: LockId, step: LockId) {
        let Some(steps) = self.sets.get_mut(&set).map(|set| &mut set.steps) else { return };
        steps.push(step);
        self.owners.insert(step, set);
    }

    /// Returns what is known of a set.
    pub(crate) fn get(&self, set: LockId) -> Option<&Set> {
        self.sets.get(&set)
    }

    /// Ends the steps of a set, and returns them. The set takes none for as long as these were
    /// allowed to take. Nothing changes for a set without steps.
    pub(crate) fn end(&mut self, now: Instant, set: LockId) -> Steps {
        let set = self.sets.get_mut(&set).filter(|set| !set.steps.is_empty());
        let Some(set) = set else { return Steps::new() };
        set.until = now + set.patience;
        core::mem::take(&mut set.steps)
    }

    /// Forgets a set that has ended.
    pub(crate) fn forget(&mut self, set: LockId) {
        self.sets.remove(&set);
    }
}
