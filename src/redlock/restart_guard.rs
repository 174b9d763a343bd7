//! The rule for nodes that may have forgotten locks, and its names.

use core::fmt;

/// The rule that decides when a node that may have forgotten locks votes again (S11).
///
/// With every rule but [`Off`](Self::Off), a client keeps two keys without a ttl on each node:
/// `redbolt:witness`, and `redbolt:seen` with the times of the looks at the first. Both stand
/// behind the [prefix](super::RedlockConfig::prefix) of the locks. Leave them alone: a node whose
/// witness is gone counts as one that has lost its data. Each client needs the right to write to
/// `redbolt:*` behind its prefix.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum RestartGuard {
    /// A node votes once its *witness* proves that the data of the node has been in one piece for a
    /// span, which is [`RedlockConfig::quarantine`](super::RedlockConfig::quarantine). The witness
    /// is a key that the server writes beside the locks, with its own identity and time, when a
    /// client looks. So the first client of a cluster waits for a span, and later clients do not,
    /// in other processes neither. On a new cluster, `redbolt init --fresh` makes an end of the
    /// first wait: the operator declares that the nodes are empty and that no client holds a lock.
    ///
    /// A node without rights to keep a witness is treated as with [`Strict`](Self::Strict).
    #[default]
    On,
    /// The same as [`On`](Self::On), but counted from when this client first saw the node, whatever
    /// its witness says. Every client waits for a span after its own start, and after each time in
    /// which it did not see the node for longer than a span.
    Strict,
    /// The same as [`On`](Self::On), but the witness of a durable node counts from the first
    /// witness of its data, through all restarts. A node is durable if its append-only file is on,
    /// the last write to that file succeeded, and its settings are `appendfsync always` and
    /// `no-appendfsync-on-rewrite no`; the client asks. A server that was a replica is not durable,
    /// as long as the server itself knows (`second_repl_offset`). The operator must ensure one data
    /// directory for each node, and disks that keep what they have synced.
    Durable,
    /// Every node votes at once, and no witness is written. This is for tests. With nodes that
    /// restart, two clients can hold the same lock. A new cluster is better declared fresh, by
    /// `redbolt init --fresh`.
    Off,
}

impl RestartGuard {
    /// All rules.
    const ALL: [Self; 4] = [Self::On, Self::Strict, Self::Durable, Self::Off];

    /// Returns the name that configurations and the command line use: `on`, `strict`, `durable` or
    /// `off`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Strict => "strict",
            Self::Durable => "durable",
            Self::Off => "off",
        }
    }

    /// Returns the rule with this name, or `None` if there is no such rule.
    ///
    /// ```
    /// use redbolt::RestartGuard;
    ///
    /// assert_eq!(RestartGuard::from_name("strict"), Some(RestartGuard::Strict));
    /// assert_eq!(RestartGuard::from_name("Strict"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|guard| guard.name() == name)
    }
}

impl fmt::Display for RestartGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
