//! The answers of a master: its moods, what the master says about itself, and a command that the
//! embedded master lacks.

use bytes::BytesMut;
use redbolt::embedded::Session;
#[cfg(redbolt_sabotage)]
use redbolt::redlock::RECREATE;
use redbolt::redlock::RELEASE;
use redbolt::resp;
use redbolt::time::Instant;

use crate::clock;
use crate::digits::{self, Text, hex};
use crate::master::Node;
use crate::request::{Asked, Numbered};
use crate::together::asks_together;
use crate::witness::Call;

/// What a master answers instead of doing what a request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mood {
    Well,
    Full,
    Busy,
    Loading,
    /// Follows another master and takes no writes.
    Replica,
    /// Does what a request asks for, and says that the request failed.
    Unclear,
    KeyDenied,
    /// Has something else under the name of the fencing numbers.
    Spoiled,
    Denied,
    /// Every command is refused to everybody, and not only those that touch keys.
    Forbidden,
}

/// The command by which a master compares and deletes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Native {
    None,
    /// Valkey's `DELIFEQ`.
    DelIfEq,
    /// Redis' `DELEX … IFEQ`.
    DelEx,
}

/// What a master says about itself.
pub(crate) struct Face {
    /// Names the process. No two processes have the same name.
    pub(crate) process: u64,
    /// Names the history of the data.
    lineage: u64,
    /// The offset up to which the data came from another master; −1 if none ever did.
    second_offset: i64,
    /// How many keys the process has evicted.
    pub(crate) evicted: u64,
    /// The start of the process, by the clock of the master.
    started: Instant,
    pub(crate) mood: Mood,
    pub(crate) mood_until: u64,
    /// The master may evict keys, and says so.
    evicts: bool,
    /// The time since when the master does.
    evicts_since: u64,
    /// The master writes every command to its disk before the answer.
    pub(crate) is_durable: bool,
    /// The master compares and deletes by one command, which the embedded master lacks.
    pub(crate) native: Native,
    /// The master refuses scripts to everybody.
    pub(crate) refuses_scripts: bool,
    /// The version of the password that the master asks for, if the master does.
    pub(crate) password: Option<u64>,
    /// The master speaks RESP3 and lets clients track.
    pub(crate) tracks: bool,
    /// What was told last, and the text.
    told: (Told, Text),
    /// The process, the lineage and the evicted keys of the last identity, and the text.
    identity: ([u64; 3], Text),
}

/// All that the sections of `INFO` depend on. Most looks find what the look before has found.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Told {
    process: u64,
    lineage: u64,
    second_offset: i64,
    evicted: u64,
    uptime: i64,
    is_replica: bool,
    evicts: bool,
    is_durable: bool,
}

/// The sections of `INFO` that clients read.
const SECTIONS: [&str; 5] = ["server", "replication", "memory", "stats", "persistence"];

impl Native {
    /// Returns whether the master has this command.
    pub(crate) fn is_called(self, name: &[u8]) -> bool {
        match self {
            Self::None => false,
            Self::DelIfEq => name == b"DELIFEQ",
            Self::DelEx => name == b"DELEX",
        }
    }
}

impl Face {
    pub(crate) fn new(index: usize, started: Instant) -> Self {
        Self {
            process: index as u64 + 1,
            lineage: index as u64 + 1,
            second_offset: -1,
            evicted: 0,
            started,
            mood: Mood::Well,
            mood_until: 0,
            evicts: false,
            evicts_since: 0,
            is_durable: false,
            native: Native::None,
            refuses_scripts: false,
            password: None,
            tracks: false,
            // No process has the number 0, so nothing of this was ever told.
            told: (Told::default(), Text::new()),
            identity: ([0; 3], Text::new()),
        }
    }

    /// Another process takes over, started at `started`.
    pub(crate) fn begin_process(&mut self, started: Instant) {
        // There are fewer masters than this, so all numbers differ.
        self.process += 64;
        self.lineage += 64;
        (self.started, self.second_offset, self.evicted) = (started, -1, 0);
    }

    /// The process goes on after a time as a replica of another master.
    pub(crate) fn begin_lineage(&mut self, offset: u64) {
        self.lineage += 64;
        self.second_offset = offset as i64;
    }

    /// Another process takes over, which has run for long and was a replica until now.
    pub(crate) fn be_replaced(&mut self, offset: u64) {
        self.begin_process(self.started);
        self.begin_lineage(offset);
    }

    /// A process takes over that has run for as long and was never another's replica.
    pub(crate) fn be_replaced_by_spare(&mut self) {
        self.begin_process(self.started);
    }

    /// Returns a process that can take over the name of this one.
    pub(crate) fn spare(&self) -> Self {
        // The numbers of spares begin elsewhere, and there are fewer other processes than this.
        let index = (self.process - 1) as usize + (1 << 32);
        let mut spare = Self::new(index, self.started);
        (spare.native, spare.tracks) = (self.native, self.tracks);
        spare.password = self.password;
        spare.evicts = self.evicts;
        spare.evicts_since = self.evicts_since;
        spare
    }

    /// The master has evicting keys switched on since `now`.
    pub(crate) fn begin_to_evict(&mut self, now: u64) {
        if !self.evicts {
            (self.evicts, self.evicts_since) = (true, now);
        }
    }

    pub(crate) fn end_to_evict(&mut self) {
        self.evicts = false;
    }

    /// Returns whether a master with a longest ttl of `max_ttl` evicts keys although no lock stands
    /// on them: whoever looks in time knows by then, and every lock from before has ended.
    pub(crate) fn may_evict(&self, now: u64, max_ttl: u64) -> bool {
        self.evicts && (self.evicts_since == 0 || now > self.evicts_since + 3 * max_ttl)
    }

    /// Returns whether the master may vote, judged by its own words (S10). Clients that look in
    /// time believe a word for half a span, which is less than a longest ttl.
    pub(crate) fn may_vote(&self, now: u64, max_ttl: u64) -> bool {
        !self.evicts || (self.evicts_since > 0 && now < self.evicts_since + max_ttl)
    }

    /// Appends what the scripts of the witness take for the identity of the data.
    pub(crate) fn identify(&mut self, database: &[u8], identity: &mut Text) {
        let Self { process, lineage, evicted, .. } = *self;
        let (of, text) = &mut self.identity;
        if *of != [process, lineage, evicted] {
            *of = [process, lineage, evicted];
            text.clear();
            for part in [process, lineage] {
                text.extend_from_slice(&hex(part));
                text.push(b':');
            }
            digits::push(text, evicted);
            text.push(b':');
        }
        identity.extend_from_slice(text);
        identity.extend_from_slice(database);
    }

    /// Returns the sections of `INFO` that the scripts of the witness read.
    pub(crate) fn describe_all(&mut self, now: u64, at: Instant) -> &[u8] {
        let told = self.tells(now, at);
        if self.told.0 != told {
            let all = &mut self.told.1;
            all.clear();
            for section in SECTIONS {
                for part in ["# ", section, "\r\n"] {
                    all.extend_from_slice(part.as_bytes());
                }
                told.describe(section.as_bytes(), all);
            }
            self.told.0 = told;
        }
        &self.told.1
    }

    pub(crate) fn mood(&self, now: u64) -> Mood {
        if now < self.mood_until { self.mood } else { Mood::Well }
    }

    fn tells(&self, now: u64, at: Instant) -> Told {
        let Self { process, lineage, second_offset, evicted, evicts, is_durable, .. } = *self;
        // Both ends are cut to whole seconds, and a clock that was set back shows here.
        let seconds = |at: Instant| (at.as_nanos() / 1_000_000_000) as i64;
        let uptime = seconds(at) - seconds(self.started);
        let is_replica = self.mood(now) == Mood::Replica;
        Told { process, lineage, second_offset, evicted, uptime, is_replica, evicts, is_durable }
    }
}

impl Told {
    /// Appends the section of `INFO` with this name, as far as clients read that section.
    fn describe(&self, section: &[u8], out: &mut Text) {
        let Self { process, lineage, second_offset, evicted, uptime, .. } = *self;
        match section {
            b"server" => {
                out.extend_from_slice(b"run_id:");
                out.extend_from_slice(&hex(process));
                out.extend_from_slice(b"\r\nuptime_in_seconds:");
                digits::push_signed(out, uptime);
                out.extend_from_slice(b"\r\nredis_mode:standalone\r\n");
            }
            b"replication" => {
                out.extend_from_slice(match self.is_replica {
                    true => &b"role:slave\r\nmaster_replid:"[..],
                    false => b"role:master\r\nmaster_replid:",
                });
                out.extend_from_slice(&hex(lineage));
                out.extend_from_slice(b"\r\nsecond_repl_offset:");
                digits::push_signed(out, second_offset);
                out.extend_from_slice(b"\r\n");
            }
            b"memory" => {
                out.extend_from_slice(b"maxmemory:1000000\r\nmaxmemory_policy:");
                out.extend_from_slice(match self.evicts {
                    true => &b"volatile-lru\r\n"[..],
                    false => b"noeviction\r\n",
                });
            }
            b"stats" => {
                out.extend_from_slice(b"evicted_keys:");
                digits::push(out, evicted);
                out.extend_from_slice(b"\r\n");
            }
            _ => {
                let appends = if self.is_durable { b'1' } else { b'0' };
                out.extend_from_slice(b"loading:0\r\naof_enabled:");
                out.push(appends);
                out.extend_from_slice(b"\r\naof_last_write_status:ok\r\n");
            }
        }
    }
}

impl Node {
    /// Appends one reply, as the mood demands. `look` is what `words` call, if they do.
    pub(crate) fn answer(
        &mut self,
        now: u64,
        session: &mut Session,
        words: &[&[u8]],
        look: Option<Call<'_>>,
    ) {
        let mood = self.face.mood(now);
        // A full master takes no stamp either.
        let is_about_numbers = Numbered::read(words).is_some() || asks_together(words);
        let is_set = words[0] == b"SET" || look.is_some() || Asked::read(words).is_some();
        let is_set = is_set || is_about_numbers;
        let acts =
            is_set || matches!(words[0], b"EVALSHA" | b"EVAL" | b"DELIFEQ" | b"DELEX" | b"DEL");
        let refusal = match mood {
            Mood::Full if is_set => "OOM command not allowed",
            Mood::Busy => "BUSY Redis is busy running a script.",
            Mood::Loading => "LOADING Redis is loading the dataset in memory",
            Mood::Replica if acts => "READONLY You can't write against a read only replica.",
            Mood::Denied if acts => "NOPERM no permissions to run a command",
            Mood::KeyDenied if acts => "NOPERM No permissions to access a key",
            Mood::Unclear if acts => {
                let before = self.out.len();
                match look {
                    Some(call) => self.look(now, &call),
                    None => self.execute(now, session, words),
                }
                self.out.truncate(before);
                "ERR something went wrong"
            }
            Mood::Spoiled if self.answer_together(now, session, words, true) => return,
            Mood::Spoiled if is_about_numbers => return self.answer_spoiled(now, session, words),
            // `answer_about_login` has answered for a master that forbids everything.
            _ => match look {
                Some(call) => return self.look(now, &call),
                None => return self.execute(now, session, words),
            },
        };
        resp::error(&mut self.out, refusal);
    }

    pub(crate) fn execute(&mut self, now: u64, session: &mut Session, words: &[&[u8]]) {
        let is_answered = self.answer_together(now, session, words, false);
        if is_answered || self.answer_for_strangers(now, words) {
            return;
        }
        let (at, out) = (self.clock.show(now), &mut self.out);
        match words {
            [b"INFO", section] => {
                let mut text = Text::new();
                self.face.tells(now, at).describe(section, &mut text);
                if *section == b"server" {
                    // Left out of what a look reads, which has the time elsewhere.
                    text.extend_from_slice(b"server_time_usec:");
                    digits::push(&mut text, clock::micros(at));
                    text.extend_from_slice(b"\r\n");
                }
                resp::bulk(out, &text);
            }
            [b"TIME"] => {
                let micros = clock::micros(at);
                resp::array_header(out, 2);
                resp::bulk(out, (micros / 1_000_000).to_string().as_bytes());
                resp::bulk(out, (micros % 1_000_000).to_string().as_bytes());
            }
            [b"CONFIG", b"GET", names @ ..] => {
                resp::array_header(out, 2 * names.len());
                for name in names {
                    let value: &[u8] = match *name {
                        b"appendfsync" if self.face.is_durable => b"always",
                        b"appendfsync" => b"everysec",
                        b"no-appendfsync-on-rewrite" => b"no",
                        _ => panic!("no master has the setting {}", name.escape_ascii()),
                    };
                    resp::bulk(out, name);
                    resp::bulk(out, value);
                }
            }
            [b"COMMAND", b"INFO", ..] => {
                // Clients ask about two commands.
                resp::array_header(out, 2);
                for command in [Native::DelIfEq, Native::DelEx] {
                    match self.face.native == command {
                        true => resp::array_header(out, 0),
                        false => resp::null(out),
                    }
                }
            }
            [b"DELIFEQ", key, token] | [b"DELEX", key, b"IFEQ", token]
                if self.face.native.is_called(words[0]) =>
            {
                let release: [&[u8]; 5] = [b"EVAL", RELEASE.text.as_bytes(), b"1", key, token];
                let mut answer = BytesMut::new();
                self.store.apply(at, session, &release, &mut answer);
                // The script tells a foreign value from a missing one; the command does not.
                resp::integer(out, i64::from(&answer[..] == b":1\r\n"));
            }
            #[cfg(redbolt_sabotage)]
            [b"EVAL", script, b"1", key, token, ttl] if script.starts_with(RECREATE.as_bytes()) => {
                let set: [&[u8]; 6] = [b"SET", key, token, b"NX", b"PX", ttl];
                self.store.apply(at, session, &set, &mut BytesMut::new());
                let rest = &script[RECREATE.len()..];
                self.store.apply(at, session, &[b"EVAL", rest, b"1", key, token, ttl], out);
            }
            _ => self.store.apply(at, session, words, out),
        }
    }
}
