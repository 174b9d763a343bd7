//! Keys of strangers under the names of locks: strings, and everything that is no string.
//!
//! A stranger is somebody who does not know of redbolt: another library, or a program that keeps
//! its data there. A stranger comes only where no key is. To write over a lock is a loss of data,
//! and belongs to the worlds outside the model.

use redbolt::redlock::{
    ACQUIRE_FENCED, ACQUIRE_FENCED_SET, ACQUIRE_SET, DRAW, DRAW_SET, EXTEND, EXTEND_MANY,
    EXTEND_SET, HOLDER, RAISE, RAISE_SET, RELEASE, RELEASE_MANY, RELEASE_SET, Script, Token,
};
use redbolt::resp;
use smallvec::SmallVec;

use crate::chance::Chance;
use crate::master::Node;
use crate::names;

/// The string of a stranger, which is no token.
const VALUE: &[u8] = b"a stranger's value";

/// What the checks see in the place of a token where a key of a stranger is no string.
pub(crate) const NO_STRING: Token = Token::from_bytes([0xff; Token::LEN]);

/// The keys of strangers on one master that are no strings: lists, hashes, sets. To commands for
/// strings they are all alike.
#[derive(Default)]
pub(crate) struct Strangers {
    keys: SmallVec<[&'static [u8]; 4]>,
    /// All keys that strangers ever had, with those that are strings.
    visited: SmallVec<[&'static [u8]; 4]>,
    /// A release deletes what is no string: a saboteur.
    pub(crate) are_deleted: bool,
}

impl Strangers {
    pub(crate) fn has(&self, key: &[u8]) -> bool {
        self.keys.contains(&key)
    }

    fn remove(&mut self, key: &[u8]) {
        self.keys.retain(|other| *other != key);
    }

    pub(crate) fn forget(&mut self) {
        self.keys.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }
}

impl Node {
    /// Lets a stranger write a key, if nothing is there. Returns whether the stranger did.
    pub(crate) fn let_stranger_come(
        &mut self,
        now: u64,
        key: &'static [u8],
        max_ttl: u64,
        chance: &mut Chance,
    ) -> bool {
        let is_free = self.store.get(0, key, self.clock.show(now)).is_none();
        if !is_free || self.strangers.has(key) {
            return false;
        }
        self.strangers.visited.push(key);
        if chance.one_in(2) {
            self.strangers.keys.push(key);
            return true;
        }
        let ttl = chance.between(1, 2 * max_ttl).to_string();
        let with_ttl: [&[u8]; 5] = [b"SET", key, VALUE, b"PX", ttl.as_bytes()];
        let words = if chance.one_in(2) { &with_ttl[..] } else { &with_ttl[..3] };
        self.command(now, words);
        self.out.clear();
        true
    }

    /// Forgets all strangers, in a store that is not the one of before.
    pub(crate) fn forget_strangers(&mut self, now: u64) {
        let at = self.clock.show(now);
        self.strangers.forget();
        for key in (0..names::COUNT).flat_map(names::both_keys) {
            if self.store.get(0, key, at) == Some(VALUE) {
                self.store.delete(0, key, at);
            }
        }
    }

    /// Lets all strangers take their keys with them.
    pub(crate) fn let_strangers_go(&mut self, now: u64) {
        let at = self.clock.show(now);
        self.strangers.forget();
        for key in core::mem::take(&mut self.strangers.visited) {
            if self.store.get(0, key, at) == Some(VALUE) {
                self.store.delete(0, key, at);
            }
        }
    }

    /// Returns whether a key is no string.
    pub(crate) fn has_stranger(&self, key: &[u8]) -> bool {
        self.strangers.has(key)
    }

    /// Answers a command that meets a key which is no string, as servers do. Returns `false` for
    /// any other command, and for one to which such a key is as good as none.
    pub(crate) fn answer_for_strangers(&mut self, now: u64, words: &[&[u8]]) -> bool {
        if self.strangers.keys.is_empty() {
            return false;
        }
        match words {
            [b"SET", key, _, b"NX", ..] if self.strangers.has(key) => resp::null(&mut self.out),
            [b"GETRANGE", key, ..] if self.strangers.has(key) => self.say_wrong_type(None),
            [b"DELIFEQ", key, _]
                if self.strangers.has(key) && self.face.native.is_called(b"DELIFEQ") =>
            {
                self.say_wrong_type(None);
            }
            [b"DELEX", key, ..]
                if self.strangers.has(key) && self.face.native.is_called(b"DELEX") =>
            {
                let error = "ERR Key should be of string type if conditions are specified";
                resp::error(&mut self.out, error);
            }
            // Only a saboteur deletes without a comparison.
            [b"DEL", key] if self.strangers.has(key) => {
                self.strangers.remove(key);
                resp::integer(&mut self.out, 1);
            }
            [b"EVAL" | b"EVALSHA", called, _, rest @ ..] => {
                let keys = rest.iter().filter(|key| self.strangers.has(key));
                let met: SmallVec<[&[u8]; 8]> = keys.copied().collect();
                return self.answer_script(now, words[0] == b"EVAL", called, &met);
            }
            _ => return false,
        }
        true
    }

    /// Answers a script that names these keys, which are no strings.
    fn answer_script(&mut self, now: u64, by_text: bool, called: &[u8], met: &[&[u8]]) -> bool {
        const ALL: [Script; 14] = [
            ACQUIRE_FENCED,
            ACQUIRE_FENCED_SET,
            DRAW,
            DRAW_SET,
            RAISE,
            RAISE_SET,
            RELEASE,
            EXTEND,
            RELEASE_MANY,
            EXTEND_MANY,
            ACQUIRE_SET,
            RELEASE_SET,
            EXTEND_SET,
            HOLDER,
        ];
        let name = |script: &Script| if by_text { script.text } else { script.sha };
        let script = ALL.into_iter().find(|script| name(script).as_bytes() == called);
        let Some(script) = script.filter(|_| !met.is_empty()) else { return false };
        // `MGET` takes such a key for an absent one. The master lets the store answer, which has no
        // such key.
        let alone =
            [RELEASE, EXTEND, ACQUIRE_SET, HOLDER, ACQUIRE_FENCED, ACQUIRE_FENCED_SET, DRAW, RAISE];
        if !alone.contains(&script) {
            return false;
        }
        let at = self.clock.show(now);
        if !by_text && !self.store.knows(at, script) {
            return false;
        }
        // A script that was called by its text is known from then on.
        if by_text {
            self.store.load(at, script);
        }
        if [ACQUIRE_SET, ACQUIRE_FENCED, ACQUIRE_FENCED_SET].contains(&script) {
            resp::null(&mut self.out);
        } else {
            if self.strangers.are_deleted && script == RELEASE {
                met.iter().for_each(|key| self.strangers.remove(key));
            }
            self.say_wrong_type(Some(script));
        }
        true
    }

    /// Appends the error about the type of a key: as Redis 7 does, or as older servers do.
    fn say_wrong_type(&mut self, script: Option<Script>) {
        const WRONG: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
        let text = match script {
            None => WRONG.to_owned(),
            Some(Script { sha, .. }) if self.index % 2 == 0 => {
                format!("{WRONG} script: {sha}, on @user_script:1.")
            }
            Some(Script { sha, .. }) => {
                format!("ERR Error running script (call to f_{sha}): @user_script:1: {WRONG}")
            }
        };
        resp::error(&mut self.out, &text);
    }
}
