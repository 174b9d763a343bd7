//! A distance to the servers: every chunk of bytes arrives later, by half a round trip each way.
//!
//! One thread serves all connections. Chunks that follow each other travel together, as on a real
//! line: a request does not wait for the answer to the one before. All chunks travel for the same
//! time, so they stand in one queue in the order in which they came, and no connection is served
//! before another. What a turn costs depends on what has come and what arrives, and not on how many
//! connections there are. The timer has no slack, and nobody spins: the processors belong to those
//! who are measured.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use redbolt::time::Instant;
use redbolt::{Clock, Timer};

use crate::Outcome;
use crate::args::Args;

/// How many chunks may be on their way in one direction.
const MOST_CHUNKS: usize = 4096;

/// How many bytes may have arrived that an end does not take.
const MOST_LEFT: usize = 1 << 20;

const TIMER: Token = Token(usize::MAX - 1);

struct Proxy {
    poll: Poll,
    timer: Timer,
    listeners: Vec<(TcpListener, String)>,
    /// No number is used again, so that a chunk of a connection that is gone is nobody else's.
    links: Vec<Option<Link>>,
    /// What is on its way, the next to arrive first.
    chunks: VecDeque<Chunk>,
    delay: Duration,
}

struct Chunk {
    due: Instant,
    link: usize,
    /// The end that the bytes come from. No bytes are its last word.
    end: usize,
    bytes: Vec<u8>,
}

/// A connection: the client's end and the server's, and what is on its way from each.
struct Link {
    ends: [TcpStream; 2],
    lanes: [Lane; 2],
}

#[derive(Default)]
struct Lane {
    /// How many chunks are on their way.
    chunks: usize,
    /// What has arrived, and the other end has not taken.
    left: Vec<u8>,
    /// Whether bytes were left at the end for lack of room. The kernel does not tell of them again.
    is_full: bool,
    /// Whether the end has nothing more to say.
    is_read: bool,
    /// Whether that has arrived.
    has_ended: bool,
    /// Whether the other end knows that.
    is_over: bool,
}

/// Stands in front of the nodes until standard input ends, and prints the addresses.
pub(crate) fn run(args: &Args) -> Outcome {
    let addresses = start(&args.nodes()?, args.duration("rtt", Duration::ZERO)?)?;
    println!("{}", addresses.join(","));
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// Starts a proxy in front of each node, for as long as the process lives. Returns the addresses.
pub(crate) fn start(nodes: &[String], round_trip: Duration) -> Outcome<Vec<String>> {
    let poll = Poll::new()?;
    let timer = Timer::new()?;
    poll.registry().register(&mut SourceFd(&timer.as_raw_fd()), TIMER, Interest::READABLE)?;
    let mut listeners = Vec::new();
    let mut addresses = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let mut listener = TcpListener::bind("127.0.0.1:0".parse()?)?;
        addresses.push(listener.local_addr()?.to_string());
        poll.registry().register(&mut listener, Token(number), Interest::READABLE)?;
        listeners.push((listener, node.clone()));
    }
    let (links, chunks) = (Vec::new(), VecDeque::new());
    let mut proxy = Proxy { poll, timer, listeners, links, chunks, delay: round_trip / 2 };
    thread::spawn(move || {
        let mut events = Events::with_capacity(1024);
        loop {
            proxy.turn(&mut events).expect("the proxy waits for its sockets");
        }
    });
    Ok(addresses)
}

impl Proxy {
    fn turn(&mut self, events: &mut Events) -> io::Result<()> {
        let due = self.chunks.front().map_or(Instant::FAR_FUTURE, |chunk| chunk.due);
        self.timer.set(due)?;
        match self.poll.poll(events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            outcome => outcome?,
        }
        for event in &*events {
            let Token(number) = event.token();
            if number < self.listeners.len() {
                self.accept(number)?;
            } else if event.token() == TIMER {
                self.timer.went_off();
            } else {
                let number = number - self.listeners.len();
                let (link, end) = (number / 2, number % 2);
                self.read(link, end);
                // The end takes more, perhaps, of what comes from the other one.
                self.flush(link, 1 - end);
            }
        }
        while self.chunks.front().is_some_and(|chunk| chunk.due <= Clock::now()) {
            let chunk = self.chunks.pop_front().expect("there is one");
            self.deliver(chunk);
        }
        Ok(())
    }

    fn accept(&mut self, number: usize) -> io::Result<()> {
        let (listener, node) = &self.listeners[number];
        while let Ok((client, _)) = listener.accept() {
            // A server that is down refuses, and the client sees the end of the connection.
            let Ok(server) = std::net::TcpStream::connect(node) else { continue };
            server.set_nonblocking(true)?;
            let mut ends = [client, TcpStream::from_std(server)];
            let first = self.listeners.len() + 2 * self.links.len();
            for (number, end) in ends.iter_mut().enumerate() {
                let _ = end.set_nodelay(true);
                let interest = Interest::READABLE | Interest::WRITABLE;
                self.poll.registry().register(end, Token(first + number), interest)?;
            }
            self.links.push(Some(Link { ends, lanes: Default::default() }));
        }
        Ok(())
    }

    /// Takes what has come from an end. A lane has the number of the end that it comes from.
    fn read(&mut self, link: usize, end: usize) {
        let Some(Some(Link { ends, lanes })) = self.links.get_mut(link) else { return };
        let lane = &mut lanes[end];
        let mut bytes = [0; 16 << 10];
        while lane.has_room() {
            let count = match ends[end].read(&mut bytes) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            lane.is_read = count == 0;
            lane.chunks += 1;
            let (due, bytes) = (Clock::now() + self.delay, bytes[..count].to_vec());
            self.chunks.push_back(Chunk { due, link, end, bytes });
        }
        lane.is_full = !lane.is_read && !lane.has_room();
    }

    fn deliver(&mut self, Chunk { link, end, bytes, .. }: Chunk) {
        let Some(Some(Link { lanes, .. })) = self.links.get_mut(link) else { return };
        let lane = &mut lanes[end];
        lane.chunks -= 1;
        lane.has_ended |= bytes.is_empty();
        lane.left.extend(bytes);
        self.flush(link, end);
    }

    /// Writes what has arrived. Where the other end takes no more, the rest waits until it does.
    fn flush(&mut self, link: usize, end: usize) {
        let Some(Some(Link { ends, lanes })) = self.links.get_mut(link) else { return };
        let (lane, other) = (&mut lanes[end], &mut ends[1 - end]);
        while !lane.left.is_empty() {
            match other.write(&lane.left) {
                Ok(count) => drop(lane.left.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // An end that is gone takes nothing: the other one will be told by its own.
                Err(_) => lane.left.clear(),
            }
        }
        if lane.has_ended && lane.left.is_empty() && !lane.is_over {
            let _ = other.shutdown(Shutdown::Write);
            lane.is_over = true;
        }
        if lane.is_full && lane.has_room() {
            self.read(link, end);
        } else if lanes.iter().all(|lane| lane.is_over) {
            self.links[link] = None;
        }
    }
}

impl Lane {
    /// What has ended or is full is not read.
    fn has_room(&self) -> bool {
        !self.is_read && self.chunks < MOST_CHUNKS && self.left.len() < MOST_LEFT
    }
}
