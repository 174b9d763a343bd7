//! The engine inside another event loop, here one of mio: a server that numbers its visitors. Over
//! all instances of the server, one visitor at a time holds the lock. Three visitors come, and then
//! the server ends.
//!
//! ```text
//! cargo run --example foreign_loop --features embedded
//! cargo run --example foreign_loop -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```
//!
//! The loop watches one file descriptor of the engine. The descriptor becomes readable when a node
//! has answered, and also when a deadline of the engine has come. So the loop needs no timer.

mod common;

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use redbolt::{Config, Engine, Event, LockId};

const LISTENER: Token = Token(0);
const ENGINE: Token = Token(1);

const TTL: Duration = Duration::from_secs(10);
const WAIT: Duration = Duration::from_secs(20);
const VISITS: u64 = 3;

fn main() -> ExitCode {
    common::run(example)
}

pub(crate) fn example(config: Config) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0".parse()?)?;
    let address = listener.local_addr()?;
    let visits = thread::spawn(move || (0..VISITS).map(|_| visit(address)).collect());
    let count = serve(Engine::new(config)?, listener)?;
    let answers: Result<Vec<_>, _> = visits.join().expect("a visit does not panic");
    println!("{count} visitors were told: {}", answers?.join(", "));
    if count == VISITS { Ok(()) } else { Err("a visitor got no number".into()) }
}

/// Visits the server. Returns what the server says.
fn visit(server: SocketAddr) -> io::Result<String> {
    let mut answer = String::new();
    std::net::TcpStream::connect(server)?.read_to_string(&mut answer)?;
    Ok(answer.trim_end().to_owned())
}

/// Serves all visits. Returns how many visitors got a number.
fn serve(mut engine: Engine, mut listener: TcpListener) -> Result<u64, Box<dyn Error>> {
    let mut poll = Poll::new()?;
    let readable = Interest::READABLE;
    poll.registry().register(&mut listener, LISTENER, readable)?;
    // Once for the life of the engine: its descriptor never changes.
    poll.registry().register(&mut SourceFd(&engine.as_raw_fd()), ENGINE, readable)?;

    let mut visitors = Visitors::default();
    let mut events = Events::with_capacity(64);
    // The first turn of the engine starts to connect.
    engine.poll(Some(Duration::ZERO))?;
    while visitors.served < VISITS || engine.in_use() > 0 {
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
    // Out of the loop first: the engine closes its descriptor.
    poll.registry().deregister(&mut SourceFd(&engine.as_raw_fd()))?;
    Ok(visitors.count)
}

#[derive(Default)]
struct Visitors {
    waiting: HashMap<LockId, TcpStream>,
    /// How many have got a number, and how many have got any answer.
    count: u64,
    served: u64,
}

impl Visitors {
    fn handle(&mut self, engine: &mut Engine, event: Event) -> Result<(), Box<dyn Error>> {
        match event {
            Event::Acquired { lock, .. } => {
                self.count += 1;
                self.answer(lock, &format!("you are number {}", self.count));
                engine.release(lock)?;
            }
            Event::AcquireFailed { lock, .. } => {
                // The event knows the nodes by their numbers, the engine by their addresses.
                let reason = engine.display(&event).to_string();
                self.answer(lock, &format!("not now: {reason}"));
            }
            _ => {}
        }
        Ok(())
    }

    fn answer(&mut self, lock: LockId, words: &str) {
        if let Some(mut visitor) = self.waiting.remove(&lock) {
            self.served += 1;
            // The visitor may have closed the connection. That does not matter.
            let _ = writeln!(visitor, "{words}");
        }
    }
}
