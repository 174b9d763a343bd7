//! How often a lock may still be passed on inside the engine before others have their turn.

use super::Door;

impl Door {
    /// Begins a tenure, in which the lock goes to so many others of this engine.
    pub(crate) fn begin_tenure(&mut self, turns: u32) {
        self.passes_left = Some(turns);
    }

    /// Goes on with the tenure of the lock before.
    pub(crate) fn go_on(&mut self, before: &Self) {
        self.passes_left = before.passes_left;
    }

    /// The lock was passed on.
    pub(crate) fn passed(&mut self) {
        self.passes_left = self.passes_left.map(|turns| turns.saturating_sub(1));
    }

    /// Returns whether all have had the lock who stood in line when the tenure began.
    pub(crate) fn is_tenure_over(&self) -> bool {
        self.passes_left == Some(0)
    }
}
