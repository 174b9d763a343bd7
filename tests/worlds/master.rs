//! A master: the embedded one, with a clock of its own, moods and broken links.

use bytes::BytesMut;
use redbolt::embedded::{Master, Options, Session};
use redbolt::redlock::{RELEASE, Token};
use redbolt::resp::{self, Status, Value};
use redbolt::time::Instant;

use crate::chance::{Chance, Trace};
use crate::link::Link;

/// What a master answers instead of doing what it was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mood {
    Well,
    Full,
    Busy,
    Loading,
    /// Does what it was asked and says that it failed.
    Unclear,
    KeyDenied,
    Denied,
    Replica,
}

pub(crate) struct Node {
    master: Master,
    /// Parts per million by which its clock is fast.
    rate: i64,
    /// Whether it has `DELIFEQ`, which the embedded master lacks.
    is_native: bool,
    pub(crate) links: Vec<Link>,
    pub(crate) mood: Mood,
    pub(crate) mood_until: u64,
    pub(crate) stalled_until: u64,
    pub(crate) refuses_until: u64,
}

impl Node {
    pub(crate) fn new(seed: u64, rate: i64, is_native: bool) -> Self {
        Self {
            master: Master::new(seed, Options::default(), Instant::ZERO),
            rate,
            is_native,
            links: Vec::new(),
            mood: Mood::Well,
            mood_until: 0,
            stalled_until: 0,
            refuses_until: 0,
        }
    }

    /// How many keys are alive.
    pub(crate) fn keys(&self, now: u64) -> usize {
        self.master.len(scaled(now, self.rate))
    }

    pub(crate) fn holds(&self, now: u64, resource: &[u8], token: &Token) -> bool {
        self.master.get(0, resource, scaled(now, self.rate)) == Some(token.as_ref())
    }

    pub(crate) fn link(&mut self, id: u64) -> Option<&mut Link> {
        self.links.iter_mut().find(|link| link.id == id)
    }

    pub(crate) fn heal(&mut self) {
        (self.mood_until, self.stalled_until, self.refuses_until) = (0, 0, 0);
    }

    /// Forgets all scripts, as `SCRIPT FLUSH` does.
    pub(crate) fn flush_scripts(&mut self, now: u64) {
        let now = scaled(now, self.rate);
        let flush: [&[u8]; 2] = [b"SCRIPT", b"FLUSH"];
        self.master.apply(now, &mut Session::default(), &flush, &mut BytesMut::new());
    }

    /// When bytes arrive next at either end of a link.
    pub(crate) fn next(&self) -> Option<u64> {
        // Nobody takes the replies of a broken link.
        let replies = |link: &Link| link.replies.next().filter(|_| !link.is_broken);
        let ends = |link: &Link| [link.requests.next(), replies(link)];
        self.links.iter().flat_map(ends).flatten().min()
    }

    /// Executes what has arrived, on its connections in a random order.
    pub(crate) fn run(&mut self, now: u64, chance: &mut Chance, trace: &mut Trace) {
        if self.stalled_until > now {
            return;
        }
        let mut links = core::mem::take(&mut self.links);
        chance.rng.shuffle(&mut links);
        for link in &mut links {
            if link.requests.arrive(now) {
                let out = self.serve(now, link, trace);
                if !link.is_broken {
                    link.replies.send_split(now, &out, chance);
                }
            }
        }
        links.retain(|link| !link.is_broken || link.requests.next().is_some());
        self.links = links;
    }

    /// Executes the whole requests that have arrived on a link.
    fn serve(&mut self, now: u64, link: &mut Link, trace: &mut Trace) -> BytesMut {
        let (mut out, mut done) = (BytesMut::new(), 0);
        while let Ok(Status::Complete((Value::Array(parts), used))) =
            link.parser.parse(&link.requests.arrived[done..])
        {
            let words: Vec<&[u8]> = parts
                .map(|part| match part {
                    Value::Bulk(word) => word,
                    other => panic!("not a word: {other:?}"),
                })
                .collect();
            let before = out.len();
            self.answer(now, &mut link.session, &words, &mut out);
            trace.add(&now.to_ne_bytes());
            trace.add(&link.requests.arrived[done..done + used]);
            trace.add(&out[before..]);
            if trace.is_loud && !matches!(words[0], b"SCRIPT" | b"INFO" | b"COMMAND") {
                let text = words.join(&b' ');
                let (text, reply) = (text.escape_ascii(), out[before..].escape_ascii());
                let (id, ghost) = (link.id, if link.is_broken { ", a ghost" } else { "" });
                trace.show(now, format_args!("link {id}{ghost}: {text} -> {reply}"));
            }
            done += used;
        }
        link.requests.arrived.drain(..done);
        out
    }

    /// One reply, as the mood has it.
    fn answer(&mut self, now: u64, session: &mut Session, words: &[&[u8]], out: &mut BytesMut) {
        let mood = if now < self.mood_until { self.mood } else { Mood::Well };
        let is_set = words[0] == b"SET";
        let acts = is_set || matches!(words[0], b"EVALSHA" | b"EVAL" | b"DELIFEQ");
        match mood {
            Mood::Full if is_set => resp::error(out, "OOM command not allowed"),
            Mood::Busy => resp::error(out, "BUSY Redis is busy running a script."),
            Mood::Loading => resp::error(out, "LOADING Redis is loading the dataset in memory"),
            Mood::Replica if acts => resp::error(out, "READONLY You can't write"),
            Mood::Denied if acts => resp::error(out, "NOPERM no permissions to run a command"),
            Mood::KeyDenied if acts => resp::error(out, "NOPERM No permissions to access a key"),
            Mood::Unclear if acts => {
                self.execute(now, session, words, &mut BytesMut::new());
                resp::error(out, "ERR something went wrong");
            }
            _ => self.execute(now, session, words, out),
        }
    }

    fn execute(&mut self, now: u64, session: &mut Session, words: &[&[u8]], out: &mut BytesMut) {
        let now = scaled(now, self.rate);
        match words {
            [b"COMMAND", b"INFO", ..] if self.is_native => {
                // Of the two that are asked about it has the first.
                resp::array_header(out, 2);
                resp::array_header(out, 0);
                resp::null(out);
            }
            [b"DELIFEQ", key, token] if self.is_native => {
                let release: [&[u8]; 5] = [b"EVAL", RELEASE.text.as_bytes(), b"1", key, token];
                let mut answer = BytesMut::new();
                self.master.apply(now, session, &release, &mut answer);
                // The script tells a foreign value from none, the command does not.
                resp::integer(out, i64::from(&answer[..] == b":1\r\n"));
            }
            _ => self.master.apply(now, session, words, out),
        }
    }
}

/// What a clock shows that is fast by `rate` parts per million.
pub(crate) fn scaled(now: u64, rate: i64) -> Instant {
    let now = i128::from(now);
    let nanos = now + now * i128::from(rate) / 1_000_000;
    // The worlds last for minutes, and no clock runs backwards.
    Instant::from_nanos(u64::try_from(nanos).unwrap_or_default())
}
