//! RESP3, and what a master tells its clients unasked: that its keys are gone, and that somebody
//! has written a key for which they have opted in. A key that ends by itself is not told: a server
//! can be late to notice.

use redbolt::resp;

use crate::answer::Mood;
use crate::checks::Checks;
use crate::link::Link;
use crate::master::Node;
use crate::net::Weather;
use crate::witness::{Call, is_witness};

const FLUSHED: &[u8] = b">2\r\n$10\r\ninvalidate\r\n_\r\n";
const WRITTEN: &[u8] = b">2\r\n$10\r\ninvalidate\r\n*1\r\n";

impl Node {
    /// Appends the reply to a request, in the protocol of the link.
    pub(crate) fn reply(&mut self, now: u64, link: &mut Link, words: &[&[u8]], look: Option<Call>) {
        let (start, is_look) = (self.out.len(), look.is_some());
        if self.answer_about_login(now, link, words) || self.answer_about_scripts(words) {
            return;
        }
        match words {
            [b"HELLO", ..] => return self.greet(now, link),
            [b"CLIENT", b"TRACKING", ..] => return self.track(now, link),
            [b"CLIENT", b"CACHING", ..] if link.tracks => {
                link.opts_in = true;
                return resp::simple(&mut self.out, b"OK");
            }
            _ => self.answer(now, &mut link.session, words, look),
        }
        let is_error = self.out[start..].starts_with(b"-");
        match words {
            [b"GET", key] | [b"GETRANGE", key, ..] if link.opts_in && !is_error => {
                self.care(link, key)
            }
            [b"GET" | b"GETRANGE" | b"PTTL" | b"TIME" | b"INFO" | b"CONFIG", ..] => {}
            [_, keys @ ..] if self.is_cared_for && !is_look && !is_error => self.touch(keys),
            _ => {}
        }
        link.opts_in = false;
        if link.is_resp3 && self.out[start..].ends_with(b"$-1\r\n") {
            self.out.truncate(self.out.len() - 5);
            self.out.extend_from_slice(b"_\r\n");
        }
    }

    fn greet(&mut self, now: u64, link: &mut Link) {
        if let Some(refusal) = self.refusal_to_track(now) {
            return resp::error(&mut self.out, refusal);
        }
        link.is_resp3 = true;
        resp::map_header(&mut self.out, 1);
        resp::bulk(&mut self.out, b"proto");
        resp::integer(&mut self.out, 3);
    }

    fn track(&mut self, now: u64, link: &mut Link) {
        if let Some(refusal) = self.refusal_to_track(now) {
            return resp::error(&mut self.out, refusal);
        }
        // Without RESP3 there is no way to tell.
        link.tracks = link.is_resp3;
        resp::simple(&mut self.out, b"OK");
    }

    /// Remembers that a client wants to be told of a key.
    fn care(&mut self, link: &mut Link, key: &[u8]) {
        if !link.cared_for.iter().any(|known| known == key) {
            link.cared_for.push(key.to_vec());
        }
        self.is_cared_for |= !is_witness(key);
    }

    /// Takes note of the locks that a request may have written: those of its words that somebody
    /// cares for.
    fn touch(&mut self, words: &[&[u8]]) {
        self.touched.extend(words.iter().map(|word| word.to_vec()));
    }

    fn refusal_to_track(&self, now: u64) -> Option<&'static str> {
        match self.face.mood(now) {
            Mood::Busy => Some("BUSY Redis is busy running a script."),
            Mood::Loading => Some("LOADING Redis is loading the dataset in memory"),
            _ if !self.face.tracks => Some("ERR unknown command"),
            _ => None,
        }
    }

    /// Deletes all keys, and tells at once.
    pub(crate) fn flush(&mut self, now: u64, weather: &mut Weather, checks: &mut Checks) {
        self.suspect_at = now;
        self.forget(now);
        let index = self.index;
        for link in self.links.iter_mut().filter(|link| is_told(link)) {
            checks.thrift.told(link.client);
            link.cared_for.clear();
            weather.reply(now, index, link, FLUSHED);
        }
    }
}

/// Tells the clients that have opted in, at the end of a turn, which keys somebody has touched.
pub(crate) fn tell_touched(
    now: u64,
    weather: &mut Weather,
    checks: &mut Checks,
    (master, links): (usize, &mut [Link]),
    touched: &[Vec<u8>],
) {
    let mut push = Vec::new();
    for link in links.iter_mut().filter(|link| is_told(link)) {
        for key in touched {
            let Some(place) = link.cared_for.iter().position(|known| known == key) else {
                continue;
            };
            link.cared_for.swap_remove(place);
            if !is_witness(key) {
                checks.thrift.told(link.client);
            }
            push.clear();
            push.extend_from_slice(WRITTEN);
            push.extend_from_slice(format!("${}\r\n", key.len()).as_bytes());
            push.extend_from_slice(key);
            push.extend_from_slice(b"\r\n");
            weather.reply(now, master, link, &push);
        }
    }
}

fn is_told(link: &Link) -> bool {
    link.tracks && link.is_served && link.is_heard
}
