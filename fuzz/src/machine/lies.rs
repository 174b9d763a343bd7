//! Lies: replies that a server could send, but that are wrong here.

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
    b">2\r\n+invalidate\r\n*0\r\n",
    b"|1\r\n+ttl\r\n:1\r\n",
    b"*2\r\n*6\r\n$7\r\ndelifeq\r\n:3\r\n*0\r\n:1\r\n:1\r\n:1\r\n*-1\r\n",
    b"*2\r\n*-1\r\n*6\r\n$5\r\ndelex\r\n:-2\r\n*0\r\n:1\r\n:1\r\n:1\r\n",
];

/// One wrong reply among many right ones.
#[derive(Clone, Copy)]
pub(super) struct Lie {
    /// The index of the command that gets the reply.
    pub(super) at: usize,
    pub(super) reply: &'static [u8],
    /// Whether the command is executed nevertheless.
    pub(super) is_executed: bool,
}

impl Lie {
    pub(super) const ERRORS: usize = ERRORS.len();

    pub(super) fn error(at: usize, which: usize) -> Self {
        Self { at, reply: ERRORS[which % ERRORS.len()], is_executed: false }
    }

    pub(super) fn value(at: usize, which: usize, is_executed: bool) -> Self {
        Self { at, reply: VALUES[which % VALUES.len()], is_executed }
    }

    /// Sends no reply at all to one command, so that later replies move up.
    pub(super) fn silence(at: usize) -> Self {
        Self { at, reply: b"", is_executed: true }
    }
}
