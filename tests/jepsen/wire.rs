//! What the wire says: which node has promised to keep which token, for how long, and when, which
//! node has accepted which number for a token, and which node has nothing at a key.
//!
//! A request is known by its shape, and not by the scripts of the library: behind the keys stand
//! tokens, which have twenty bytes, and ttls, which have fewer. A request about a number has the
//! hash of the numbers for its last key, and a stripe for each key before. Several locks in one
//! request have four words each behind the hash: token, stripe, proposal and ttl.

use std::str::from_utf8;
use std::sync::Arc;

use crate::log::{Accepted, Empty, Log, Vote, nanos};
use crate::support::proxy::Proxy;

const TOKEN: usize = 20;

/// The name of the hash in which a node keeps its numbers.
const FENCES: &[u8] = b"redbolt:fence";

/// The least number. All other integers that scripts answer are smaller.
const LEAST: u64 = 1 << 32;

/// Starts the link to a node, through which all clients talk, and which writes the votes.
pub(crate) fn link(log: &Arc<Log>, node: usize, server: &str) -> Proxy {
    let log = Arc::clone(log);
    Proxy::watched(server, move |asked, request, reply| {
        let asked = u64::try_from(asked.as_nanos()).expect("centuries of nanoseconds");
        for (token, ttl) in promises(request, reply) {
            log.vote(&Vote { at: nanos(), node, token, ttl, asked });
        }
        for (token, fence, is_raised) in accepts(request, reply) {
            log.accepted(&Accepted { at: nanos(), node, token, fence, is_raised });
        }
        if let Some(resource) = lacks(request, reply) {
            log.empty(&Empty { at: nanos(), node, resource, asked });
        }
    })
}

/// Returns the tokens that a node keeps by this answer, each with the ttl in milliseconds.
fn promises(request: &[Vec<u8>], reply: &[u8]) -> Vec<(String, u64)> {
    let numbers = fenced(request);
    if !numbers.is_empty() {
        let answered = numbers.into_iter().zip(integers(reply));
        let kept = answered.filter(|(_, answer)| answer.is_some_and(|number| number >= LEAST));
        return kept.filter_map(|(Fenced { token, ttl, .. }, _)| Some((token, ttl?))).collect();
    }
    let wishes = wishes(request);
    let kept: Vec<bool> = match reply.split_first() {
        Some((b'+', rest)) => vec![rest == b"OK\r\n"],
        Some((b':', rest)) => vec![rest == b"1\r\n"],
        Some((b'*', rest)) => {
            let mut lines = rest.split(|byte| *byte == b'\n').skip(1);
            (0..wishes.len()).map(|_| lines.next() == Some(b":1\r")).collect()
        }
        _ => Vec::new(),
    };
    wishes.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(wish, _)| wish).collect()
}

/// Returns the tokens that a request wants to be kept, each with its ttl.
fn wishes(request: &[Vec<u8>]) -> Vec<(String, u64)> {
    let words: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
    let (tokens, ttls) = match words[..] {
        [b"SET", _, token, b"NX", b"PX", ttl] => (vec![token], vec![ttl]),
        [b"EVALSHA" | b"EVAL", _, keys, ref rest @ ..] => {
            let keys = decimal(keys).and_then(|keys| usize::try_from(keys).ok()).unwrap_or(0);
            let rest = rest.get(keys..).unwrap_or(&[]);
            // One token for all keys, or one for each key.
            let count = rest.len() / 2;
            if rest.len() % 2 != 0 || !(count == 1 || count == keys) {
                return Vec::new();
            }
            (rest[..count].to_vec(), rest[count..].to_vec())
        }
        _ => return Vec::new(),
    };
    let pair = |(token, ttl): (&[u8], &[u8])| {
        let ttl = decimal(ttl)?;
        (token.len() == TOKEN).then(|| (hex(token), ttl))
    };
    // A request in which anything is no token or no ttl wants something else.
    tokens.into_iter().zip(ttls).map(pair).collect::<Option<_>>().unwrap_or_default()
}

/// A request about the number of a lock.
struct Fenced {
    token: String,
    /// The number that is proposed, or to be accepted.
    number: u64,
    /// The ttl, where the key is wanted too.
    ttl: Option<u64>,
}

/// Returns the requests for numbers in one call: one, or those of several locks.
fn fenced(request: &[Vec<u8>]) -> Vec<Fenced> {
    let words: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
    let [b"EVALSHA" | b"EVAL", _, keys, ref rest @ ..] = words[..] else { return Vec::new() };
    let locked = decimal(keys).and_then(|keys| usize::try_from(keys).ok()?.checked_sub(1));
    let behind_keys = locked.and_then(|locked| rest.get(locked..)).unwrap_or_default();
    let (Some(locked), [FENCES, rest @ ..]) = (locked, behind_keys) else { return Vec::new() };
    let all: Option<Vec<_>> = match rest.len() == 4 * locked {
        true => rest.chunks_exact(4).map(|words| Fenced::read(1, words)).collect(),
        false => Fenced::read(locked, rest).map(|one| vec![one]),
    };
    all.unwrap_or_default()
}

impl Fenced {
    /// Reads the words behind the hash, for a lock with so many keys.
    fn read(locked: usize, words: &[&[u8]]) -> Option<Self> {
        let (token, rest) = words.split_first()?;
        let (_, behind_stripes) = rest.split_at_checked(locked)?;
        let (number, ttl) = match behind_stripes {
            [number] => (decimal(number)?, None),
            [number, ttl] => (decimal(number)?, Some(decimal(ttl)?)),
            _ => return None,
        };
        (token.len() == TOKEN).then(|| Self { token: hex(token), number, ttl })
    }
}

/// Returns the tokens and the numbers that a node has accepted by this answer, and whether the node
/// was asked to accept that number.
fn accepts(request: &[Vec<u8>], reply: &[u8]) -> Vec<(String, u64, bool)> {
    let answered = fenced(request).into_iter().zip(integers(reply));
    let accepted = answered.filter_map(|(Fenced { token, number, ttl }, answer)| match answer? {
        1 if ttl.is_none() => Some((token, number, true)),
        drawn @ LEAST.. => Some((token, drawn, false)),
        _ => None,
    });
    accepted.collect()
}

/// Returns the answers in a reply that is one answer, or an array of them. An answer that is no
/// integer, or negative, is none.
fn integers(reply: &[u8]) -> Vec<Option<u64>> {
    let is_array = reply.starts_with(b"*");
    let lines = reply.split_inclusive(|byte| *byte == b'\n').skip(usize::from(is_array));
    lines.map(integer).collect()
}

/// Returns an answer that is an integer and not negative.
fn integer(reply: &[u8]) -> Option<u64> {
    decimal(reply.strip_prefix(b":")?.strip_suffix(b"\r\n")?)
}

fn decimal(text: &[u8]) -> Option<u64> {
    from_utf8(text).ok()?.parse().ok()
}

/// Returns the resource of a query to which the answer is that there is nothing: a script with one
/// key and nothing else, and nil where the value would be.
fn lacks(request: &[Vec<u8>], reply: &[u8]) -> Option<String> {
    let words: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
    let [b"EVALSHA" | b"EVAL", _, b"1", key] = words[..] else { return None };
    let is_nil = [&b"*2\r\n$-1\r\n"[..], b"*2\r\n_\r\n"].iter().any(|nil| reply.starts_with(nil));
    is_nil.then(|| String::from_utf8_lossy(key).into_owned())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first digit of each token that is kept, and its ttl.
    fn kept(request: &[&str], reply: &str) -> Vec<(char, u64)> {
        let request: Vec<_> = request.iter().map(|word| word.as_bytes().to_vec()).collect();
        let kept = promises(&request, reply.as_bytes());
        kept.iter().map(|(token, ttl)| (token.chars().nth(1).expect("hex"), *ttl)).collect()
    }

    type Row<'a> = (&'a [&'a str], &'a str, &'a [(char, u64)]);

    #[test]
    fn a_promise_is_a_good_answer_to_a_request_with_a_ttl() {
        let (a, b) = (&"1".repeat(TOKEN)[..], &"2".repeat(TOKEN)[..]);
        let set = ["SET", "k", a, "NX", "PX", "10"];
        let one = ["EVALSHA", "sha", "1", "k", a, "10"];
        let all = ["EVAL", "text", "2", "k", "l", a, "10"];
        let many = ["EVALSHA", "sha", "2", "k", "l", a, b, "10", "20"];
        let rows: [Row<'_>; 12] = [
            (&set, "+OK\r\n", &[('1', 10)]),
            (&set, "$-1\r\n", &[]),
            (&set, "_\r\n", &[]),
            (&set, "-OOM\r\n", &[]),
            (&one, ":1\r\n", &[('1', 10)]),
            (&one, ":0\r\n", &[]),
            (&one, ":-1\r\n", &[]),
            (&all, "+OK\r\n", &[('1', 10)]),
            (&many, "*2\r\n:1\r\n:1\r\n", &[('1', 10), ('2', 20)]),
            (&many, "*2\r\n:-1\r\n:1\r\n", &[('2', 20)]),
            // Releases.
            (&["EVALSHA", "sha", "2", "k", "l", a, b], "*2\r\n:1\r\n:1\r\n", &[]),
            (&["EVALSHA", "sha", "1", "k", a], ":1\r\n", &[]),
        ];
        for (request, reply, expected) in rows {
            assert_eq!(kept(request, reply), expected, "{request:?} {reply:?}");
        }
    }

    #[test]
    fn a_number_is_accepted_with_the_key_or_for_a_key_that_is_there() {
        const N: u64 = 5_000_000_000;
        let (a, n) = (&"1".repeat(TOKEN)[..], &N.to_string()[..]);
        let take = ["EVALSHA", "sha", "2", "k", "redbolt:fence", a, "7", n, "10"];
        let ask = &take[..8];
        let other = ["EVAL", "text", "2", "k", "l", a, "7", n];
        let take_set =
            ["EVALSHA", "sha", "4", "k", "l", "m", "redbolt:fence", a, "7", "8", "9", n, "10"];
        let ask_set = &take_set[..12];
        let short = ["EVAL", "text", "4", "k", "l", "m", "redbolt:fence", a, "7", "8", n];
        type Row<'a> = (&'a [&'a str], &'a str, &'a [(char, u64)], Option<(u64, bool)>);
        let rows: [Row<'_>; 15] = [
            // The votes, and the number.
            (&take, ":5000000001\r\n", &[('1', 10)], Some((N + 1, false))),
            (&take, "$-1\r\n", &[], None),
            (&take, ":1\r\n", &[], None),
            (&take, "-OOM\r\n", &[], None),
            (ask, ":1\r\n", &[], Some((N, true))),
            (ask, ":5000000001\r\n", &[], Some((N + 1, false))),
            (ask, ":-5000000001\r\n", &[], None),
            (ask, ":0\r\n", &[], None),
            (ask, ":-1\r\n", &[], None),
            (&other, ":5000000001\r\n", &[], None),
            // One number for three keys.
            (&take_set, ":5000000001\r\n", &[('1', 10)], Some((N + 1, false))),
            (&take_set, "$-1\r\n", &[], None),
            (ask_set, ":1\r\n", &[], Some((N, true))),
            (ask_set, ":5000000001\r\n", &[], Some((N + 1, false))),
            (&short, ":5000000001\r\n", &[], None),
        ];
        for (request, reply, votes, number) in rows {
            assert_eq!(kept(request, reply), votes, "{request:?} {reply:?}");
            let request: Vec<_> = request.iter().map(|word| word.as_bytes().to_vec()).collect();
            let found = accepts(&request, reply.as_bytes()).into_iter();
            let found: Vec<_> = found.map(|(_, number, is_raised)| (number, is_raised)).collect();
            assert_eq!(found, Vec::from_iter(number), "{reply:?}");
        }
    }

    #[test]
    fn each_lock_of_a_call_has_its_own_answer() {
        let (a, b) = (&"1".repeat(TOKEN)[..], &"2".repeat(TOKEN)[..]);
        let n = "5000000000";
        let words = ["EVALSHA", "sha", "3", "k", "l", "redbolt:fence"];
        let call = [&words[..], &[a, "7", n, "10", b, "8", n, "20"]].concat();
        type Row<'a> = (&'a str, &'a [(char, u64)], &'a [u64]);
        let rows: [Row<'_>; 4] = [
            ("*2\r\n:5000000001\r\n:5000000002\r\n", &[('1', 10), ('2', 20)], &[1, 2]),
            ("*2\r\n$-1\r\n:5000000002\r\n", &[('2', 20)], &[2]),
            ("*2\r\n_\r\n_\r\n", &[], &[]),
            ("-WRONGTYPE Operation against a key\r\n", &[], &[]),
        ];
        for (reply, votes, numbers) in rows {
            assert_eq!(kept(&call, reply), votes, "{reply:?}");
            let request: Vec<_> = call.iter().map(|word| word.as_bytes().to_vec()).collect();
            let found = accepts(&request, reply.as_bytes()).into_iter();
            let found: Vec<_> = found.map(|(_, number, _)| number - 5_000_000_000).collect();
            assert_eq!(found, numbers, "{reply:?}");
        }
    }

    #[test]
    fn a_query_is_a_script_with_a_key_and_nothing_else() {
        let query = ["EVAL", "text", "1", "r0"];
        let rows: [(&[&str], &str, Option<&str>); 6] = [
            (&query, "*2\r\n$-1\r\n:-2\r\n", Some("r0")),
            (&query, "*2\r\n_\r\n:-2\r\n", Some("r0")),
            (&query, "*2\r\n$1\r\na\r\n:10\r\n", None),
            (&query, "-NOPERM\r\n", None),
            (&["EVAL", "text", "1", "r0", "a"], "*2\r\n$-1\r\n:-2\r\n", None),
            (&["MGET", "r0", "r1"], "*2\r\n$-1\r\n$-1\r\n", None),
        ];
        for (request, reply, expected) in rows {
            let request: Vec<_> = request.iter().map(|word| word.as_bytes().to_vec()).collect();
            assert_eq!(lacks(&request, reply.as_bytes()).as_deref(), expected, "{reply:?}");
        }
    }
}
