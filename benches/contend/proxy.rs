//! A distance to the servers: every chunk of bytes arrives later, by half a round trip each way.
//!
//! One thread serves all connections. Chunks that follow each other travel together, as on a real
//! line: a request does not wait for the answer to the one before. The thread asks the kernel to be
//! woken a little too early, by the slack that timers have, and looks again and again until then.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use redbolt::Clock;
use redbolt::time::Instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::Outcome;
use crate::args::Args;

/// By how much a timer of Linux may be late.
const SLACK: Duration = Duration::from_micros(60);

/// How many chunks may be on their way in one direction.
const MOST_CHUNKS: usize = 4096;

struct Proxy {
    listeners: Vec<(TcpListener, String)>,
    links: Vec<Link>,
    delay: Duration,
}

/// A connection: the client's end and the server's, and what is on its way to each.
struct Link {
    ends: [TcpStream; 2],
    lanes: [Lane; 2],
}

#[derive(Default)]
struct Lane {
    /// When each chunk arrives. An empty one is the end.
    chunks: VecDeque<(Instant, Vec<u8>)>,
    /// Whether the end has nothing more to say.
    is_read: bool,
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
    let mut listeners = Vec::new();
    let mut addresses = Vec::new();
    for node in nodes {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        addresses.push(listener.local_addr()?.to_string());
        listeners.push((listener, node.clone()));
    }
    let mut proxy = Proxy { listeners, links: Vec::new(), delay: round_trip / 2 };
    thread::spawn(move || {
        loop {
            proxy.turn();
        }
    });
    Ok(addresses)
}

impl Proxy {
    fn turn(&mut self) {
        for (link, end) in self.wait() {
            self.links[link].read(end, self.delay);
        }
        self.accept();
        self.links.iter_mut().for_each(Link::deliver);
        self.links.retain(|link| !link.lanes.iter().all(|lane| lane.is_over));
    }

    /// Waits for bytes, or until the next chunk arrives. Returns which ends of which links have
    /// bytes.
    fn wait(&self) -> Vec<(usize, usize)> {
        let due = self.links.iter().flat_map(|link| &link.lanes);
        let due = due.filter_map(|lane| lane.chunks.front()).map(|chunk| chunk.0).min();
        let left = due.map(|due| (due - Clock::now()).saturating_sub(SLACK));
        let left = left.map(|left| Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        });
        let mut wanted = Vec::new();
        let mut polled = Vec::new();
        for (number, link) in self.links.iter().enumerate() {
            for (end, _) in link.lanes.iter().enumerate().filter(|(_, lane)| lane.has_room()) {
                wanted.push((number, end));
                polled.push(PollFd::new(&link.ends[end], PollFlags::IN));
            }
        }
        let listeners = self.listeners.iter();
        polled.extend(listeners.map(|(listener, _)| PollFd::new(listener, PollFlags::IN)));
        // An interruption is a turn without work.
        let _ = poll(&mut polled, left.as_ref());
        let ready = wanted.into_iter().zip(&polled);
        ready.filter(|(_, one)| !one.revents().is_empty()).map(|(wanted, _)| wanted).collect()
    }

    fn accept(&mut self) {
        for (listener, node) in &self.listeners {
            while let Ok((client, _)) = listener.accept() {
                // A server that is down refuses, and the client sees the end of the connection.
                let Ok(server) = TcpStream::connect(node) else { continue };
                for end in [&client, &server] {
                    let _ = end.set_nodelay(true);
                    let _ = end.set_nonblocking(true);
                }
                self.links.push(Link { ends: [client, server], lanes: Default::default() });
            }
        }
    }
}

impl Lane {
    /// What has ended or is full is not read, and would wake the thread for nothing.
    fn has_room(&self) -> bool {
        !self.is_read && self.chunks.len() < MOST_CHUNKS
    }
}

impl Link {
    /// Takes what has come from an end. A lane has the number of the end that it comes from.
    fn read(&mut self, end: usize, delay: Duration) {
        let (stream, lane) = (&mut self.ends[end], &mut self.lanes[end]);
        let mut chunk = [0; 16 << 10];
        while lane.has_room() {
            let count = match stream.read(&mut chunk) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => 0,
            };
            lane.is_read = count == 0;
            lane.chunks.push_back((Clock::now() + delay, chunk[..count].to_vec()));
        }
    }

    /// Writes what arrives by now. Where an end takes no more, the rest comes later.
    fn deliver(&mut self) {
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            let end = &mut self.ends[1 - number];
            while let Some((due, chunk)) = lane.chunks.front_mut() {
                if *due > Clock::now() {
                    break;
                }
                if chunk.is_empty() {
                    let _ = end.shutdown(Shutdown::Write);
                    lane.is_over = true;
                    lane.chunks.pop_front();
                    continue;
                }
                match end.write(chunk) {
                    Ok(count) if count < chunk.len() => drop(chunk.drain(..count)),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // An end that is gone takes nothing: the other end will be told by its own.
                    Ok(_) | Err(_) => drop(lane.chunks.pop_front()),
                }
            }
        }
    }
}
