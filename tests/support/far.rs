//! Proxies in front of real servers that are far away: every byte takes its time, in each
//! direction, and nothing else happens to it.
//!
//! Connections come up at once, as behind a tunnel or in a mesh: the client cannot tell by them how
//! far away the server is.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::now;

/// A proxy that delays.
pub(crate) struct FarAway {
    addr: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl FarAway {
    /// Starts a proxy in front of the server at this address. A round trip takes twice as long as
    /// the way.
    pub(crate) fn start(server: &str, way: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("it is bound");
        let (server, is_over) = (server.to_owned(), Arc::new(AtomicBool::new(false)));
        let is_told = Arc::clone(&is_over);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if is_told.load(Ordering::SeqCst) {
                    return;
                }
                // A server that is down refuses, and the client sees the end of the connection.
                if let Ok(server) = TcpStream::connect(&server) {
                    carry(&client, &server, way);
                    carry(&server, &client, way);
                }
            }
        });
        Self { addr, is_over }
    }

    /// Starts a proxy in front of each of these servers, each with its own way in milliseconds.
    pub(crate) fn start_all(servers: &[String], ways: &[u64]) -> Vec<Self> {
        let far = servers.iter().zip(ways);
        far.map(|(server, way)| Self::start(server, Duration::from_millis(*way))).collect()
    }

    pub(crate) fn addr(&self) -> String {
        self.addr.to_string()
    }
}

impl Drop for FarAway {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the listening thread. The connections end with their clients and servers.
        let _ = TcpStream::connect(self.addr);
    }
}

/// Carries bytes in one direction, until one end is gone.
fn carry(from: &TcpStream, to: &TcpStream, way: Duration) {
    let copy = |stream: &TcpStream| stream.try_clone().expect("a descriptor is free");
    let (mut from, to) = (copy(from), copy(to));
    to.set_nodelay(true).expect("it is a socket");
    let (sender, line) = channel();
    thread::spawn(move || {
        let mut buffer = [0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if sender.send((now() + way, buffer[..count].to_vec())).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || deliver(&line, &to));
}

/// Writes what is on the line, each piece when it is due.
fn deliver(line: &Receiver<(Duration, Vec<u8>)>, mut to: &TcpStream) {
    for (due, bytes) in line {
        while let Some(left) = due.checked_sub(now()).filter(|d| !d.is_zero()) {
            thread::park_timeout(left);
        }
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
