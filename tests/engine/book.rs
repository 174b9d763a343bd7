//! What may still come of each lock: every request ends in exactly one event, a lock in one.

use std::collections::HashMap;

use redbolt::{Event, ExtendError, LockId};

/// The locks of one engine that have not ended.
#[derive(Debug, Default)]
pub(crate) struct Book(HashMap<LockId, Entry>);

#[derive(Debug)]
struct Entry {
    stage: Stage,
    extending: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Wanted,
    Held,
    Releasing,
}

impl Book {
    pub(crate) fn wanted(&mut self, lock: LockId) {
        let entry = Entry { stage: Stage::Wanted, extending: false };
        assert!(self.0.insert(lock, entry).is_none(), "{lock:?} is given out twice");
    }

    pub(crate) fn extending(&mut self, lock: LockId) {
        self.entry(lock).extending = true;
    }

    pub(crate) fn releasing(&mut self, lock: LockId) {
        self.entry(lock).stage = Stage::Releasing;
    }

    /// Fails the test if this is not what can come next of the lock. Events about nodes belong to
    /// none.
    pub(crate) fn enter(&mut self, event: &Event) {
        if let Event::Shortened { lock, .. } = *event {
            assert_eq!(self.entry(lock).stage, Stage::Held, "{event:?}");
            return;
        }
        let (lock, stage, extending, ends) = match *event {
            Event::Acquired { lock, .. } => (lock, Stage::Wanted, false, false),
            Event::AcquireFailed { lock, .. } => (lock, Stage::Wanted, false, true),
            Event::Extended { lock, .. } => (lock, Stage::Held, true, false),
            Event::ExtendFailed { lock, error: ExtendError::Released } => {
                (lock, Stage::Releasing, true, false)
            }
            Event::ExtendFailed { lock, .. } => (lock, Stage::Held, true, false),
            Event::Released { lock, .. } => (lock, Stage::Releasing, false, true),
            Event::Lost { lock, .. } => (lock, Stage::Held, false, true),
            Event::Fenced { .. } | Event::FenceFailed { .. } | Event::Node(_) => return,
            ref other => panic!("an event that the tests do not know: {other:?}"),
        };
        let entry = self.entry(lock);
        assert!(entry.stage == stage && entry.extending == extending, "{event:?} after {entry:?}");
        entry.extending = false;
        if ends {
            self.0.remove(&lock);
        } else if entry.stage == Stage::Wanted {
            entry.stage = Stage::Held;
        }
    }

    pub(crate) fn is_extending(&self, lock: LockId) -> bool {
        self.0.get(&lock).is_some_and(|entry| entry.extending)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn entry(&mut self, lock: LockId) -> &mut Entry {
        self.0.get_mut(&lock).unwrap_or_else(|| panic!("{lock:?} has ended"))
    }
}
