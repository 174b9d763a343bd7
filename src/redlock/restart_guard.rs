//! The rule for nodes that may have forgotten locks, and its names.

use core::fmt;

/// The rule that decides when a node that may have forgotten locks votes again (S11).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum RestartGuard {
    /// A server process that is new to this client votes once its own uptime reaches
    /// [`RedlockConfig::quarantine`](super::RedlockConfig::quarantine). The uptime comes from the
    /// wall clock of the server, and is too long if that clock is stepped forward by more than
    /// `drift.step` after the start of the server.
    #[default]
    On,
    /// The same as [`On`](Self::On), but counted from when this client first saw the process,
    /// whatever uptime the process reports. Every client waits for that long after its own start.
    Strict,
    /// A node votes at once if its append-only file is on and the last write to that file
    /// succeeded. This is safe only with `appendfsync always`, `no-appendfsync-on-rewrite no` and
    /// one data directory for each node, which the operator must ensure. Any other node is treated
    /// as with [`On`](Self::On).
    Durable,
    /// Every node votes at once. Use this for a cluster that is known to be fresh, in which no lock
    /// can have been forgotten. With nodes that restart, two clients can hold the same lock.
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
