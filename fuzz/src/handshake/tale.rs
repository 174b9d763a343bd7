//! What a server says instead of the truth.

use arbitrary::{Result, Unstructured};
use bytes::BytesMut;
use redbolt::resp::{self, Status, Value};

use super::super::lies::{Lie, Twist};
use super::record::Question;
use super::{PASSWORD, is_in};

/// The fields of `INFO` that decide something.
const FIELDS: [&str; 12] = [
    "run_id",
    "redis_mode",
    "server_mode",
    "role",
    "loading",
    "maxmemory",
    "maxmemory_policy",
    "master_replid",
    "evicted_keys",
    "second_repl_offset",
    "aof_enabled",
    "aof_last_write_status",
];

/// What servers of all kinds say in these fields, and what none says.
const WORDS: [&str; 18] = [
    "",
    "0",
    "1",
    "-1",
    "+0",
    "18446744073709551616",
    "master",
    "slave",
    "standalone",
    "cluster",
    "sentinel",
    "noeviction",
    "allkeys-lru",
    "ok",
    "err",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    "ab:ab",
];

/// Words that come where nobody has asked for them.
const ASIDES: [&[u8]; 5] = [
    b">2\r\n+invalidate\r\n*1\r\n$15\r\nredbolt:witness\r\n",
    b">2\r\n+invalidate\r\n_\r\n",
    b">3\r\n+message\r\n+a\r\n+b\r\n",
    b"|1\r\n+ttl\r\n:1\r\n",
    b"+OK\r\n",
];

/// One reply instead of the honest one.
pub(crate) enum Tale {
    Lie(Lie),
    /// `INFO` with other words in a field, or without the field.
    Edit(&'static str, Option<&'static str>),
    /// `INFO` as servers of RESP3 send it.
    Verbatim,
    Aside(&'static [u8]),
    /// An error that repeats the login.
    Echo,
    Any(Vec<u8>),
}

impl Tale {
    pub(crate) fn choose(script: &mut Unstructured<'_>) -> Result<Self> {
        Ok(match script.int_in_range(0..=12)? {
            0 => Self::Lie(Lie::error(0, script.arbitrary::<u8>()?.into())),
            1 => Self::Lie(Lie::value(0, script.arbitrary::<u8>()?.into(), script.arbitrary()?)),
            2 => Self::Lie(Lie::silence(0)),
            3 => Self::Lie(Lie::twisted(0, Twist::choose(script)?)),
            4..=6 => Self::Edit(script.choose(&FIELDS)?, Some(script.choose(&WORDS)?)),
            7 => Self::Edit(script.choose(&FIELDS)?, None),
            8 => Self::Verbatim,
            9 => Self::Aside(script.choose(&ASIDES)?),
            10 => Self::Lie(Lie::long(0, script.arbitrary()?)),
            11 => Self::Echo,
            _ => {
                let len = script.int_in_range(0..=60)?.min(script.len());
                Self::Any(script.bytes(len)?.to_vec())
            }
        })
    }

    /// Returns what the server says instead of `honest`.
    pub(crate) fn tell(self, question: Question, honest: &[u8]) -> Vec<u8> {
        match self {
            // Only an answer to a look can be twisted.
            Self::Lie(lie) if lie.is_twisted() && question != Question::Look => honest.to_vec(),
            Self::Lie(lie) => lie.tell(honest),
            Self::Edit(field, words) => edited(honest, |line| {
                let is_it = line.split_once(':').is_some_and(|(name, _)| name == field);
                if is_it {
                    words.map(|words| format!("{field}:{words}"))
                } else {
                    Some(line.into())
                }
            }),
            Self::Verbatim => match text(honest) {
                Some(text) => format!("={}\r\ntxt:{text}\r\n", text.len() + 4).into_bytes(),
                None => honest.to_vec(),
            },
            Self::Aside(words) => [words, honest].concat(),
            Self::Echo => echo(),
            Self::Any(bytes) if is_in(&bytes, PASSWORD.as_bytes()) => honest.to_vec(),
            Self::Any(bytes) => bytes,
        }
    }
}

/// Returns the text of a reply that is one.
fn text(reply: &[u8]) -> Option<String> {
    match resp::parse(reply) {
        Ok(Status::Complete((Value::Bulk(text), _))) => String::from_utf8(text.to_vec()).ok(),
        _ => None,
    }
}

/// Returns a text with other lines. Any other reply stays.
fn edited(reply: &[u8], edit: impl Fn(&str) -> Option<String>) -> Vec<u8> {
    let Some(text) = text(reply) else { return reply.to_vec() };
    let lines: Vec<_> = text.lines().filter_map(edit).collect();
    let mut out = BytesMut::new();
    resp::bulk(&mut out, lines.join("\r\n").as_bytes());
    out.to_vec()
}

/// Returns the error of a server that has another name for `AUTH`, in the words of Redis, which
/// repeat what was sent.
fn echo() -> Vec<u8> {
    format!("-ERR unknown command 'AUTH', with args beginning with: 'app' '{PASSWORD}' \r\n").into()
}
