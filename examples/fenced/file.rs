//! A file, on a file system of one machine. The number is in a second file beside the first.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use redbolt::Fence;
use rustix::fs::{FlockOperation, flock};
use rustix::io::retry_on_intr;

use super::storage::{Storage, StorageError};

/// The file `order` has the text, and `order.fence` the number. Whoever touches either of them has
/// an exclusive lock on the second, as `flock(1)` takes: the steps below are one to all others.
pub(crate) struct FencedFile {
    folder: PathBuf,
    text: PathBuf,
    fence: PathBuf,
    draft: PathBuf,
}

impl FencedFile {
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            text: folder.join(name),
            fence: folder.join(format!("{name}.fence")),
            draft: folder.join(format!("{name}.draft")),
        }
    }

    /// Remembers the number, or finds that a larger one is there. The lock on the file with the
    /// number ends when the result is dropped, or when the process dies.
    fn mark(&self, fence: Fence) -> Result<File, StorageError> {
        let mut options = OpenOptions::new();
        // Never cut off: a process that dies between two steps would leave no number.
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&self.fence)?;
        // From Rust 1.89 on, `file.lock()` does the same.
        retry_on_intr(|| flock(&file, FlockOperation::LockExclusive)).map_err(io::Error::from)?;
        if stored(&mut file)?.is_some_and(|stored| stored > fence) {
            return Err(StorageError::Late);
        }
        // Always as long, so that the new number covers the old one.
        file.write_all_at(format!("{fence:>16}\n").as_bytes(), 0)?;
        file.sync_all()?;
        Ok(file)
    }
}

impl Storage for FencedFile {
    fn mark_and_read(&self, fence: Fence) -> Result<String, StorageError> {
        let _marked = self.mark(fence)?;
        self.look()
    }

    fn write(&self, fence: Fence, text: &str) -> Result<(), StorageError> {
        // First the number, then the text: a crash between the two leaves a mark, which is safe.
        let _marked = self.mark(fence)?;
        let mut draft = File::create(&self.draft)?;
        draft.write_all(text.as_bytes())?;
        draft.sync_all()?;
        // Readers without the lock find the old text or the new one, and nothing in between.
        fs::rename(&self.draft, &self.text)?;
        // The new name is on the disk when the folder is.
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }

    fn look(&self) -> Result<String, StorageError> {
        match fs::read_to_string(&self.text) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            result => Ok(result?),
        }
    }
}

/// Returns the number in the file; none in a new file. A file with anything else is an error, and
/// not a storage that nobody has marked.
fn stored(file: &mut File) -> Result<Option<Fence>, StorageError> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    match text.trim() {
        "" => Ok(None),
        number => number.parse().map(Some).map_err(StorageError::failed),
    }
}

impl From<io::Error> for StorageError {
    fn from(error: io::Error) -> Self {
        Self::failed(error)
    }
}
