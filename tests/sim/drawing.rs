//! Scripts about fencing numbers (S13) on a master, under the eyes of the checks.

use redbolt::embedded::Session;
use redbolt::redlock::{ACQUIRE_SET, Token};
use redbolt::resp;

use crate::checks::Checks;
use crate::fencers::FAR;
use crate::fences::Accept;
use crate::link::Link;
use crate::master::Node;
use crate::request::{Asked, Draw, Numbered, Words, number, token_of};

/// The least number of all.
const LEAST: u64 = 1 << 32;

impl Node {
    /// Returns how far the clock is from true time.
    pub(crate) fn clock_error(&self, now: u64) -> u64 {
        self.error(now).unsigned_abs()
    }

    /// Keeps the greatest distance of the clock from true time, of a clock that is not far away.
    pub(crate) fn note_clock(&mut self, now: u64) {
        let error = self.clock_error(now);
        self.is_far = error >= FAR / 2;
        if !self.is_far {
            self.error_max = self.error_max.max(error);
        }
    }

    /// Executes a script about the number of a lock under the eyes of the checks. Returns `false`
    /// for any other request.
    pub(crate) fn observe_draw(
        &mut self,
        now: u64,
        link: &mut Link,
        words: &Words<'_>,
        checks: &mut Checks,
    ) -> bool {
        let Some(Numbered { what, keys, token, asked }) = Numbered::read(words) else {
            return false;
        };
        let start = self.out.len();
        if self.is_blind && what == Draw::Raises && keys.len() == 1 {
            self.raise_blindly(now, words);
        } else {
            self.reply(now, link, words, None);
        }
        let accepted = number_in(&self.out[start..]);
        let accepted = match what {
            Draw::Raises => accepted.map(|_| asked),
            _ => accepted,
        };
        self.questioned(now, link, (keys, token_of(token)), (start, accepted), checks);
        true
    }

    /// Tells the checks of a script about the number of a lock, and whether the master has accepted
    /// one.
    pub(crate) fn questioned(
        &self,
        now: u64,
        link: &mut Link,
        (keys, token): (&[&[u8]], Token),
        (start, accepted): (usize, Option<u64>),
        checks: &mut Checks,
    ) {
        let from = (link.client, link.slot);
        checks.numbers_asked(now, from, token, self.is_far);
        if self.out[start..].starts_with(b"-NOSCRIPT") {
            return;
        }
        let Some(number) = accepted else { return };
        if !keys.iter().all(|key| self.holds(now, key, &token)) {
            let index = self.index;
            let what = format!("{number} for {token}, which is not at its keys");
            checks.fail(now, format_args!("S13: master {index} accepted {what}"));
        }
        let vote = self.vote(now, token, checks);
        let end = link.replies.end() + self.out.len() as u64;
        link.numbers.push_back((end, Accept { number, vote }));
    }

    /// Answers a script about numbers as a master does that has data of another type under their
    /// name: whatever stands before the first look at the numbers is executed.
    pub(crate) fn answer_spoiled(&mut self, now: u64, session: &mut Session, words: &[&[u8]]) {
        let before = self.out.len();
        if let Some(Asked { keys, token, ttl }) = Asked::read(words) {
            let count = keys.len().to_string();
            let head = [&b"EVAL"[..], ACQUIRE_SET.text.as_bytes(), count.as_bytes()];
            self.execute(now, session, &[&head[..], keys, &[token, ttl]].concat());
            if self.out[before..].starts_with(b"$-1") {
                return;
            }
            self.out.truncate(before);
        }
        let wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
        resp::error(&mut self.out, wrong);
    }

    /// Accepts a number whatever the key holds: a saboteur. The master is shown a key that does.
    fn raise_blindly(&mut self, now: u64, words: &Words<'_>) {
        const OTHER: &[u8] = b"another key";
        let before = self.out.len();
        self.command(now, &[b"SET", OTHER, words[5]]);
        self.out.truncate(before);
        let mut blind = words.clone();
        blind[3] = OTHER;
        self.command(now, &blind);
        let at = self.clock.show(now);
        self.store.delete(0, OTHER, at);
    }
}

/// Returns the number in a reply to a request for a key, if the master has drawn one.
pub(crate) fn drawn_in(words: &Words<'_>, reply: &[u8]) -> Option<u64> {
    number_in(reply).filter(|number| takes_with_number(words) && *number >= LEAST)
}

/// Returns whether a request takes keys and draws a number.
pub(crate) fn takes_with_number(words: &Words<'_>) -> bool {
    Numbered::read(words).is_some_and(|read| matches!(read.what, Draw::Takes(_)))
}

/// Returns the number in a reply that is one, and more than zero.
fn number_in(reply: &[u8]) -> Option<u64> {
    let digits = reply.strip_prefix(b":")?.strip_suffix(b"\r\n")?;
    let is_number = digits.iter().all(u8::is_ascii_digit);
    Some(number(digits)).filter(|number| is_number && *number > 0)
}
