//! A double of an object store: `PUT` with `If-Match` and `If-None-Match`, inside this process.
//!
//! As in S3, the ETag of an object is a hash of its bytes.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::thread;

#[derive(Default)]
pub(crate) struct Bucket(Mutex<HashMap<String, Object>>);

#[derive(Clone)]
pub(crate) struct Object {
    pub(crate) body: String,
    pub(crate) etag: u64,
}

pub(crate) enum Condition {
    /// `If-Match: ETAG`: the object is still the one that was read.
    Match(u64),
    /// `If-None-Match: *`: there is still no object.
    NoneMatch,
}

/// 412: the object is another one by now. The 409 of S3, for two writers at the same moment, is
/// answered in the same way: read again.
pub(crate) struct PreconditionFailed;

impl Bucket {
    pub(crate) fn get(&self, name: &str) -> Option<Object> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        // A real store is far away: others come in between.
        thread::yield_now();
        found
    }

    pub(crate) fn put(
        &self,
        name: &str,
        body: String,
        condition: &Condition,
    ) -> Result<(), PreconditionFailed> {
        let mut objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_met = match (objects.get(name), condition) {
            (Some(object), Condition::Match(etag)) => object.etag == *etag,
            (None, Condition::NoneMatch) => true,
            _ => false,
        };
        if !is_met {
            return Err(PreconditionFailed);
        }
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        objects.insert(name.to_owned(), Object { body, etag: hasher.finish() });
        Ok(())
    }
}
