//! The engine inside somebody else's loop: a server that numbers its visitors, one at a time over
//! all its instances.
//!
//! ```text
//! cargo run --example foreign_loop -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```
//!
//! The loop knows the engine by one descriptor. It becomes readable when a node has answered and
//! when a deadline of the engine has come, so the loop needs no timer for it.

mod common;

use std::collections::HashMap;
use std::error::Error;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use redbolt::{Config, Engine, Event, LockId};

const LISTENER: Token = Token(0);
const ENGINE: Token = Token(1);

const TTL: Duration = Duration::from_secs(10);
const WAIT: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    common::run(example)
}

fn example(config: Config) -> Result<(), Box<dyn Error>> {
    let mut engine = Engine::new(config)?;
    let mut listener = TcpListener::bind("127.0.0.1:0".parse()?)?;
    println!("visit {}", listener.local_addr()?);

    let mut poll = Poll::new()?;
    let readable = Interest::READABLE;
    poll.registry().register(&mut listener, LISTENER, readable)?;
    poll.registry().register(&mut SourceFd(&engine.as_raw_fd()), ENGINE, readable)?;

    let mut visitors = Visitors::default();
    let mut events = Events::with_capacity(64);
    // The first turn starts to connect.
    engine.poll(Some(Duration::ZERO))?;
    loop {
        poll.poll(&mut events, None)?;
        if events.iter().any(|event| event.token() == LISTENER) {
            while let Ok((visitor, _)) = listener.accept() {
                let lock = engine.acquire("visitors", TTL, WAIT)?;
                visitors.waiting.insert(lock, visitor);
            }
        }
        // One turn without waiting: it takes what has come and does what is due.
        engine.poll(Some(Duration::ZERO))?;
        while let Some(event) = engine.next_event() {
            visitors.handle(&mut engine, event)?;
        }
        // What the events made us ask for leaves now and not at the next turn.
        engine.flush()?;
    }
}

#[derive(Default)]
struct Visitors {
    waiting: HashMap<LockId, TcpStream>,
    count: u64,
}

impl Visitors {
    fn handle(&mut self, engine: &mut Engine, event: Event) -> Result<(), Box<dyn Error>> {
        match event {
            Event::Acquired { lock, .. } => {
                self.count += 1;
                if let Some(mut visitor) = self.waiting.remove(&lock) {
                    // A visitor who has gone away does not matter.
                    let _ = writeln!(visitor, "you are number {}", self.count);
                }
                engine.release(lock)?;
            }
            Event::AcquireFailed { lock, error } => {
                if let Some(mut visitor) = self.waiting.remove(&lock) {
                    let _ = writeln!(visitor, "not now: {error}");
                }
            }
            _ => {}
        }
        Ok(())
    }
}
