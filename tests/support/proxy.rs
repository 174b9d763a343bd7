//! A proxy in front of a real server that knows where replies begin and end, and can harm them.
//!
//! Each connection has two pumps, one for requests and one for replies. A rule can hold a direction
//! back, so that bytes wait in the proxy, or swallow its bytes. A rule applies to the present
//! connections and, if wanted, to later ones. Replies pass one by one, and a test can name the next
//! reply to harm. No thread waits for a time: pumps sleep until bytes come or the rules change.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use redis_protocol::resp2::decode as resp2;
use redis_protocol::resp3::decode::complete as resp3;

/// The direction of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Requests,
    Replies,
}

/// The fate of the bytes of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Rule {
    #[default]
    Pass,
    /// The bytes wait, in their order.
    Hold,
    /// The bytes vanish, and the sender does not learn of that.
    Swallow,
}

/// A test that finds the reply to harm, by its bytes.
type IsMeant = fn(&[u8]) -> bool;

/// The fate of one reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Harm {
    Lose,
    Double,
    /// Half of the reply arrives, then the connection ends.
    Cut,
}

pub(crate) struct Proxy {
    addr: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    rules: Mutex<Rules>,
    changed: Condvar,
}

#[derive(Default)]
struct Rules {
    is_over: bool,
    /// The address of the server.
    server: String,
    /// The rules for later connections.
    later: [Rule; 2],
    links: Vec<Link>,
    /// The test for the next reply to harm, and the harm.
    harm: Option<(IsMeant, Harm)>,
}

struct Link {
    rules: [Rule; 2],
    streams: [TcpStream; 2],
}

impl Proxy {
    /// Starts a proxy in front of the server at this address.
    pub(crate) fn start(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("it is bound");
        let state = Arc::<State>::default();
        state.lock().server = server.to_owned();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = match shared.lock() {
                    rules if rules.is_over => return,
                    rules => rules.server.clone(),
                };
                // A server that is down refuses, and the client sees the end of the connection.
                if let Ok(server) = TcpStream::connect(server) {
                    open(&shared, client, server);
                }
            }
        });
        Self { addr, state }
    }

    pub(crate) fn addr(&self) -> String {
        self.addr.to_string()
    }

    /// Leads to another server from now on. The present connections end.
    pub(crate) fn move_to(&self, server: &str) {
        let mut rules = self.state.lock();
        rules.server = server.to_owned();
        for stream in rules.links.iter().flat_map(|link| &link.streams) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Sets the rule of one direction for the present connections.
    pub(crate) fn set(&self, way: Way, rule: Rule) {
        self.state.lock().links.iter_mut().for_each(|link| link.rules[way as usize] = rule);
        self.state.changed.notify_all();
    }

    /// Sets the rule of one direction for the present and for later connections.
    pub(crate) fn set_all(&self, way: Way, rule: Rule) {
        self.state.lock().later[way as usize] = rule;
        self.set(way, rule);
    }

    /// Harms the next reply for which `is_meant` returns true.
    pub(crate) fn harm(&self, is_meant: IsMeant, harm: Harm) {
        self.state.lock().harm = Some((is_meant, harm));
    }

    /// Returns whether the harm is done.
    pub(crate) fn is_harmed(&self) -> bool {
        self.state.lock().harm.is_none()
    }

    /// Returns how many connections have been made so far.
    pub(crate) fn connections(&self) -> usize {
        self.state.lock().links.len()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut rules = self.state.lock();
        rules.is_over = true;
        for stream in rules.links.iter().flat_map(|link| &link.streams) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        drop(rules);
        self.state.changed.notify_all();
        // Wakes the listening thread.
        let _ = TcpStream::connect(self.addr);
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the rule of this direction is not to hold. Returns whether bytes may pass, or
    /// `None` at the end of the proxy.
    fn may_pass(&self, link: usize, way: Way) -> Option<bool> {
        let mut rules = self.lock();
        loop {
            match rules.links[link].rules[way as usize] {
                _ if rules.is_over => return None,
                Rule::Pass => return Some(true),
                Rule::Swallow => return Some(false),
                Rule::Hold => {
                    rules = self.changed.wait(rules).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn take_harm(&self, reply: &[u8]) -> Option<Harm> {
        let mut rules = self.lock();
        let (_, harm) = rules.harm.filter(|(is_meant, _)| is_meant(reply))?;
        rules.harm = None;
        Some(harm)
    }
}

fn open(state: &Arc<State>, client: TcpStream, server: TcpStream) {
    let copy = |stream: &TcpStream| stream.try_clone().expect("a descriptor is free");
    let mut rules = state.lock();
    let link = rules.links.len();
    let later = rules.later;
    rules.links.push(Link { rules: later, streams: [copy(&client), copy(&server)] });
    drop(rules);
    let pairs = [(Way::Requests, copy(&client), copy(&server)), (Way::Replies, server, client)];
    for (way, from, to) in pairs {
        let state = Arc::clone(state);
        thread::spawn(move || {
            pump(&state, link, way, &from, &to);
            // Only half is shut: bytes that are held in the other direction must still arrive.
            let _ = from.shutdown(Shutdown::Read);
            let _ = to.shutdown(Shutdown::Write);
        });
    }
}

/// Carries bytes until one end of the connection is gone.
fn pump(state: &State, link: usize, way: Way, mut from: &TcpStream, to: &TcpStream) {
    let (mut buffer, mut waiting, mut is_resp3) = ([0; 4096], Vec::new(), false);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let Some(may_pass) = state.may_pass(link, way) else { return };
        if !may_pass {
            continue;
        }
        waiting.extend_from_slice(&buffer[..count]);
        let carried = match way {
            Way::Requests => write(to, &std::mem::take(&mut waiting)),
            Way::Replies => carry_replies(state, &mut waiting, &mut is_resp3, to),
        };
        if carried.is_none() {
            return;
        }
    }
}

fn write(mut to: &TcpStream, bytes: &[u8]) -> Option<()> {
    to.write_all(bytes).ok()
}

/// Writes the whole replies among the bytes, one by one, and pushes as if they were replies. The
/// beginning of a further reply stays. The reply to `HELLO 3` is the first in RESP3.
fn carry_replies(
    state: &State,
    waiting: &mut Vec<u8>,
    is_resp3: &mut bool,
    to: &TcpStream,
) -> Option<()> {
    let mut done = 0;
    while let Some(first) = waiting.get(done) {
        *is_resp3 |= *first == b'%';
        let Some(used) = length(&waiting[done..], *is_resp3) else { break };
        let bytes = &waiting[done..done + used];
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
