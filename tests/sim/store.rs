//! The memory of one process: the embedded master, and which scripts the master is known to have.

use core::ops::Deref;

use bytes::BytesMut;
use redbolt::embedded::{Master, Options, Session};
use redbolt::redlock::Script;
use redbolt::time::Instant;
use smallvec::SmallVec;

#[derive(Clone)]
pub(crate) struct Store {
    master: Master,
    /// The names of scripts that the master has said it has. Each look needs one, and asking the
    /// master costs more than the look itself.
    known: SmallVec<[&'static str; 4]>,
}

impl Store {
    /// Returns a store without keys.
    pub(crate) fn empty() -> Self {
        // Nobody hears what this master calls itself: `Face` answers instead.
        let master = Master::new(0, Options::default(), Instant::ZERO);
        Self { master, known: SmallVec::new() }
    }

    /// Executes a command, and appends the reply to `out`.
    pub(crate) fn apply(
        &mut self,
        at: Instant,
        session: &mut Session,
        words: &[&[u8]],
        out: &mut BytesMut,
    ) {
        // Only commands of this name can make a master forget scripts.
        if words.first().is_some_and(|name| name.eq_ignore_ascii_case(b"SCRIPT")) {
            self.known.clear();
        }
        self.master.apply(at, session, words, out);
    }

    /// Deletes a key. Returns whether the key was alive.
    pub(crate) fn delete(&mut self, database: usize, key: &[u8], at: Instant) -> bool {
        self.master.delete(database, key, at)
    }

    /// Returns whether the master has this script.
    pub(crate) fn knows(&mut self, at: Instant, script: Script) -> bool {
        if self.known.contains(&script.sha) {
            return true;
        }
        let mut reply = BytesMut::new();
        let exists: [&[u8]; 3] = [b"SCRIPT", b"EXISTS", script.sha.as_bytes()];
        self.master.apply(at, &mut Session::default(), &exists, &mut reply);
        let has = &reply[..] == b"*1\r\n:1\r\n";
        if has {
            self.known.push(script.sha);
        }
        has
    }

    /// Gives the master a script.
    pub(crate) fn load(&mut self, at: Instant, script: Script) {
        if !self.known.contains(&script.sha) {
            let load: [&[u8]; 3] = [b"SCRIPT", b"LOAD", script.text.as_bytes()];
            self.master.apply(at, &mut Session::default(), &load, &mut BytesMut::new());
        }
    }
}

impl Deref for Store {
    type Target = Master;

    fn deref(&self) -> &Master {
        &self.master
    }
}
