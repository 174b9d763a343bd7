//! A parser and an encoder for RESP2 and RESP3, the wire formats of Redis and Valkey.
//!
//! This module knows the wire format and nothing else: no connection, no clock, no meaning of a
//! reply. The parser never allocates, copies or recurses: a [`Value`] borrows from the parsed
//! bytes. The encoder appends to a `bytes::BytesMut`.
//!
//! # Reading
//!
//! [`parse`](fn@parse) reads the first value of a slice. [`Parser`] does the same for bytes that
//! arrive in pieces. A parser remembers how far an incomplete value has been examined, so the cost
//! of a reply is linear in its bytes, whether the reply comes in one segment or one byte at a
//! time. An incomplete value is not an error: the result is [`Status::Partial`].
//!
//! ```
//! use redbolt::resp::{Parser, Status, Value};
//!
//! let mut parser = Parser::new();
//! let mut received = b"*2\r\n:1\r\n$5\r\nhe".to_vec();
//! assert!(parser.parse(&received)?.is_partial());
//!
//! // The next call gets the same bytes and more, here with the beginning of another reply.
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
//! Three ways lead through an aggregate. [`Elements`] iterates over the values of one level.
//! [`Elements::next_element`] returns an element with its bytes and attributes, and [`Null::of`]
//! tells the three nulls apart. [`Elements::tokens`] reads all levels in one pass.
//!
//! # Grammar
//!
//! The parser keeps to the [protocol page of Redis][page], and is stricter in some places, because
//! a lenient parser could turn a lost or foreign byte into a plausible reply. Every departure from
//! these rules is an [`Error`]:
//!
//! * A line ends with CR LF and holds no other CR or LF. CR LF also follows every bulk string.
//! * Integers and lengths are *canonical*: no plus sign, no leading zero, no `-0`. The page allows
//!   `:+5`, but no server writes such a number, and `string2ll`, the function with which the server
//!   and hiredis read numbers, rejects it.
//! * The only negative length is that of the RESP2 nulls, `$-1` and `*-1`. These two and the RESP3
//!   null `_` are all [`Value::Null`].
//! * A double is `inf`, `-inf`, `nan`, `-nan`, or a finite decimal number with an optional
//!   fraction and an optional exponent. Servers write all of these: `,1e+17`, `,-nan`. The page
//!   also allows a plus sign and leading zeros, which no server writes.
//! * A big number is digits, after a plus or minus sign or none. Leading zeros are valid: servers
//!   write the text that a script or a module gives them. [`Value::BigNumber`] holds that text.
//! * A push is never inside another value. An attribute may precede any value. Inside an
//!   aggregate, the parser validates an attribute, and [`Elements`] skips it. At the top level, an
//!   attribute is a value of its own.
//! * Streamed strings and aggregates are rejected. The draft of RESP3 has them; no server sends
//!   them.
//!
//! # What servers can write and the parser refuses
//!
//! Built-in commands keep to the rules and limits above. A script or a module need not, as
//! redis-server 7.0 shows with `EVAL`:
//!
//! * A big number without digits: `{big_number='abc'}` is `(abc`, and `{big_number=''}` is `(`.
//!   The page does not allow these, and hiredis refuses the first, too.
//! * A line longer than [`MAX_LINE`]: `{ok=string.rep('x',70000)}`. [`Limits`] can allow it.
//! * An aggregate deeper than [`MAX_DEPTH`]: a table in a table, 5,000 levels deep. A
//!   [`Parser`] can allow [`MOST_DEPTH`] levels.
//!
//! Such a reply ends the stream for the reader, as every error does.
//!
//! [page]: https://redis.io/docs/latest/develop/reference/protocol-spec/
//!
//! # Limits
//!
//! The limits are [`MAX_LINE`], [`MAX_LENGTH`], [`MAX_ELEMENTS`] and [`MAX_DEPTH`], unless
//! [`Parser::with_limits`] names others. The parser checks a limit as soon as a header is complete,
//! before waiting for the bytes that the header announces. The parser does not own the bytes, so
//! the caller must bound the buffer: if a value is still incomplete at the largest size that the
//! caller will buffer, treat it as an error. [`Parser::needed`] says how many bytes an incomplete
//! value lacks at least.
//!
//! # Writing
//!
//! [`command`] writes a whole request. The other functions write replies, or the parts of a
//! request one by one.
//!
//! ```
//! use bytes::BytesMut;
//! use redbolt::resp;
//!
//! let mut out = BytesMut::new();
//! resp::command(&mut out, &[b"GET", b"resource"]);
//! assert_eq!(&out[..], b"*2\r\n$3\r\nGET\r\n$8\r\nresource\r\n");
//! ```

mod element;
mod elements;
mod encode;
mod encode3;
mod error;
mod limits;
mod number;
mod parse;
mod token;
mod value;

#[cfg(test)]
mod tests;

pub use element::{Attributes, Element, Null};
pub use elements::Tokens;
pub use encode::{
    array_header, bulk, bulk_integer, command, error, integer, null, null_array, simple,
};
pub use encode3::{
    attribute_header, big_number, boolean, bulk_error, double, map_header, null3, push_header,
    set_header, verbatim,
};
pub use error::Error;
pub use limits::{Limits, LimitsError, MAX_DEPTH, MAX_ELEMENTS, MAX_LENGTH, MAX_LINE, MOST_DEPTH};
pub use parse::{Parser, Status, parse};
pub use token::{Aggregate, Token};
pub use value::{Elements, Value};
