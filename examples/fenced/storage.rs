//! What storage must do for a lock with fencing numbers.

use std::error::Error;
use std::fmt;

use redbolt::Fence;

/// Storage of one text, which the holders of one resource change.
///
/// The storage remembers the largest number with which anybody has marked or written. Each call
/// compares and remembers in one atomic step. An equal number is the same holder.
pub(crate) trait Storage: Sync {
    /// Remembers the number, then reads. No older holder can write from this call on, so what was
    /// read stays true until this holder writes.
    fn mark_and_read(&self, fence: Fence) -> Result<String, StorageError>;

    /// Remembers the number, and replaces the text.
    fn write(&self, fence: Fence, text: &str) -> Result<(), StorageError>;

    /// Reads without a mark. Good for those who only look: what is written after such a look may
    /// undo the work of another holder.
    fn look(&self) -> Result<String, StorageError>;
}

#[derive(Debug)]
pub(crate) enum StorageError {
    /// A newer holder has marked the storage. Nothing was changed.
    Late,
    /// The storage cannot be used, in its own words.
    Failed(String),
}

impl StorageError {
    pub(crate) fn failed(error: impl fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late => f.write_str("a newer holder has marked the storage"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl Error for StorageError {}
