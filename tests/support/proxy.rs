//! A proxy in front of a real server that knows where replies begin and end, and harms them.
//!
//! Each connection has two pumps, one for requests and one for replies. A direction can be held
//! back, so that bytes wait in the proxy, or swallowed, so that they are gone; both for the
//! connections that there are and, if wanted, for later ones. Replies pass one by one, and the next
//! that a test has named is harmed. Nobody waits for a time: pumps sleep until bytes come or the
//! rules change.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use redis_protocol::resp2::decode::decode;
use redis_protocol::resp2::types::OwnedFrame as Reply;

/// Which way bytes go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Requests,
    Replies,
}

/// What becomes of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Rule {
    #[default]
    Pass,
    /// They wait, in their order.
    Hold,
    /// They are gone, and the sender does not learn of it.
    Swallow,
}

/// Which reply is meant.
type IsMeant = fn(&Reply) -> bool;

/// What becomes of one reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Harm {
    Lose,
    Double,
    /// Half of it arrives, then the connection ends.
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
    /// For connections to come.
    later: [Rule; 2],
    links: Vec<Link>,
    /// The next reply that is so, harmed so.
    harm: Option<(IsMeant, Harm)>,
}

struct Link {
    rules: [Rule; 2],
    streams: [TcpStream; 2],
}

impl Proxy {
    /// A proxy in front of the server at this address.
    pub(crate) fn start(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("it is bound");
        let state = Arc::<State>::default();
        let (server, shared) = (server.to_owned(), Arc::clone(&state));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if shared.lock().is_over {
                    return;
                }
                // A server that is down refuses: the client sees its connection end.
                if let Ok(server) = TcpStream::connect(&server) {
                    open(&shared, client, server);
                }
            }
        });
        Self { addr, state }
    }

    pub(crate) fn addr(&self) -> String {
        self.addr.to_string()
    }

    /// Sets the rule of one direction for the connections that there are.
    pub(crate) fn set(&self, way: Way, rule: Rule) {
        self.state.lock().links.iter_mut().for_each(|link| link.rules[way as usize] = rule);
        self.state.changed.notify_all();
    }

    /// The same, and for those that come later.
    pub(crate) fn set_all(&self, way: Way, rule: Rule) {
        self.state.lock().later[way as usize] = rule;
        self.set(way, rule);
    }

    /// Harms the next reply that is as `is_meant` says.
    pub(crate) fn harm(&self, is_meant: IsMeant, harm: Harm) {
        self.state.lock().harm = Some((is_meant, harm));
    }

    /// Whether the harm is done.
    pub(crate) fn is_harmed(&self) -> bool {
        self.state.lock().harm.is_none()
    }

    /// How many connections have been made so far.
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
        // Wakes the thread that listens.
        let _ = TcpStream::connect(self.addr);
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until bytes of this direction need not wait; whether they may pass then. `None` at
    /// the end of the proxy.
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

    fn take_harm(&self, reply: &Reply) -> Option<Harm> {
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
            // What is on its way in a direction that is held must still arrive once it is not.
            let _ = from.shutdown(Shutdown::Read);
            let _ = to.shutdown(Shutdown::Write);
        });
    }
}

/// Carries bytes until an end of the connection is gone.
fn pump(state: &State, link: usize, way: Way, mut from: &TcpStream, to: &TcpStream) {
    let (mut buffer, mut waiting) = ([0; 4096], Vec::new());
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let Some(may_pass) = state.may_pass(link, way) else { return };
        if !may_pass {
            continue;
        }
        waiting.extend_from_slice(&buffer[..count]);
        let carried = match way {
            Way::Requests => write(to, &std::mem::take(&mut waiting)),
            Way::Replies => carry_replies(state, &mut waiting, to),
        };
        if carried.is_none() {
            return;
        }
    }
}

fn write(mut to: &TcpStream, bytes: &[u8]) -> Option<()> {
    to.write_all(bytes).ok()
}

/// Writes the whole replies among the bytes, one by one; what is left is the beginning of one.
fn carry_replies(state: &State, waiting: &mut Vec<u8>, to: &TcpStream) -> Option<()> {
    let mut done = 0;
    while let Ok(Some((reply, used))) = decode(&waiting[done..]) {
        let bytes = &waiting[done..done + used];
        match state.take_harm(&reply) {
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
