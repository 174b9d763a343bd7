//! RESP2 and RESP3: bytes to values and back.
//!
//! This folder knows the wire format and nothing else: no connection, no clock, no meaning of a
//! reply. The parser never allocates, copies or recurses; a [`Value`] borrows from the bytes it
//! was read from. The encoder appends to a [`bytes::BytesMut`].
//!
//! # Reading
//!
//! [`parse`](fn@parse) reads the first value of a slice. [`Parser`] does the same for bytes that
//! arrive in pieces: it remembers how far an incomplete value has been examined, so that a reply
//! costs the same whether it comes in one segment or one byte at a time. Too few bytes are not an
//! error but [`Status::Partial`].
//!
//! ```
//! use redbolt::resp::{Parser, Status, Value};
//!
//! let mut parser = Parser::new();
//! let mut received = b"*2\r\n:1\r\n$5\r\nhe".to_vec();
//! assert!(parser.parse(&received)?.is_partial());
//!
//! // The same bytes again, and more: here also the beginning of the next reply.
//! received.extend_from_slice(b"llo\r\n+OK");
//! let Status::Complete((Value::Array(mut elements), consumed)) = parser.parse(&received)? else {
//!     panic!("the array is complete");
//! };
//! assert_eq!(elements.len(), 2);
//! assert_eq!(elements.next(), Some(Value::Integer(1)));
//! assert_eq!(elements.next(), Some(Value::Bulk(b"hello")));
//! assert_eq!(&received[consumed..], b"+OK");
//! # Ok::<(), redbolt::resp::Error>(())
//! ```
//!
//! # Grammar
//!
//! The grammar is what servers write, and no more. Where a sender could be lenient, a reader that
//! is lenient too turns a lost or foreign byte into a plausible reply, so it is an [`Error`]:
//!
//! * A line ends with CR LF and holds neither CR nor LF. A bulk is followed by CR LF.
//! * Integers, big numbers and lengths have no plus sign, no leading zero and no `-0`. The
//!   protocol page of Redis allows `:+5`, but no server writes it, and `string2ll`, with which
//!   both the server and hiredis read numbers, rejects it.
//! * The only negative length is the RESP2 null, `$-1` or `*-1`. It and the RESP3 null `_` are
//!   all [`Value::Null`].
//! * A double is `inf`, `-inf`, `nan`, `-nan`, or a decimal number with an optional fraction and
//!   an optional exponent, which the RESP3 draft forbids and servers write. It must be finite.
//! * A push is never inside another value. An attribute may precede any value; inside an
//!   aggregate it is validated and then skipped, and at the top it is a value of its own.
//! * Streamed strings and aggregates are rejected: no server sends them.
//!
//! Limits: [`MAX_LINE`], [`MAX_LENGTH`], [`MAX_ELEMENTS`], [`MAX_DEPTH`]. They are checked as soon
//! as a header is complete, before anything waits for what the header promises. The parser does
//! not own the bytes, so their bound is the caller's: a value that has not completed within the
//! largest reply the caller is ready to buffer should be treated as an error.
//!
//! # Writing
//!
//! [`command`] writes a request; the other functions write replies, or a request piece by piece.
//!
//! ```
//! use bytes::BytesMut;
//! use redbolt::resp;
//!
//! let mut out = BytesMut::new();
//! resp::command(&mut out, &[b"GET", b"resource"]);
//! assert_eq!(&out[..], b"*2\r\n$3\r\nGET\r\n$8\r\nresource\r\n");
//! ```

mod elements;
mod encode;
mod error;
mod number;
mod parse;
mod token;
mod value;

#[cfg(test)]
mod tests;

pub use elements::Elements;
pub use encode::{
    array_header, bulk, bulk_integer, command, error, integer, map_header, null, simple,
};
pub use error::Error;
pub use parse::{Parser, Status, parse};
pub use value::Value;

/// How deep aggregates may nest, attributes included. An array of integers has depth 1.
///
/// The deepest reply of a server's own commands is that of `COMMAND DOCS`, 12 deep in Redis 7.0.
/// The bound keeps [`Parser`] small and whoever walks [`Elements`] recursively safe.
pub const MAX_DEPTH: usize = 16;

/// How many values one value may hold: its elements at all levels, plus one for each attribute
/// inside it.
///
/// This is the bound that servers have long put on the arguments of a request, 1024 × 1024.
pub const MAX_ELEMENTS: usize = 1024 * 1024;

/// The longest bulk string in bytes: 512 MiB, the server's default (`proto-max-bulk-len`).
pub const MAX_LENGTH: usize = 512 * 1024 * 1024;

/// The longest simple string, simple error, double or big number in bytes, without the type byte
/// and the line end: 64 KiB, the bound that servers put on a line of a request.
pub const MAX_LINE: usize = 64 * 1024;
