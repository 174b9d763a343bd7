//! The bounds of requests that no configuration can change.

use core::time::Duration;

/// The longest resource in bytes, with the prefix. Redis would take 512 MB; a name that long is a
/// mistake.
pub const MAX_RESOURCE: usize = 4096;

/// The shortest ttl. Below it the drift and a round trip leave nothing to hold.
pub const MIN_TTL: Duration = Duration::from_millis(10);

/// The longest ttl that [`Config::max_ttl`](super::Config::max_ttl) can allow.
pub const LONGEST_TTL: Duration = Duration::from_secs(7 * 24 * 3600);

/// The most resources that one lock can have: as many keys as one script call takes.
pub const MAX_SET: usize = 64;

/// The most bytes that the names of one lock can have together, with their prefixes.
pub const MAX_SET_BYTES: usize = 16 * 1024;

/// How many questions can be under way at once.
pub const MAX_QUERIES: usize = 64;
