//! The fixed bounds of requests, which no configuration can change.

use core::time::Duration;

/// The maximum length of a resource in bytes, prefix included. Redis would take 512 MB, but a name
/// of that length is a mistake.
pub const MAX_RESOURCE: usize = 4096;

/// The beginning of all names, after the configured prefix, that no resource may have. No prefix
/// may begin so either.
pub(crate) const RESERVED: &[u8] = b"redbolt:";

/// The shortest ttl. With a shorter ttl, the drift and a round trip would leave nothing to hold.
pub const MIN_TTL: Duration = Duration::from_millis(10);

/// The longest ttl that [`max_ttl`](super::RedlockConfig::max_ttl) can allow: one week.
pub const LONGEST_TTL: Duration = Duration::from_secs(7 * 24 * 3600);

/// The shortest time for which an attempt can wait for its nodes.
pub const MIN_NODE_TIMEOUT: Duration = Duration::from_millis(1);

/// The longest time for which an attempt can wait for its nodes.
pub const MAX_NODE_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum number of resources of one lock: as many keys as one script call takes.
pub const MAX_SET: usize = 64;

/// The maximum length in bytes of all resources of one lock together, prefixes included.
pub const MAX_SET_BYTES: usize = 16 * 1024;

/// The maximum number of queries under way at once.
pub const MAX_QUERIES: usize = 64;

/// The longest reply that a connection may have, in bytes. The longest reply to any request, five
/// sections of `INFO` in the answer to a look, has about five thousand. A driver with a read buffer
/// of this size can always go on.
pub const MAX_REPLY: usize = 64 * 1024;
