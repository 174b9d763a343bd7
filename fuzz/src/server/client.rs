//! A client that waits for nothing but the master. It writes and reads at the same time, or writes
//! everything before it reads.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use redbolt::resp::{self, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt;

use super::bytes::Stream;

/// Only a master that hangs takes as long.
const PATIENCE: Timespec = Timespec { tv_sec: 8, tv_nsec: 0 };

/// The most bytes that the system keeps between a master and a client that does not read, at both
/// ends, where only the master's end grows with the need.
pub(super) const SOCKETS: usize = 8 * 1024 * 1024;

pub(super) struct Client {
    stream: TcpStream,
    /// Whether everything was written that is to be written.
    is_through: bool,
}

/// Who ended a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Master,
    /// The client, when everything was sent and answered.
    Client,
}

impl Client {
    pub(super) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the master accepts connections");
        stream.set_nonblocking(true).expect("a socket can be nonblocking");
        // Without a reset at the end, each run would keep a port for a minute.
        sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).expect("a socket can linger");
        Self { stream, is_through: false }
    }

    /// Sends everything, as far as the master wants it, and reads nothing.
    pub(super) fn send(&mut self, stream: &Stream) {
        sockopt::set_socket_recv_buffer_size(&self.stream, 64 * 1024).expect("a size can be set");
        self.is_through = true;
        for mut piece in stream.pieces() {
            while !piece.is_empty() {
                match self.stream.write(piece) {
                    Ok(length) => piece = &piece[length..],
                    Err(error) if is_passing(&error) => {
                        let is_ready = self.wait(PollFlags::OUT);
                        assert!(is_ready, "a master stops reading: {}", stream.shown());
                    }
                    Err(_) => return,
                }
            }
        }
    }

    /// Sends what was not sent, and ends the conversation when as many replies are there; with
    /// `None`, the master has to end the conversation. Returns the replies.
    pub(super) fn talk(mut self, stream: &Stream, replies: Option<usize>) -> (Vec<u8>, End) {
        let mut pieces = stream.pieces().filter(|_| !self.is_through);
        let mut unsent: &[u8] = pieces.next().unwrap_or_default();
        let (mut read, mut done, mut count, mut end) = (Vec::new(), 0, 0, End::Master);
        let mut scratch = vec![0; 64 * 1024];
        loop {
            match self.stream.read(&mut scratch) {
                Ok(0) => return (read, end),
                Ok(length) => {
                    read.extend_from_slice(&scratch[..length]);
                    while let Ok(Status::Complete((_, used))) = resp::parse(&read[done..]) {
                        (done, count) = (done + used, count + 1);
                    }
                    continue;
                }
                Err(error) if is_passing(&error) => {}
                Err(_) => return (read, end),
            }
            match self.stream.write(unsent) {
                Err(error) if is_passing(&error) => {}
                // What cannot be written is not wanted. The replies can still be read.
                Err(_) => unsent = &[],
                Ok(length) => unsent = &unsent[length..],
            }
            if unsent.is_empty() {
                unsent = pieces.next().unwrap_or_default();
            }
            let is_over = unsent.is_empty() && replies.is_some_and(|replies| count >= replies);
            if is_over && end == End::Master {
                end = End::Client;
                // Fails when the master was quicker.
                let _ = self.stream.shutdown(Shutdown::Write);
            }
            let wish =
                if unsent.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
            let is_ready = self.wait(wish);
            assert!(is_ready, "{count} replies, and then silence: {}", stream.shown());
        }
    }

    /// Waits until the master has done something. Returns `false` if it does nothing.
    fn wait(&self, wish: PollFlags) -> bool {
        // The fuzzer looks at its own clock by a signal.
        let ready = poll(&mut [PollFd::new(&self.stream, wish)], Some(&PATIENCE));
        matches!(ready, Ok(1) | Err(Errno::INTR))
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
