//! Locks on their way from one client to another, in a folder that all clients know.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use redbolt::Handover;

/// The letter box of a run.
pub(crate) struct Mail {
    folder: PathBuf,
    client: u32,
    sent: AtomicU64,
}

impl Mail {
    /// Opens the letter box for a client, which may have opened it before. Numbers of letters begin
    /// with `first`.
    pub(crate) fn open(log: &Path, client: u32, first: u64) -> Self {
        let folder = folder(log);
        fs::create_dir_all(&folder).expect("there is room for a folder");
        Self { folder, client, sent: AtomicU64::new(first) }
    }

    pub(crate) fn remove(log: &Path) {
        // A folder that stays costs a little disk.
        _ = fs::remove_dir_all(folder(log));
    }

    /// Leaves a lock for anybody who wants it.
    pub(crate) fn put(&self, lock: &Handover) {
        let name = format!("{}-{}", self.client, self.sent.fetch_add(1, Ordering::Relaxed));
        let draft = self.folder.join(format!("{name}.draft"));
        fs::write(&draft, lock.to_text()).expect("there is room for a letter");
        // Nobody ever reads half of a letter.
        fs::rename(draft, self.folder.join(format!("{name}.lock"))).expect("it is still there");
    }

    /// Takes a lock that was left, if there is one. Nobody else can take the same lock.
    pub(crate) fn take(&self) -> Option<Handover> {
        let letters = fs::read_dir(&self.folder).ok()?.flatten().map(|letter| letter.path());
        let mut letters = letters.filter(|path| path.extension().is_some_and(|end| end == "lock"));
        letters.find_map(|letter| {
            let mine = letter.with_extension(format!("{}-{:?}", self.client, self.sent));
            // Whoever renames first has the letter.
            fs::rename(&letter, &mine).ok()?;
            let text = fs::read_to_string(&mine).ok()?;
            fs::remove_file(&mine).ok()?;
            Some(text.parse().expect("it reads what it has written"))
        })
    }
}

fn folder(log: &Path) -> PathBuf {
    log.with_extension("mail")
}
