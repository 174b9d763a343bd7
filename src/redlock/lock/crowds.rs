//! What an engine remembers of the crowd before a resource, when it has released the lock.

use core::time::Duration;

use super::engines::Engines;
use crate::time::Instant;

/// For how many resources crowds are remembered. One more takes the place of another.
const PLACES: usize = 256;

/// For how long a crowd is remembered.
const MEMORY: Duration = Duration::from_secs(10);

/// The others who wanted a resource when this engine released it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    /// The hash of the resource. Two resources with the same one share a crowd, which costs a look.
    pub(crate) hash: u32,
    pub(crate) others: Engines,
    pub(crate) released_at: Instant,
    /// For how long this engine has had the lock.
    pub(crate) held: Duration,
}

/// The crowds of an engine.
#[derive(Default, Debug)]
pub(crate) struct Crowds {
    /// Empty until there is a crowd.
    places: Vec<Option<Crowd>>,
}

impl Crowds {
    /// Returns `true` as long as there was no crowd.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Remembers a crowd.
    #[cold]
    pub(crate) fn remember(&mut self, crowd: Crowd) {
        if self.places.is_empty() {
            self.places = vec![None; PLACES];
        }
        self.places[crowd.hash as usize % PLACES] = Some(crowd);
    }

    /// Returns the crowd that was there not long ago.
    #[inline]
    pub(crate) fn find(&self, now: Instant, hash: u32) -> Option<Crowd> {
        let crowd = (*self.places.get(hash as usize % PLACES)?)?;
        (crowd.hash == hash && now - crowd.released_at < MEMORY).then_some(crowd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_remembered_for_a_while_and_for_its_resource() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut crowds = Crowds::default();
        assert!(crowds.find(at(1), 7).is_none());
        let crowd =
            |hash| Crowd { hash, others: Engines::SOMEBODY, released_at: at(1), held: MEMORY };
        crowds.remember(crowd(7));
        let found = crowds.find(at(10), 7).map(|crowd| crowd.others);
        assert_eq!(found, Some(Engines::SOMEBODY));
        assert!(crowds.find(at(11), 7).is_none(), "long ago");
        assert!(crowds.find(at(2), 7 + PLACES as u32).is_none(), "another resource");
        crowds.remember(crowd(7 + PLACES as u32));
        assert!(crowds.find(at(2), 7).is_none(), "its place is taken");
        crowds.remember(crowd(u32::MAX));
        assert!(crowds.find(at(2), u32::MAX).is_some());
    }
}
