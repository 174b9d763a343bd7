//! Functions of callers, which run on the thread that owns an engine. A panic of such a function
//! ends the function and not the thread, on which all locks of the engine depend.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a function of a caller's. Returns `None` if the function panicked.
pub(crate) fn call<T>(function: impl FnOnce() -> T) -> Option<T> {
    // The function sees nothing but its arguments, so that nothing half changed is seen later.
    catch_unwind(AssertUnwindSafe(function)).map_err(discard).ok()
}

/// Drops what came from a caller: a function, or what a panic has thrown. The drop can panic too.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // The drop of this one could panic again, and so on for ever.
        core::mem::forget(payload);
    }
}

/// A function of a caller's whose last owner may be the thread of an engine. The drop cannot panic.
pub(crate) struct Owned<F>(Option<F>);

impl<F> Owned<F> {
    pub(crate) const fn new(function: F) -> Self {
        Self(Some(function))
    }

    /// Calls the function. Returns `None` if the function panicked.
    pub(crate) fn call<A, T>(&self, argument: A) -> Option<T>
    where
        F: Fn(A) -> T,
    {
        // The function is there until the drop.
        let function = self.0.as_ref()?;
        call(|| function(argument))
    }
}

impl<F> Drop for Owned<F> {
    fn drop(&mut self) {
        discard(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU32, Ordering};
    use std::panic::resume_unwind;
    use std::sync::Arc;

    use super::*;

    /// Counts how often one was dropped. With `is_armed`, the drop panics, with another of these.
    struct Counted {
        drops: Arc<AtomicU32>,
        is_armed: bool,
    }

    impl Drop for Counted {
        fn drop(&mut self) {
            self.drops.fetch_add(1, Ordering::Relaxed);
            if self.is_armed {
                resume_unwind(Box::new(Self { drops: self.drops.clone(), is_armed: true }));
            }
        }
    }

    #[test]
    fn what_a_panic_throws_is_dropped_and_its_drop_may_panic() {
        assert_eq!(call(|| 7), Some(7));
        for is_armed in [false, true] {
            let drops = Arc::new(AtomicU32::new(0));
            let thrown = Counted { drops: drops.clone(), is_armed };
            assert_eq!(call(|| resume_unwind(Box::new(thrown))), None::<()>);
            // The payload of the second panic is never dropped.
            assert_eq!(drops.load(Ordering::Relaxed), 1, "armed: {is_armed}");
        }
    }

    #[test]
    fn a_function_whose_drop_panics_can_be_discarded() {
        let drops = Arc::new(AtomicU32::new(0));
        let owned = Counted { drops: drops.clone(), is_armed: true };
        let function = move || owned.drops.load(Ordering::Relaxed);
        assert_eq!(function(), 0);
        discard(function);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn an_owned_function_may_panic_in_its_call_and_in_its_drop() {
        let drops = Arc::new(AtomicU32::new(0));
        let owned = Counted { drops: drops.clone(), is_armed: true };
        let function =
            Owned::new(move |divisor: u32| (8 + owned.drops.load(Ordering::Relaxed)) / divisor);
        assert_eq!((function.call(2), function.call(0)), (Some(4), None));
        drop(function);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    }
}
