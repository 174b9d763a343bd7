//! The limits of the parser.

/// The maximum depth of nested aggregates, attributes included. An array of integers has depth 1.
///
/// The deepest reply of a built-in command is that of `COMMAND DOCS`: 12 levels in Redis 7.0. The
/// limit keeps a [`Parser`](super::Parser) small, and makes recursion over
/// [`Elements`](super::Elements) safe.
pub const MAX_DEPTH: usize = 16;

/// The maximum number of values inside one value: the elements at all levels, plus one for each
/// attribute inside.
///
/// Servers have long had the same limit, 1024 × 1024, for the arguments of a request.
pub const MAX_ELEMENTS: usize = 1024 * 1024;

/// The maximum length of a bulk string in bytes: 512 MiB, the default of a server
/// (`proto-max-bulk-len`).
pub const MAX_LENGTH: usize = 512 * 1024 * 1024;

/// The maximum length of a simple string, simple error, double or big number in bytes, without the
/// type byte and the line end: 64 KiB, the limit of servers for a line of a request.
pub const MAX_LINE: usize = 64 * 1024;
