//! What must be true of fencing numbers (S13), checked from outside.
//!
//! The checks see what masters execute and what clients are told, and the true time of both. They
//! know nothing of the numbers that a client keeps in its mind.
//!
//! * *On the wire*: a number that a client is told was accepted by a quorum of masters for this
//!   lock, in answers that have reached the client, each by a script that has seen the token. No
//!   master counts whose data may be younger than the clocks of two masters can be apart (S11), and
//!   no master whose clock is far away is asked at all.
//! * *P1*: no number comes twice in a stripe, and a number that was told before the first master
//!   was asked for another one is smaller. This needs no clock, and holds outside the model too.
//! * *P2*: the numbers of a resource grow in the order in which they were told. Inside the model
//!   only: there the hold of whoever was told before has ended.
//! * *P3*: both hold although masters have lost their numbers, as long as the clock of every master
//!   that takes part was within `fence_skew` of true time.
//! * *Thrift*: a lock costs a bounded number of scripts.

use core::hash::BuildHasherDefault;
use std::collections::HashMap;

use redbolt::redlock::Token;
use smallvec::SmallVec;

use crate::checks::{Checks, Vote};
use crate::master::MASTERS_MAX;
use crate::mixer::Mixer;
use crate::names::{self, Resources};
use crate::world::CLIENTS_MAX;

/// The most numbers that masters are asked to accept in the second trip of one draw.
const RAISES: u64 = 4;

/// The forms of one script call: by name, and with the text.
const FORMS: u64 = 2;

/// A number that a master has accepted.
#[derive(Clone, Copy)]
pub(crate) struct Accept {
    pub(crate) number: u64,
    pub(crate) vote: Vote,
}

/// What the world lets numbers promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Promise {
    /// Masters have forgotten numbers, and clocks are wrong or nobody looks.
    Nothing,
    /// P1: the order of what did not overlap.
    Apart,
    /// P2 as well: the order of holding.
    Holding,
}

/// A number that a client was told.
pub(crate) struct Told {
    pub(crate) client: usize,
    pub(crate) prefix: &'static [u8],
    pub(crate) resources: Resources,
    pub(crate) token: Token,
    pub(crate) number: u64,
    /// The true time of a question for a number, for a lock that is held.
    pub(crate) drawn_since: Option<u64>,
    pub(crate) promise: Promise,
    /// Masters have forgotten numbers.
    pub(crate) is_forgotten: bool,
}

/// All numbers of a world.
#[derive(Default)]
pub(crate) struct Fences {
    locks: HashMap<Token, Lock, BuildHasherDefault<Mixer>>,
    /// By stripe: what clients were told, in this order.
    told: HashMap<u16, Vec<Before>>,
    counts: [u64; 3],
}

/// A number that a client was told, and the key and the true time.
struct Before {
    token: Token,
    number: u64,
    key: &'static [u8],
    at: u64,
}

/// What masters were asked and have accepted for one lock.
#[derive(Default)]
struct Lock {
    /// By client and number: the masters whose answers have come, one bit each.
    accepted: SmallVec<[(usize, u64, u32); 4]>,
    /// By client: how often a number was drawn while the lock was held.
    draws: [u64; CLIENTS_MAX],
    scripts: [[u16; MASTERS_MAX]; CLIENTS_MAX],
}

impl Fences {
    /// Returns how many numbers clients were told, how many of them had to be in the order of
    /// holding, and how many of those behind a loss of numbers.
    pub(crate) fn counts(&self) -> [u64; 3] {
        self.counts
    }

    /// Forgets a token that its client is allowed to use again.
    pub(crate) fn begins_anew(&mut self, token: &Token) {
        self.locks.remove(token);
    }

    /// Records that a client has asked for a number for a lock that is held.
    pub(crate) fn draws(&mut self, client: usize, token: Token) {
        self.locks.entry(token).or_default().draws[client] += 1;
    }
}

impl Checks {
    /// Records that a master executes a script about numbers.
    pub(crate) fn numbers_asked(
        &mut self,
        now: u64,
        (client, slot): (usize, usize),
        token: Token,
        is_far: bool,
    ) {
        let lock = self.fences.locks.entry(token).or_default();
        let count = &mut lock.scripts[client][slot];
        *count = count.saturating_add(1);
        let (count, draws) = (u64::from(*count), lock.draws[client]);
        let most = FORMS * (1 + draws) * (1 + RAISES);
        if count > most {
            let what = format!("{count} scripts for {token} on node {slot}, of {most}");
            self.fail(now, format_args!("thrift: client {client} sent {what}"));
        }
        if is_far && self.rules.quarantines {
            let what = format!("client {client} asked node {slot}, whose clock is far away");
            self.fail(now, format_args!("S13: {what}, about {token}"));
        }
    }

    /// Records that a client has received the word of a master that it has accepted a number.
    pub(crate) fn accepted(&mut self, now: u64, client: usize, accept: &Accept) {
        let Accept { number, vote: Vote { token, master, is_fit, suspect_at, .. } } = *accept;
        if !is_fit || !self.trusts_numbers(now, suspect_at) {
            return;
        }
        let accepted = &mut self.fences.locks.entry(token).or_default().accepted;
        let known = accepted.iter_mut().find(|(by, other, _)| (*by, *other) == (client, number));
        match known {
            Some((_, _, masters)) => *masters |= 1 << master,
            None => accepted.push((client, number, 1 << master)),
        }
    }

    /// Checks a number that a client was told.
    pub(crate) fn told(&mut self, now: u64, told: &Told) {
        let Told { client, token, number, .. } = *told;
        let lock = self.fences.locks.get(&token);
        let accepted = lock.into_iter().flat_map(|lock| &lock.accepted);
        let masters = accepted.filter(|(by, other, _)| (*by, *other) == (client, number));
        let votes = masters.map(|(.., masters)| masters.count_ones() as usize).sum::<usize>();
        let need = self.rules.quorum;
        let is_ordered = told.promise == Promise::Holding;
        let counted = [true, is_ordered, is_ordered && told.is_forgotten];
        self.fences.counts.iter_mut().zip(counted).for_each(|(sum, one)| *sum += u64::from(one));
        if votes < need {
            let what = format!("{number} for {token}, which {votes} of {need} masters accepted");
            self.fail(now, format_args!("S13: client {client} was told {what}"));
        }
        for resource in told.resources.iter() {
            self.order(now, told, names::key(told.prefix, resource));
        }
    }

    /// Checks a number against those that were told before.
    fn order(&mut self, now: u64, told: &Told, key: &'static [u8]) {
        let Told { client, token, number, promise, is_forgotten, .. } = *told;
        let asked_at = self.attempts.get(&token).map_or(now, |attempt| attempt.seen_at);
        let asked_at = told.drawn_since.unwrap_or(asked_at);
        let before = self.fences.told.entry(stripe(key)).or_default();
        let (mut is_twice, mut largest, mut largest_apart) = (false, 0, 0);
        for Before { token: by, number: other, key: of, at } in before.iter() {
            // Two keys of one lock can be in one stripe, and have the same number at once.
            is_twice |= *other == number && (*by, *at) != (token, now);
            if *of == key {
                largest = largest.max(*other);
            }
            if *at < asked_at {
                largest_apart = largest_apart.max(*other);
            }
        }
        before.push(Before { token, number, key, at: now });
        let name = |usual| if is_forgotten { "P3" } else { usual };
        let (rule, other) = match promise {
            Promise::Nothing => return,
            _ if is_twice => (name("P1"), number),
            _ if largest_apart > number => (name("P1"), largest_apart),
            Promise::Holding if largest > number => (name("P2"), largest),
            _ => return,
        };
        let what = format!("{number}, and somebody was told {other} before");
        self.fail(now, format_args!("{rule}: client {client} was told {what}"));
    }
}

/// Returns the stripe of a key: the slot of a cluster, CRC16 (XMODEM) cut to fourteen bits, written
/// once more.
fn stripe(key: &[u8]) -> u16 {
    let mut crc = 0_u32;
    for byte in key {
        crc ^= u32::from(*byte) << 8;
        for _ in 0..8 {
            crc = if crc >> 15 & 1 == 1 { crc << 1 ^ 0x1_1021 } else { crc << 1 };
        }
    }
    (crc & 0x3fff) as u16
}
