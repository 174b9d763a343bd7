//! A server that lies, on a socket that the target serves between two turns of the engine.

use std::collections::{HashSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use bytes::BytesMut;
use redbolt::embedded::{Master, Session};
use redbolt::redlock::{ACQUIRE_SET, Fence, Token};
use redbolt::resp::{self, Status, Value};
use redbolt::time::Instant;
use rustix::net::sockopt;

use super::super::commands::{command, look, resp3};
use super::super::lies::Lie;
use super::super::questions::{First, Question, What, answers};
#[cfg(feature = "tls")]
use super::secure::{Face, Harm, Secure};
use super::wire::Wire;

/// The most bytes that a server takes or writes in one turn.
const TURN: usize = 64 * 1024;

/// A request, with what matters if its reply is a vote.
enum Owed {
    Vote(Token),
    /// The requests for numbers in one command, each with its number.
    Numbers(Vec<(What, Token, i64)>),
    Other,
}

pub(super) struct Peer {
    listener: TcpListener,
    wire: Option<Wire>,
    /// Which certificate the server shows; `None` without TLS.
    #[cfg(feature = "tls")]
    face: Option<Face>,
    session: Session,
    /// Bytes of the engine that are not executed, and how many of them are known requests.
    input: Vec<u8>,
    known: usize,
    /// Replies that are not written.
    output: VecDeque<u8>,
    /// The written bytes that are not yet a whole reply, or for which no request has come. A server
    /// can answer what it has not read.
    told: Vec<u8>,
    /// The requests that have come, and have no reply yet.
    owed: VecDeque<Owed>,
    /// The tokens whose `SET` was answered with `+OK`, or whose script with a number.
    pub(super) granted: HashSet<Token>,
    /// The numbers that were answered, each for the lock with this token.
    pub(super) accepted: HashSet<(Token, Fence)>,
    /// How many bytes are written in a turn.
    pub(super) pace: usize,
    knows_resp3: bool,
}

impl Peer {
    pub(super) fn new(knows_resp3: bool) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there are free ports");
        listener.set_nonblocking(true).expect("a socket can be nonblocking");
        Self {
            listener,
            wire: None,
            #[cfg(feature = "tls")]
            face: None,
            session: Session::default(),
            input: Vec::new(),
            known: 0,
            output: VecDeque::new(),
            told: Vec::new(),
            owed: VecDeque::new(),
            granted: HashSet::new(),
            accepted: HashSet::new(),
            pace: TURN,
            knows_resp3,
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.listener.local_addr().expect("it is bound")
    }

    /// Takes a waiting connection in the place of the one before.
    pub(super) fn accept(&mut self) {
        if let Ok((stream, _)) = self.listener.accept() {
            self.close();
            stream.set_nonblocking(true).expect("a socket can be nonblocking");
            // A connection that is reset keeps no port for a minute.
            sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).expect("it can linger");
            self.wire = Some(self.wire_of(stream));
        }
    }

    #[cfg(not(feature = "tls"))]
    fn wire_of(&self, stream: TcpStream) -> Wire {
        Wire::Plain(stream)
    }

    #[cfg(feature = "tls")]
    fn wire_of(&self, stream: TcpStream) -> Wire {
        match self.face {
            None => Wire::Plain(stream),
            Some(face) => Secure::accept(stream, face),
        }
    }

    /// Has the next connections begin with TLS, by this certificate.
    #[cfg(feature = "tls")]
    pub(super) fn show(&mut self, face: Face) {
        self.face = Some(face);
    }

    /// Does something to the records of TLS.
    #[cfg(feature = "tls")]
    pub(super) fn harm(&mut self, harm: Harm) {
        if let Some(Wire::Tls(secure)) = &mut self.wire {
            secure.harm(harm);
        }
    }

    pub(super) fn close(&mut self) {
        self.wire = None;
        self.session = Session::default();
        self.pace = TURN;
        self.input.clear();
        self.known = 0;
        self.output.clear();
        self.told.clear();
        self.owed.clear();
    }

    /// Writes these bytes behind the replies.
    pub(super) fn say(&mut self, bytes: &[u8]) {
        if self.wire.is_some() {
            self.output.extend(bytes);
        }
    }

    /// Reads, executes and answers. One reply may be a lie.
    pub(super) fn serve(&mut self, now: Instant, master: &mut Master, lie: Option<Lie>) {
        self.read();
        let (mut done, mut count) = (0, 0);
        while let Some((words, used)) = command(&self.input[done..]) {
            let lie = lie.filter(|lie| lie.at == count);
            let mut out = BytesMut::new();
            if lie.is_none_or(|lie| lie.is_executed) {
                match resp3(&words).filter(|_| self.knows_resp3) {
                    Some(answer) => out.extend_from_slice(answer),
                    None => master.apply(now, &mut self.session, &words, &mut out),
                }
            }
            match lie {
                Some(lie) => self.output.extend(lie.tell(&out)),
                None => self.output.extend(&out[..]),
            }
            (done, count) = (done + used, count + 1);
        }
        self.input.drain(..done);
        self.known = 0;
        self.write();
    }

    /// Returns the index of the first look among the whole commands that have come.
    pub(super) fn look(&self) -> Option<usize> {
        look(&self.input)
    }

    /// Returns the first command with a request for a number among the whole ones that have come.
    pub(super) fn question(&self) -> Option<First> {
        Question::first(&self.input)
    }

    pub(super) fn read(&mut self) {
        let Some(wire) = &mut self.wire else { return };
        let is_open = wire.read(&mut self.input);
        assert!(self.input.len() < TURN, "a client sends without end");
        while let Some((words, used)) = command(&self.input[self.known..]) {
            self.owed.push_back(Owed::new(&words));
            self.known += used;
        }
        self.settle();
        if !is_open {
            self.close();
        }
    }

    fn write(&mut self) {
        let Some(wire) = &mut self.wire else { return };
        let bytes = self.output.make_contiguous();
        let length = bytes.len().min(self.pace);
        let Ok(length) = wire.write(&bytes[..length]) else { return };
        self.told.extend(self.output.drain(..length));
        self.settle();
    }

    /// Notes what the written replies say to the requests that have come.
    fn settle(&mut self) {
        let mut done = 0;
        while let Ok(Status::Complete((value, used))) = resp::parse(&self.told[done..]) {
            if matches!(value, Value::Push(_)) {
                done += used;
                continue;
            }
            let Some(owed) = self.owed.pop_front() else { break };
            done += used;
            match (owed, value) {
                (Owed::Vote(token), Value::Simple(b"OK")) => {
                    self.granted.insert(token);
                }
                (Owed::Numbers(asked), value) => {
                    for ((what, token, asked), answer) in asked.into_iter().zip(answers(&value)) {
                        if let Some(fence) = what.accepted(asked, &answer) {
                            self.granted.extend(Some(token).filter(|_| what == What::Acquire));
                            self.accepted.insert((token, fence));
                        }
                    }
                }
                _ => {}
            }
        }
        self.told.drain(..done);
    }
}

impl Owed {
    fn new(words: &[&[u8]]) -> Self {
        let asked = Question::read_all(words).into_iter();
        let asked: Vec<_> = asked.map(|asked| (asked.what, asked.token, asked.number)).collect();
        match asked.is_empty() {
            false => Self::Numbers(asked),
            true => token(words).map_or(Self::Other, Self::Vote),
        }
    }
}

/// Returns the token in a request for a lock.
fn token(words: &[&[u8]]) -> Option<Token> {
    let token = match words {
        [b"SET", _, token, ..] => token,
        [b"EVAL" | b"EVALSHA", script, count, rest @ ..] => {
            let is_it = [ACQUIRE_SET.sha.as_bytes(), ACQUIRE_SET.text.as_bytes()].contains(script);
            let keys: usize = std::str::from_utf8(count).ok()?.parse().ok()?;
            rest.get(keys).filter(|_| is_it)?
        }
        _ => return None,
    };
    Some(Token::from_bytes((*token).try_into().ok()?))
}
