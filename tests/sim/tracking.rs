//! RESP3, and what a master tells its clients unasked: that its keys are gone, and that somebody
//! has written the witness.

use redbolt::resp;

use crate::answer::Mood;
use crate::link::Link;
use crate::master::Node;
use crate::names::TENANT;
use crate::net::Weather;
use crate::witness::Call;

const FLUSHED: &[u8] = b">2\r\n$10\r\ninvalidate\r\n_\r\n";
const WRITTEN: &[u8] = b">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nredbolt:witness\r\n";
const WRITTEN_BY_TENANT: &[u8] =
    b">2\r\n$10\r\ninvalidate\r\n*1\r\n$22\r\ntenant:redbolt:witness\r\n";

impl Node {
    /// Appends the reply to a request, in the protocol of the link.
    pub(crate) fn reply(&mut self, now: u64, link: &mut Link, words: &[&[u8]], look: Option<Call>) {
        let start = self.out.len();
        if self.answer_about_login(now, link, words) || self.answer_about_scripts(words) {
            return;
        }
        match words {
            [b"HELLO", ..] => return self.greet(now, link),
            [b"CLIENT", b"TRACKING", .., witness] => return self.track(now, link, witness),
            _ => self.answer(now, &mut link.session, words, look),
        }
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

    fn track(&mut self, now: u64, link: &mut Link, witness: &[u8]) {
        if let Some(refusal) = self.refusal_to_track(now) {
            return resp::error(&mut self.out, refusal);
        }
        // Without RESP3 there is no way to tell.
        link.tracks = link.is_resp3;
        link.tracks_tenant = witness.starts_with(TENANT);
        resp::simple(&mut self.out, b"OK");
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
    pub(crate) fn flush(&mut self, now: u64, weather: &mut Weather) {
        self.suspect_at = now;
        self.forget(now);
        let (index, links) = (self.index, self.links.iter_mut());
        tell(now, weather, index, links, FLUSHED);
    }
}

/// Tells all clients that track, at the end of a turn, that somebody has written the witness.
pub(crate) fn tell_written<'a>(
    now: u64,
    weather: &mut Weather,
    master: usize,
    links: impl Iterator<Item = &'a mut Link>,
    of_tenant: bool,
) {
    let push = if of_tenant { WRITTEN_BY_TENANT } else { WRITTEN };
    let links = links.filter(|link| link.tracks_tenant == of_tenant);
    tell(now, weather, master, links, push);
}

fn tell<'a>(
    now: u64,
    weather: &mut Weather,
    master: usize,
    links: impl Iterator<Item = &'a mut Link>,
    push: &[u8],
) {
    for link in links.filter(|link| link.tracks && link.is_served && link.is_heard) {
        weather.reply(now, master, link, push);
    }
}
