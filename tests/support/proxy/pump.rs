//! The carriers of bytes: one pump for each direction of a connection.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use redis_protocol::resp2::decode as resp2;
use redis_protocol::resp3::decode::complete as resp3;

use super::{Harm, State, Way};
use crate::support::now;
use crate::support::wire::read_request;

/// The first byte of what a server says unasked.
const PUSH: u8 = b'>';

/// The requests on their way to the server, each with the time at which it was whole.
pub(super) type Owed = Mutex<VecDeque<(Duration, Vec<Vec<u8>>)>>;

/// One direction of one connection.
pub(super) struct Lane<'a> {
    pub(super) link: usize,
    pub(super) way: Way,
    pub(super) owed: &'a Owed,
}

/// Carries bytes until one end of the connection is gone.
pub(super) fn pump(state: &State, lane: Lane<'_>, mut from: &TcpStream, to: &TcpStream) {
    let (mut buffer, mut waiting, mut is_resp3) = ([0; 4096], Vec::new(), false);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let read = now();
        let Some(may_pass) = state.may_pass(lane.link, lane.way) else { return };
        if !may_pass {
            continue;
        }
        waiting.extend_from_slice(&buffer[..count]);
        let carried = match lane.way {
            Way::Requests if state.watch.is_some() => {
                carry_requests(lane.owed, read, &mut waiting, to)
            }
            Way::Requests => write(to, &std::mem::take(&mut waiting)),
            Way::Replies => carry_replies(state, lane.owed, &mut waiting, &mut is_resp3, to),
        };
        if carried.is_none() {
            return;
        }
    }
}

fn write(mut to: &TcpStream, bytes: &[u8]) -> Option<()> {
    to.write_all(bytes).ok()
}

/// Writes the whole requests among the bytes. The beginning of a further request stays.
fn carry_requests(
    owed: &Owed,
    read: Duration,
    waiting: &mut Vec<u8>,
    to: &TcpStream,
) -> Option<()> {
    let mut rest = waiting.as_slice();
    let mut done = 0;
    // A request that is not whole yet is read as an error.
    while let Ok(Some(request)) = read_request(&mut rest) {
        owed.lock().unwrap_or_else(PoisonError::into_inner).push_back((read, request));
        done = waiting.len() - rest.len();
    }
    write(to, &waiting[..done])?;
    waiting.drain(..done);
    Some(())
}

/// Writes the whole replies among the bytes, one by one, and pushes as if they were replies. The
/// beginning of a further reply stays. The reply to `HELLO 3` is the first in RESP3.
fn carry_replies(
    state: &State,
    owed: &Owed,
    waiting: &mut Vec<u8>,
    is_resp3: &mut bool,
    to: &TcpStream,
) -> Option<()> {
    let mut done = 0;
    while let Some(first) = waiting.get(done) {
        *is_resp3 |= *first == b'%';
        let Some(used) = length(&waiting[done..], *is_resp3) else { break };
        let bytes = &waiting[done..done + used];
        if let Some(watch) = state.watch.as_ref().filter(|_| *first != PUSH) {
            let request = owed.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let (asked, request) = request?;
            watch(asked, &request, bytes);
        }
        match state.take_harm(bytes) {
            None => write(to, bytes)?,
            Some(Harm::Lose) => {}
            Some(Harm::Double) => write(to, &bytes.repeat(2))?,
            Some(Harm::Cut) => {
                write(to, &bytes[..used / 2])?;
                let _ = to.shutdown(Shutdown::Both);
                return None;
            }
        }
        done += used;
    }
    waiting.drain(..done);
    Some(())
}

/// Returns the length of the first reply, if it is there as a whole.
fn length(bytes: &[u8], is_resp3: bool) -> Option<usize> {
    if is_resp3 {
        resp3::decode(bytes).ok()?.map(|(_, used)| used)
    } else {
        resp2::decode(bytes).ok()?.map(|(_, used)| used)
    }
}
