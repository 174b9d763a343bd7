//! A process whose name has moved to another one. The process keeps what it has.

use crate::answer::Face;
use crate::store::Store;
use crate::strangers::Strangers;

pub(crate) struct Former {
    store: Store,
    strangers: Strangers,
    face: Face,
    /// The last event that may have cost the process its keys.
    pub(crate) suspect_at: u64,
}

impl Former {
    /// Returns an empty process, which has never had the name.
    pub(crate) fn spare(face: &Face, now: u64) -> Self {
        let (store, strangers) = (Store::empty(), Strangers::default());
        Self { store, strangers, face: face.spare(), suspect_at: now }
    }

    /// Changes places with the process that has the name.
    pub(crate) fn swap(&mut self, store: &mut Store, strangers: &mut Strangers, face: &mut Face) {
        core::mem::swap(&mut self.store, store);
        core::mem::swap(&mut self.strangers, strangers);
        core::mem::swap(&mut self.face, face);
    }
}
