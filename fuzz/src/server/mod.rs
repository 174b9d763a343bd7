//! The embedded master behind a socket, and a client that writes anything.
//!
//! The bytes are requests that are whole, damaged, endless or invented, and come in pieces. The
//! checks count from outside: one reply for each request and no more, nothing behind a request that
//! cannot be read, an end for a request that is too long, and no more keys than the options allow.
//! A client that reads nothing until the master has had its turns finds no more replies than a
//! master keeps. Another client must be served at once afterwards. `fuzz/run.sh` bounds the memory
//! of the process and of a single allocation.

mod bytes;
mod client;

use arbitrary::{Result, Unstructured};
use redbolt::embedded::{Options, Server};
use redbolt::resp::{self, Status, Value};

use self::bytes::Stream;
use self::client::{Client, End, SOCKETS};

/// The longest request that a master takes, in bytes, and the most that it reads at a time: of a
/// request that is longer by so much, it has always seen too much before the end.
const INPUT_MAX: usize = 1024 * 1024;
const SCRATCH: usize = 64 * 1024;

/// The fewest bytes that a master takes from one client before another client has its turn, unless
/// there are no more.
const TURN: usize = 256 * 1024;

/// More bytes of unread replies than a master keeps for a client that sends faster than it reads.
const OUTPUT_MAX: usize = 4 * 1024 * 1024;

/// The keys of a master, and the keys of its witnesses, which do not count.
const MAX_KEYS: usize = 2;
const MAX_WITNESSES: usize = 64;

const PASSWORD: &str = "secret";

/// What a master must do with some bytes.
#[derive(Debug, Default)]
struct Expected {
    replies: usize,
    /// The connection ends behind the last reply.
    is_closed: bool,
    /// The longest request. A value in a reply is not longer.
    longest: usize,
    /// The replies may be more than the master keeps, or a request is about as long as one may be:
    /// then the connection may end earlier.
    is_open: bool,
}

/// Starts a master, and plays the script.
///
/// # Panics
///
/// Panics if the master does not serve, or answers as it must not.
pub fn server(data: &[u8]) {
    let mut script = Unstructured::new(data);
    // A script that ends early has said enough.
    let _ = play(&mut script);
}

fn play(script: &mut Unstructured<'_>) -> Result<()> {
    let has_password = script.ratio(1, 4)?;
    let options = Options::default().max_keys(MAX_KEYS);
    let options = if has_password { options.password(PASSWORD) } else { options };
    let stream = Stream::compose(script)?;
    let server = Server::bind(0, options).expect("the system has sockets and threads");
    let expected = Expected::of(&stream.bytes);
    let awaited = Some(expected.replies).filter(|_| !expected.is_closed);
    let mut client = Client::connect(server.addr());
    let is_deaf = script.ratio(1, 3)?;
    if is_deaf {
        client.send(&stream);
        give_turns(&server, stream.bytes.len() / TURN + 2);
    }
    let (replies, end) = client.talk(&stream, awaited);
    expected.check(&stream, &replies, end);
    if is_deaf {
        let most = OUTPUT_MAX + expected.longest + SOCKETS;
        let kept = replies.len();
        assert!(kept <= most, "{kept} bytes kept for a client that does not read");
    }
    let witnesses = if stream.can_make_witnesses() { MAX_WITNESSES } else { 0 };
    inspect(&server, MAX_KEYS + witnesses);
    server.stop().expect("the thread of a master does not end by itself");
    Ok(())
}

impl Expected {
    fn of(bytes: &[u8]) -> Self {
        let mut expected = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() && !expected.is_closed {
            let used = expected.read(rest);
            expected.longest = expected.longest.max(used);
            rest = &rest[used.min(rest.len())..];
        }
        // Each reply has a few kilobytes, or repeats a value.
        expected.is_open |= expected.replies * (4 * 1024 + expected.longest) > OUTPUT_MAX;
        expected
    }

    /// Reads one request. Returns how many bytes it has.
    fn read(&mut self, rest: &[u8]) -> usize {
        let (words, used) = match resp::parse(rest) {
            Ok(Status::Complete((Value::Array(words), used))) if rest[0] == b'*' => (words, used),
            Ok(Status::Complete((Value::Null, used))) if rest[0] == b'*' => return used,
            Ok(Status::Partial) if rest[0] == b'*' => {
                self.is_closed = rest.len() > INPUT_MAX;
                self.replies += usize::from(self.is_closed);
                return rest.len();
            }
            // An inline command, or no request at all.
            _ => {
                self.is_closed = true;
                self.replies += 1;
                return rest.len();
            }
        };
        if used > INPUT_MAX + SCRATCH {
            self.is_closed = true;
            self.replies += 1;
            return rest.len();
        }
        self.is_open |= used > INPUT_MAX;
        self.replies += usize::from(words.len() > 0);
        let words = words.map(|word| if let Value::Bulk(word) = word { Some(word) } else { None });
        let words: Option<Vec<_>> = words.collect();
        self.is_closed = match words.as_deref() {
            Some([name, ..]) => name.eq_ignore_ascii_case(b"quit"),
            Some([]) => false,
            None => true,
        };
        used
    }

    fn check(&self, stream: &Stream, replies: &[u8], end: End) {
        let sent = stream.shown();
        let mut rest = replies;
        let mut count = 0;
        while !rest.is_empty() {
            match resp::parse(rest) {
                Ok(Status::Complete((value, used))) => {
                    let is_reply = !matches!(value, Value::Push(_) | Value::Attribute(_));
                    assert!(is_reply, "a master of RESP2 says {value:?}");
                    (count, rest) = (count + 1, &rest[used..]);
                }
                Ok(Status::Partial) if self.is_open => break,
                other => panic!("{other:?} among the replies: {:?}", rest.escape_ascii()),
            }
        }
        if !self.is_open {
            assert_eq!(count, self.replies, "{self:?}, {sent}");
            assert_eq!(end == End::Master, self.is_closed, "{self:?}, {sent}");
        }
        assert!(count <= self.replies, "{count} replies, {self:?}, {sent}");
    }
}

/// Lets a master serve all its clients that often: in each turn it reads what each has sent.
fn give_turns(server: &Server, turns: usize) {
    for _ in 0..turns {
        let ping = Stream::whole(&[&[b"PING"]]);
        Client::connect(server.addr()).talk(&ping, Some(1));
    }
}

/// Checks that another client is served, and how many keys there are.
fn inspect(server: &Server, most_keys: usize) {
    let stream = Stream::whole(&[&[b"AUTH", PASSWORD.as_bytes()], &[b"PING"], &[b"DBSIZE"]]);
    let (replies, _) = Client::connect(server.addr()).talk(&stream, Some(3));
    let mut rest = &replies[..];
    let mut values = Vec::new();
    while let Ok(Status::Complete((value, used))) = resp::parse(rest) {
        values.push(value);
        rest = &rest[used..];
    }
    let [_, Value::Simple(b"PONG"), Value::Integer(keys)] = values[..] else {
        panic!("another client is told {values:?}");
    };
    assert!(keys as usize <= most_keys, "{keys} keys");
}
