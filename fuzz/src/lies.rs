//! Lies: replies that a server could send, but that are wrong here.

use arbitrary::{Result, Unstructured};
use bytes::BytesMut;
use redbolt::resp::{self, Status, Value};

/// Errors of every class. A command that gets one of them was not executed.
const ERRORS: [&[u8]; 22] = [
    b"-NOSCRIPT No matching script. Please use EVAL.\r\n",
    b"-LOADING Redis is loading the dataset in memory\r\n",
    b"-READONLY You can't write against a read only replica.\r\n",
    b"-MASTERDOWN Link with MASTER is down\r\n",
    b"-BUSY Redis is busy running a script.\r\n",
    b"-OOM command not allowed when used memory > 'maxmemory'.\r\n",
    b"-MISCONF Redis is configured to save RDB snapshots\r\n",
    b"-NOREPLICAS Not enough good replicas to write.\r\n",
    b"-NOAUTH Authentication required.\r\n",
    b"-WRONGPASS invalid username-password pair or user is disabled.\r\n",
    b"-NOPERM this user has no permissions to run the 'set' command\r\n",
    b"-NOPERM No permissions to access a key\r\n",
    b"-DENIED Redis is running in protected mode\r\n",
    b"-MOVED 3999 127.0.0.1:6381\r\n",
    b"-CLUSTERDOWN Hash slot not served\r\n",
    b"-CROSSSLOT Keys in request don't hash to the same slot\r\n",
    b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
    b"-ERR unknown command 'DELIFEQ', with args beginning with: \r\n",
    b"-ERR syntax error\r\n",
    b"-ERR max number of clients reached\r\n",
    b"-EXECABORT Transaction discarded because of previous errors.\r\n",
    b"!21\r\nSYNTAX invalid syntax\r\n",
];

/// Values, some of which fit the request, and some of which fit no request.
const VALUES: [&[u8]; 20] = [
    b"+OK\r\n",
    b"+ok\r\n",
    b"+QUEUED\r\n",
    b"$2\r\nOK\r\n",
    b"$-1\r\n",
    b"*-1\r\n",
    b"_\r\n",
    b":1\r\n",
    b":0\r\n",
    b":-1\r\n",
    b":2\r\n",
    b"*0\r\n",
    b"*2\r\n:1\r\n:1\r\n",
    b"*2\r\n:1\r\n$1\r\n1\r\n",
    b"#t\r\n",
    b"%1\r\n+a\r\n:1\r\n",
    b">2\r\n+invalidate\r\n_\r\n",
    b"|1\r\n+ttl\r\n:1\r\n",
    b"*2\r\n*6\r\n$7\r\ndelifeq\r\n:3\r\n*0\r\n:1\r\n:1\r\n:1\r\n*-1\r\n",
    b"*2\r\n*-1\r\n*6\r\n$5\r\ndelex\r\n:-2\r\n*0\r\n:1\r\n:1\r\n:1\r\n",
];

/// Numbers that are wrong at any place of an answer to a look.
const EXTREMES: [i64; 8] = [0, 1, 2, 3, -1, 7_000, i64::MAX, i64::MIN];

/// Differences that make a witness younger or older, in microseconds: one, and a second or more.
const STEPS: [i64; 8] = [1, -1, 999_999, -999_999, 2_500_000, -2_500_000, 1 << 50, -(1 << 50)];

/// Facts of a server, and what another server, or the same at another time, says instead.
const FACTS: [(&str, &str); 10] = [
    ("run_id:", "run_id:f"),
    ("master_replid:", "master_replid:f"),
    ("evicted_keys:0", "evicted_keys:7"),
    ("evicted_keys:0", "evicted_keys:"),
    ("maxmemory_policy:noeviction", "maxmemory_policy:allkeys-lru"),
    ("role:master", "role:slave"),
    ("loading:0", "loading:1"),
    ("redis_mode:standalone", "redis_mode:cluster"),
    ("aof_enabled:0", "aof_enabled:1"),
    ("run_id:", "no_id:"),
];

/// What is wrong in an answer to a look.
#[derive(Clone, Copy)]
pub(crate) enum Twist {
    /// A number is another one.
    Becomes(usize, i64),
    /// A number is off.
    Moves(usize, i64),
    /// `INFO` says something else.
    Says(usize),
    /// An element has another type.
    Is(usize),
    /// The array ends here.
    Ends(usize),
}

impl Twist {
    pub(crate) fn choose(script: &mut Unstructured<'_>) -> Result<Self> {
        let place = script.int_in_range(0..=11)?;
        Ok(match script.int_in_range(0..=7)? {
            0 | 1 => Self::Becomes(place, *script.choose(&EXTREMES)?),
            2..=4 => Self::Moves(place, *script.choose(&STEPS)?),
            5 => Self::Says(place),
            6 => Self::Is(place),
            _ => Self::Ends(place),
        })
    }

    /// Returns the answer to a look, or to requests for several numbers, with something wrong in
    /// it. Any other reply stays.
    fn tell(self, honest: &[u8]) -> Vec<u8> {
        let Ok(Status::Complete((Value::Array(fields), _))) = resp::parse(honest) else {
            return honest.to_vec();
        };
        let length = if let Self::Ends(end) = self { end.min(fields.len()) } else { fields.len() };
        let mut told = BytesMut::new();
        resp::array_header(&mut told, length);
        for (place, field) in fields.take(length).enumerate() {
            match (self, field) {
                (Self::Is(at), _) if at == place => resp::null(&mut told),
                (Self::Becomes(at, number), Value::Integer(_)) if at == place => {
                    resp::integer(&mut told, number);
                }
                (Self::Moves(at, step), Value::Integer(number)) if at == place => {
                    resp::integer(&mut told, number.saturating_add(step));
                }
                (_, Value::Integer(number)) => resp::integer(&mut told, number),
                (Self::Says(which), Value::Bulk(info)) => {
                    let (fact, instead) = FACTS[which % FACTS.len()];
                    let info = String::from_utf8_lossy(info).replacen(fact, instead, 1);
                    resp::bulk(&mut told, info.as_bytes());
                }
                (_, Value::Bulk(info)) => resp::bulk(&mut told, info),
                // A lock that was refused, beside others with numbers.
                (_, Value::Null) => resp::null(&mut told),
                (_, other) => panic!("{other:?} in an answer to a look"),
            }
        }
        told.to_vec()
    }
}

/// Returns the answer of a server that says something else of itself. Replies without `INFO` stay.
pub(crate) fn says(fact: usize, honest: &[u8]) -> Vec<u8> {
    match resp::parse(honest) {
        Ok(Status::Complete((Value::Bulk(info), _))) => {
            let (fact, instead) = FACTS[fact % FACTS.len()];
            let info = String::from_utf8_lossy(info).replacen(fact, instead, 1);
            let mut told = BytesMut::new();
            resp::bulk(&mut told, info.as_bytes());
            told.to_vec()
        }
        // The answer to a look is the only one that ends in a long text.
        Ok(Status::Complete((Value::Array(fields), _))) if fields.len() == 12 => {
            Twist::Says(fact).tell(honest)
        }
        _ => honest.to_vec(),
    }
}

/// What a lie puts in the place of the honest reply.
#[derive(Clone, Copy)]
enum Reply {
    Fixed(&'static [u8]),
    Twisted(Twist),
    Number(i64),
    /// An error of this length.
    Long(u16),
}

/// One wrong reply among many right ones.
#[derive(Clone, Copy)]
pub(crate) struct Lie {
    /// The index of the command that gets the reply.
    pub(crate) at: usize,
    reply: Reply,
    /// Whether the command is executed nevertheless.
    pub(crate) is_executed: bool,
}

impl Lie {
    pub(crate) const ERRORS: usize = ERRORS.len();

    pub(crate) fn error(at: usize, which: usize) -> Self {
        Self { at, reply: Reply::Fixed(ERRORS[which % ERRORS.len()]), is_executed: false }
    }

    pub(crate) fn value(at: usize, which: usize, is_executed: bool) -> Self {
        Self::reply(at, VALUES[which % VALUES.len()], is_executed)
    }

    /// Answers with exactly these bytes.
    pub(crate) fn reply(at: usize, reply: &'static [u8], is_executed: bool) -> Self {
        Self { at, reply: Reply::Fixed(reply), is_executed }
    }

    /// Answers with this number.
    pub(crate) fn number(at: usize, number: i64, is_executed: bool) -> Self {
        Self { at, reply: Reply::Number(number), is_executed }
    }

    /// Sends no reply at all to one command, so that later replies move up.
    pub(crate) fn silence(at: usize) -> Self {
        Self { at, reply: Reply::Fixed(b""), is_executed: true }
    }

    /// Answers with an error that can be longer than any reply.
    pub(crate) fn long(at: usize, length: u16) -> Self {
        Self { at, reply: Reply::Long(length), is_executed: false }
    }

    /// Answers a look wrongly.
    pub(crate) fn twisted(at: usize, twist: Twist) -> Self {
        Self { at, reply: Reply::Twisted(twist), is_executed: true }
    }

    pub(crate) fn is_twisted(self) -> bool {
        matches!(self.reply, Reply::Twisted(_))
    }

    /// Returns the reply instead of the honest one.
    pub(crate) fn tell(self, honest: &[u8]) -> Vec<u8> {
        match self.reply {
            Reply::Fixed(reply) => reply.to_vec(),
            Reply::Twisted(twist) => twist.tell(honest),
            Reply::Number(number) => {
                let mut told = BytesMut::new();
                resp::integer(&mut told, number);
                told.to_vec()
            }
            Reply::Long(length) => {
                let mut told = BytesMut::new();
                resp::error(&mut told, "x".repeat(usize::from(length) * 2));
                told.to_vec()
            }
        }
    }
}
