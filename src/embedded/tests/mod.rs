//! The master by itself with explicit time, and behind its socket.

mod cluster;
mod info;
mod keys;
mod scripts;
mod server;
mod session;
mod witness;

use bytes::BytesMut;

use super::{Master, Options, Session};
use crate::resp::command;
use crate::time::Instant;

/// A master and one connection to it; requests are lines of words.
struct Client {
    master: Master,
    session: Session,
}

impl Client {
    fn new(options: Options) -> Self {
        Self { master: Master::new(1, options, ms(0)), session: Session::default() }
    }

    /// The reply to the words of `line`, which is sent at `millis`.
    fn at(&mut self, millis: u64, line: &str) -> String {
        let words: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
        self.send(ms(millis), &words)
    }

    fn send(&mut self, now: Instant, words: &[&[u8]]) -> String {
        let mut out = BytesMut::new();
        self.master.apply(now, &mut self.session, words, &mut out);
        String::from_utf8(out.to_vec()).unwrap()
    }

    /// Sends every line at its millisecond and compares the replies.
    #[track_caller]
    fn plays(&mut self, script: &[(u64, &str, &str)]) {
        for (millis, line, reply) in script {
            assert_eq!(self.at(*millis, line), format!("{reply}\r\n"), "{line} at {millis} ms");
        }
    }
}

fn client() -> Client {
    Client::new(Options::default())
}

/// Requests made of lines of words, as they go over the wire.
fn lines(lines: &[&str]) -> Vec<u8> {
    let mut out = BytesMut::new();
    for line in lines {
        let words: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
        command(&mut out, &words);
    }
    out.to_vec()
}

fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}
