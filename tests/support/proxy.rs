//! A proxy in front of a real server that knows where replies begin and end, and can harm them.
//!
//! Each connection has two pumps, one for requests and one for replies. A rule can hold a direction
//! back, so that bytes wait in the proxy, or swallow its bytes. A rule applies to the present
//! connections and, if wanted, to later ones. Replies pass one by one, and a test can name the next
//! reply to harm, or watch all of them. No thread waits for a time: pumps sleep until bytes come or
//! the rules change.

mod pump;

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use self::pump::{Lane, pump};

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

/// A test that wants to know each reply before the client does. `asked` is the time since boot at
/// which the whole request was in the proxy, on its way to the server.
pub(crate) type Watch = dyn Fn(Duration, &[Vec<u8>], &[u8]) + Send + Sync;

pub(crate) struct Proxy {
    addr: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    rules: Mutex<Rules>,
    changed: Condvar,
    watch: Option<Box<Watch>>,
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
    /// The streams; none when both pumps have ended, so that no descriptor is kept.
    streams: Vec<TcpStream>,
    pumps: usize,
    /// Whether the link was cut: then nothing passes any more.
    is_cut: bool,
}

impl Proxy {
    /// Starts a proxy in front of the server at this address.
    pub(crate) fn start(server: &str) -> Self {
        Self::launch(server, None)
    }

    /// Starts a proxy as [`Self::start`] does, which tells `watch` of every reply.
    pub(crate) fn watched(
        server: &str,
        watch: impl Fn(Duration, &[Vec<u8>], &[u8]) + Send + Sync + 'static,
    ) -> Self {
        Self::launch(server, Some(Box::new(watch)))
    }

    fn launch(server: &str, watch: Option<Box<Watch>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("it is bound");
        let state = Arc::new(State { watch, ..State::default() });
        state.lock().server = server.to_owned();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = match shared.lock() {
                    rules if rules.is_over => return,
                    rules => rules.server.clone(),
                };
                // A server that is down refuses, and the client sees the end of the connection.
                if let Ok(stream) = TcpStream::connect(&server) {
                    open(&shared, &server, client, stream);
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
        rules.cut();
        drop(rules);
        self.state.changed.notify_all();
    }

    /// Lets bytes pass in later connections. The present ones keep their rules and end: where bytes
    /// have vanished, none may follow.
    pub(crate) fn renew(&self) {
        let mut rules = self.state.lock();
        rules.later = [Rule::Pass; 2];
        rules.cut();
        drop(rules);
        self.state.changed.notify_all();
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
        rules.cut();
        drop(rules);
        self.state.changed.notify_all();
        // Wakes the listening thread.
        let _ = TcpStream::connect(self.addr);
    }
}

impl Rules {
    /// Ends all connections.
    fn cut(&mut self) {
        for link in &mut self.links {
            link.is_cut = true;
            for stream in &link.streams {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
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
                _ if rules.is_over || rules.links[link].is_cut => return None,
                Rule::Pass => return Some(true),
                Rule::Swallow => return Some(false),
                Rule::Hold => {
                    rules = self.changed.wait(rules).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn pump_ended(&self, link: usize) {
        let link = &mut self.lock().links[link];
        link.pumps -= 1;
        if link.pumps == 0 {
            link.streams = Vec::new();
        }
    }

    fn take_harm(&self, reply: &[u8]) -> Option<Harm> {
        let mut rules = self.lock();
        let (_, harm) = rules.harm.filter(|(is_meant, _)| is_meant(reply))?;
        rules.harm = None;
        Some(harm)
    }
}

fn open(state: &Arc<State>, addr: &str, client: TcpStream, server: TcpStream) {
    let copy = |stream: &TcpStream| stream.try_clone().expect("a descriptor is free");
    let mut rules = state.lock();
    // The proxy has moved meanwhile: no connection may lead to the old server any more.
    if rules.server != addr {
        return;
    }
    let link = rules.links.len();
    let (later, streams) = (rules.later, vec![copy(&client), copy(&server)]);
    rules.links.push(Link { rules: later, streams, pumps: 2, is_cut: false });
    drop(rules);
    let owed = Arc::default();
    let pairs = [(Way::Requests, copy(&client), copy(&server)), (Way::Replies, server, client)];
    for (way, from, to) in pairs {
        let (state, owed) = (Arc::clone(state), Arc::clone(&owed));
        thread::spawn(move || {
            pump(&state, Lane { link, way, owed: &owed }, &from, &to);
            // Only half is shut: bytes that are held in the other direction must still arrive.
            let _ = from.shutdown(Shutdown::Read);
            let _ = to.shutdown(Shutdown::Write);
            state.pump_ended(link);
        });
    }
}
