//! [`IoCounters`]: what an engine has cost the system.

/// The bytes and system calls of an engine since its creation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct IoCounters {
    /// Bytes written to all nodes.
    pub bytes_sent: u64,
    /// Bytes read from all nodes.
    pub bytes_received: u64,
    /// Calls of `write`; with TLS, those that come after the handshake of a connection.
    pub writes: u64,
    /// Calls of `read`.
    pub reads: u64,
    /// Calls of `epoll_wait`, or of `kevent` on macOS.
    pub waits: u64,
    /// Calls that armed the timer.
    pub timers: u64,
    /// Calls of `clock_nanosleep`, or of `nanosleep` on macOS: pauses before a wait, while many
    /// requests are on their way.
    pub pauses: u64,
    /// Calls of `getpid`, which show that the process has not forked.
    pub getpids: u64,
}

impl IoCounters {
    /// Returns the sum of all system calls counted here, which are those of the hot path.
    pub const fn system_calls(&self) -> u64 {
        self.writes + self.reads + self.waits + self.timers + self.pauses + self.getpids
    }
}
