//! Several locks with fencing numbers in one script call (S13), on a master under the eyes of the
//! checks.

use std::time::Duration;

use redbolt::embedded::Session;
use redbolt::redlock::{ACQUIRE_FENCED, ACQUIRE_FENCED_MANY};
use redbolt::resp;
use redbolt::time::Instant;
use smallvec::SmallVec;

use crate::checks::Checks;
use crate::link::Link;
use crate::master::Node;
use crate::names::Resources;
use crate::request::{FENCES, Words, is, number, token_of};
use crate::thrift::Use;

/// One of the locks.
struct Wanted<'a> {
    key: &'a [u8],
    /// Its token, stripe, proposal and ttl.
    words: [&'a [u8]; 4],
}

/// Returns the locks that a call asks for; `None` for any other request.
fn read<'a>(words: &[&'a [u8]]) -> Option<SmallVec<[Wanted<'a>; 4]>> {
    let [b"EVALSHA" | b"EVAL", script, count, named @ ..] = words else { return None };
    if !is(script, ACQUIRE_FENCED_MANY) {
        return None;
    }
    let (keys, rest) = named.split_at_checked(number(count) as usize)?;
    let (hash, keys) = keys.split_last()?;
    assert_eq!((*hash, rest.len()), (FENCES, 4 * keys.len()), "a call with words of its own");
    let each = keys.iter().zip(rest.chunks_exact(4));
    let each = each.filter_map(|(key, words)| Some(Wanted { key, words: words.try_into().ok()? }));
    Some(each.collect())
}

/// Returns whether a request asks for several locks with numbers.
pub(crate) fn asks_together(words: &[&[u8]]) -> bool {
    read(words).is_some()
}

impl Node {
    /// Executes a call for several locks under the eyes of the checks. Returns `false` for any
    /// other request.
    pub(crate) fn observe_together(
        &mut self,
        now: u64,
        link: &mut Link,
        words: &Words<'_>,
        sent_at: Instant,
        checks: &mut Checks,
    ) -> bool {
        let Some(wanted) = read(words) else { return false };
        let start = self.out.len();
        self.reply(now, link, words, None);
        // The client will ask again in another form: with the text, or for one lock at a time.
        let other_form: [&[u8]; 2] = [b"-NOSCRIPT", b"-NOPERM No permissions to access a key"];
        if other_form.iter().any(|error| self.out[start..].starts_with(error)) {
            return true;
        }
        let numbers = numbers_in(&self.out[start..], wanted.len());
        let end = link.replies.end() + self.out.len() as u64;
        let from = (link.client, link.slot);
        for (Wanted { key, words: [token, _, _, ttl] }, drawn) in wanted.iter().zip(numbers) {
            let vote = self.vote(now, token_of(token), checks);
            self.given(now, link);
            let ttl = Duration::from_millis(number(ttl));
            checks.asked(now, from, vote.token, Resources::of_keys(&[*key]), sent_at, ttl);
            checks.used(now, from, &vote.token, Use::Other);
            let token = vote.token;
            if drawn.is_some() {
                link.votes.push_back((end, vote));
            }
            self.questioned(now, link, (&[*key], token), (start, drawn), checks);
        }
        true
    }

    /// Executes a call for several locks one by one, where some of the keys are no strings or the
    /// hash is none. Returns `false` for any other request, and where nothing is unusual.
    pub(crate) fn answer_together(
        &mut self,
        now: u64,
        session: &mut Session,
        words: &[&[u8]],
        is_spoiled: bool,
    ) -> bool {
        let Some(wanted) = read(words) else { return false };
        let is_strange = wanted.iter().any(|wanted| self.has_stranger(wanted.key));
        let (at, by_text) = (self.clock.show(now), words[0] == b"EVAL");
        let is_known = by_text || self.store.knows(at, ACQUIRE_FENCED_MANY);
        if !(is_strange || is_spoiled) || !is_known {
            return false;
        }
        if by_text {
            self.store.load(at, ACQUIRE_FENCED_MANY);
        }
        let start = self.out.len();
        resp::array_header(&mut self.out, wanted.len());
        for Wanted { key, words } in wanted {
            let head = [&b"EVAL"[..], ACQUIRE_FENCED.text.as_bytes(), b"2", key, FENCES];
            let single = [&head[..], &words].concat();
            let before = self.out.len();
            match is_spoiled {
                true => self.answer_spoiled(now, session, &single),
                false => self.execute(now, session, &single),
            }
            if self.out[before..].starts_with(b"-") {
                // An error is the answer to the call, whatever was executed before.
                self.out.copy_within(before.., start);
                let length = self.out.len() - before;
                self.out.truncate(start + length);
                break;
            }
        }
        true
    }
}

/// Returns the numbers in a reply with so many answers: none where the reply is an error.
fn numbers_in(reply: &[u8], count: usize) -> SmallVec<[Option<u64>; 4]> {
    let lines = reply.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    if lines.next().is_none_or(|header| !header.starts_with(b"*")) {
        return SmallVec::from_elem(None, count);
    }
    let numbers = lines.map(|line| line.strip_prefix(b":").map(number));
    numbers.collect()
}
