//! An object in a store with conditional puts. The number is the first line of the object.

use redbolt::Fence;

use super::bucket::{Bucket, Condition};
use super::storage::{Storage, StorageError};

pub(crate) struct FencedObject<'a> {
    bucket: &'a Bucket,
    name: &'a str,
}

impl<'a> FencedObject<'a> {
    pub(crate) fn new(bucket: &'a Bucket, name: &'a str) -> Self {
        Self { bucket, name }
    }

    /// Reads, compares, and puts the number with `text`, or with the text that is there.
    ///
    /// The turns end: another one is needed only if another writer has been faster, and no writer
    /// older than the newest one gets past the comparison.
    fn put(&self, fence: Fence, text: Option<&str>) -> Result<String, StorageError> {
        loop {
            let found = self.bucket.get(self.name);
            let body = found.as_ref().map_or("", |object| &object.body);
            let (stored, old) = body.split_once('\n').unwrap_or_default();
            if !stored.is_empty() && stored.parse::<Fence>().map_err(StorageError::failed)? > fence
            {
                return Err(StorageError::Late);
            }
            let condition = found.as_ref().map_or(Condition::NoneMatch, |object| {
                Condition::Match(object.etag) // of what was compared just now
            });
            let text = text.unwrap_or(old);
            let body = format!("{fence}\n{text}");
            if self.bucket.put(self.name, body, &condition).is_ok() {
                return Ok(text.to_owned());
            }
        }
    }
}

impl Storage for FencedObject<'_> {
    fn mark_and_read(&self, fence: Fence) -> Result<String, StorageError> {
        self.put(fence, None)
    }

    fn write(&self, fence: Fence, text: &str) -> Result<(), StorageError> {
        self.put(fence, Some(text)).map(|_| ())
    }

    fn look(&self) -> Result<String, StorageError> {
        let body = self.bucket.get(self.name).map(|object| object.body).unwrap_or_default();
        Ok(body.split_once('\n').unwrap_or_default().1.to_owned())
    }
}
