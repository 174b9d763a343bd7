//! A client that writes and reads at the same time, and waits for nothing but the master.

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

pub(super) struct Client {
    stream: TcpStream,
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
        Self { stream }
    }

    /// Sends everything, and ends the conversation when as many replies are there; with `None`, the
    /// master has to end the conversation. Returns the replies.
    pub(super) fn talk(mut self, stream: &Stream, replies: Option<usize>) -> (Vec<u8>, End) {
        let mut pieces = stream.pieces();
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
            let is_ready = self.wait(!unsent.is_empty());
            assert!(is_ready, "{count} replies, and then silence: {}", stream.shown());
        }
    }

    /// Waits until the master has done something. Returns `false` if it does nothing.
    fn wait(&self, has_more: bool) -> bool {
        let wish = if has_more { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        // The fuzzer looks at its own clock by a signal.
        let ready = poll(&mut [PollFd::new(&self.stream, wish)], Some(&PATIENCE));
        matches!(ready, Ok(1) | Err(Errno::INTR))
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
