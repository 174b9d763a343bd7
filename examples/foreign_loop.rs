//! The engine inside another event loop: a server that numbers its visitors. Over all instances of
//! the server, one visitor at a time holds the lock.
//!
//! ```text
//! cargo run --example foreign_loop -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```
//!
//! The loop watches one file descriptor of the engine. The descriptor becomes readable when a node
//! has answered, and also when a deadline of the engine has come. So the loop needs no timer.

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
    // The first turn of the engine starts to connect.
    engine.poll(Some(Duration::ZERO))?;
    loop {
        poll.poll(&mut events, None)?;
        if events.iter().any(|event| event.token() == LISTENER) {
            while let Ok((visitor, _)) = listener.accept() {
                let lock = engine.acquire("visitors", TTL, WAIT)?;
                visitors.waiting.insert(lock, visitor);
            }
        }
        // One turn without waiting: reads the replies, and does the work that is due.
        engine.poll(Some(Duration::ZERO))?;
        while let Some(event) = engine.next_event() {
            visitors.handle(&mut engine, event)?;
        }
        // The commands that the events caused leave now, not in the next turn.
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
                    // The visitor may have closed the connection. That does not matter.
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
