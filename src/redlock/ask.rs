//! [`Ask`]: how many nodes an attempt asks at first.

use core::fmt;

/// How many nodes an attempt to take a lock asks at first.
///
/// The choice is the client's own. Clients with different choices exclude each other, because any
/// two majorities share a node, whoever asks how many.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Ask {
    /// All nodes, at once: the lock is there when the fastest quorum has answered, and mostly
    /// stands on more nodes than a quorum.
    #[default]
    All,
    /// The quorum that comes first in the order of the resource, and the other nodes only when that
    /// quorum is in doubt: after an error, after a lost connection, after a refusal once all who
    /// were asked have answered, or when the answers take longer than their round trips allow (the
    /// *hedge*: at least 1 ms, 10 µs more for each request that the nodes still work on, up to
    /// four times as long while more than a fifth of the hedges against a node are in vain, and at
    /// most half of the time that an attempt has; up to 2 ms later in an engine with hundreds of
    /// requests on their way).
    ///
    /// A lock costs three of five nodes a `SET` and a release, instead of five of five. All clients
    /// compute the same order, from the names of the nodes as they are configured and from the
    /// resource. Where the names or the connections differ, so does the order, and locks take
    /// longer, but exclude each other as well. A driver of the core alone has no names; there the
    /// positions in the list count.
    ///
    /// A node that is slower than the others for good costs every lock that prefers it a hedge:
    /// with such nodes, ask all.
    ///
    /// A lock that lives on is given to the other nodes after a sixth of its validity, or before
    /// its first extension, whichever comes first, unless
    /// [`repair`](super::RedlockConfig::repair) is off. Until then it hangs on a bare quorum: a
    /// single node that forgets the lock can let another client in. So
    /// [`RestartGuard::Off`](super::RestartGuard::Off) is refused together with this choice.
    ///
    /// Requests for fencing numbers and adoptions ask all nodes in any case.
    Majority,
}

impl Ask {
    /// All choices.
    const ALL: [Self; 2] = [Self::All, Self::Majority];

    /// Returns the name that configurations and the command line use: `all` or `majority`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Majority => "majority",
        }
    }

    /// Returns the choice with this name, or `None` if there is no such choice.
    ///
    /// ```
    /// use redbolt::Ask;
    ///
    /// assert_eq!(Ask::from_name("majority"), Some(Ask::Majority));
    /// assert_eq!(Ask::from_name("Majority"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ask| ask.name() == name)
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
