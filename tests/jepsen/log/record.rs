//! The lines of the log, and what they say.

/// One line for the checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Record(Record),
    Vote(Vote),
    Empty(Empty),
    Accepted(Accepted),
    Weather(Weather),
    Deposit(Deposit),
}

/// One line of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Nanoseconds since boot.
    pub(crate) at: u64,
    pub(crate) client: u32,
    /// The client's number for this lock; 0 in a record that concerns no lock.
    pub(crate) request: u64,
    pub(crate) what: What,
}

/// One line of the wire: a node has said that it keeps a token. The reply has not reached the
/// client yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Vote {
    /// Nanoseconds since boot.
    pub(crate) at: u64,
    pub(crate) node: usize,
    pub(crate) token: String,
    /// The ttl in the request, in milliseconds.
    pub(crate) ttl: u64,
    /// When the request had left the client, and not reached the node.
    pub(crate) asked: u64,
}

/// One line of the wire: a node has said that there is nothing at a key. The reply has not reached
/// the client yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Empty {
    /// Nanoseconds since boot.
    pub(crate) at: u64,
    pub(crate) node: usize,
    pub(crate) resource: String,
    /// When the request had left the client, and not reached the node.
    pub(crate) asked: u64,
}

/// One line of the wire: a node has said that it has accepted a fencing number, by a script that
/// saw the token. The reply has not reached the client yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// Nanoseconds since boot.
    pub(crate) at: u64,
    pub(crate) node: usize,
    pub(crate) token: String,
    pub(crate) fence: u64,
    /// Whether the number is one that the node was asked to accept, and not one that it has drawn.
    pub(crate) is_raised: bool,
}

/// One line of the register: a client has come with its number, and was let in or was not. The
/// lines are in the order in which the register has decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deposit {
    /// Nanoseconds since boot.
    pub(crate) at: u64,
    pub(crate) client: u32,
    pub(crate) request: u64,
    pub(crate) resource: String,
    pub(crate) fence: u64,
    /// The version that the client has read and changed; `None` where it leaves a mark only.
    pub(crate) read: Option<u64>,
    pub(crate) is_accepted: bool,
}

/// One line of the nemesis: from now on something is wrong with a node or its name, or nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weather {
    /// Nanoseconds since boot.
    pub(crate) at: u64,
    pub(crate) node: usize,
    pub(crate) is_foul: bool,
}

/// Something that a client did, saw, or was told. Times are nanoseconds since boot, and ttls are
/// milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The client is about to ask for a lock on all of these resources, and waits for so long.
    /// `keeps` is for how long the lock is to be kept alive, 0 for not at all. `adopts` is the
    /// token of a lock that another client gave. `is_fenced` asks for a number.
    Wanted {
        resources: Vec<String>,
        ttl: u64,
        wait: u64,
        keeps: u64,
        adopts: Option<String>,
        is_fenced: bool,
    },
    /// The client was told that it does not get the lock: within its wait, or because the request
    /// has ended otherwise.
    Failed { within: bool, why: String },
    /// The client was told that it holds the lock until then; 0 if the lock was over before the
    /// client could ask. `fence` is the number of the lock.
    Held { token: String, until: u64, fence: Option<u64> },
    /// The client is about to ask for an extension.
    Extending { ttl: u64 },
    /// The client was told that it now holds the lock until then.
    Extended { until: u64 },
    /// The client was told that the lock is not extended.
    NotExtended { why: String },
    /// The client is about to ask for a new number.
    Drawing,
    /// The client was told its new number.
    Drawn { fence: u64 },
    /// The client was told that there is no new number.
    NotDrawn { why: String },
    /// The client sees that the lock was kept alive and is held until then.
    Renewed { until: u64 },
    /// The client no longer believes in the lock and is about to release it, or to give it away.
    /// `seen` is the last time at which the client asked whether it holds the lock and was told
    /// yes; 0 if never.
    Releasing { seen: u64 },
    /// The client was told that the lock is released, or has left the lock to its ttl.
    Released,
    /// The client was told that the lock went to the next in line of the same client, as it was.
    Passed,
    /// The client was told that it may pass the token on.
    Gave,
    /// The client was told that it lost the lock.
    Lost { why: String, seen: u64 },
    /// The client is about to ask who holds a resource.
    Asking { resource: String },
    /// The client was told who holds the resource, and whether the answer was that nobody does.
    Answered { is_free: bool, answer: String },
    /// The client has nothing, wants nothing, and is about to shut down.
    Closing,
    /// The client has shut down, with or without something left on a quorum, and begins anew.
    Closed { is_complete: bool },
    /// A child of the client's process has tried something, and was refused or was not.
    Forked { is_refused: bool, deed: String },
    /// The process of the client did not run since then.
    Late { since: u64 },
    /// The client leaves and waits for nothing.
    Left,
}
