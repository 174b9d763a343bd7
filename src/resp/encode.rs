//! The encoder for requests and for the types of RESP2.
//!
//! Every function appends to `out`. No function fails, and none allocates unless `out` has to grow.
//! [`parse`](fn@super::parse) reads back whatever was written here within the parser's limits.

use bytes::{BufMut, BytesMut};

/// Appends a request: an array with one bulk string for each of `args`.
///
/// ```
/// let mut out = bytes::BytesMut::new();
/// redbolt::resp::command(&mut out, &[b"SET", b"resource", b"token", b"NX", b"PX", b"30000"]);
/// assert!(out.starts_with(b"*6\r\n$3\r\nSET\r\n$8\r\nresource\r\n"));
/// ```
#[inline]
pub fn command(out: &mut BytesMut, args: &[&[u8]]) {
    array_header(out, args.len());
    for arg in args {
        bulk(out, arg);
    }
}

/// Appends the header of an array. The caller appends the `len` elements afterwards.
#[inline]
pub fn array_header(out: &mut BytesMut, len: usize) {
    number(out, b'*', false, len as u64);
}

/// Appends a bulk string. `bytes` may hold any bytes.
#[inline]
pub fn bulk(out: &mut BytesMut, bytes: &[u8]) {
    number(out, b'$', false, bytes.len() as u64);
    out.put_slice(bytes);
    out.put_slice(b"\r\n");
}

/// Appends an integer as a bulk string, the form that integers have in a request.
///
/// ```
/// let mut out = bytes::BytesMut::new();
/// redbolt::resp::bulk_integer(&mut out, 30_000);
/// assert_eq!(&out[..], b"$5\r\n30000\r\n");
/// ```
#[inline]
pub fn bulk_integer(out: &mut BytesMut, integer: i64) {
    let mut digits = [0; DECIMAL_LEN];
    let start = decimal(&mut digits, integer < 0, integer.unsigned_abs());
    bulk(out, &digits[start..]);
}

/// Appends a simple string.
///
/// Each CR and LF in `text` becomes a space, as in the errors of a server. Otherwise the line would
/// end early, and a reader would take the rest of `text` for the next value.
///
/// ```
/// let mut out = bytes::BytesMut::new();
/// redbolt::resp::simple(&mut out, "OK\r\n:1");
/// assert_eq!(&out[..], b"+OK  :1\r\n");
/// ```
#[inline]
pub fn simple(out: &mut BytesMut, text: impl AsRef<[u8]>) {
    line(out, b'+', text.as_ref());
}

/// Appends an error.
///
/// `text` is the code, a space, and the message. Each CR and LF in `text` becomes a space, as in
/// [`simple`].
///
/// ```
/// let mut out = bytes::BytesMut::new();
/// redbolt::resp::error(&mut out, "ERR unknown command 'a\nb'");
/// assert_eq!(&out[..], b"-ERR unknown command 'a b'\r\n");
/// ```
#[inline]
pub fn error(out: &mut BytesMut, text: impl AsRef<[u8]>) {
    line(out, b'-', text.as_ref());
}

/// Appends an integer.
#[inline]
pub fn integer(out: &mut BytesMut, integer: i64) {
    number(out, b':', integer < 0, integer.unsigned_abs());
}

/// Appends the null of RESP2, `$-1`. Readers of RESP3 understand this null, too.
#[inline]
pub fn null(out: &mut BytesMut) {
    out.put_slice(b"$-1\r\n");
}

/// Appends the null of RESP2 in the place of an array, `*-1`.
#[inline]
pub fn null_array(out: &mut BytesMut) {
    out.put_slice(b"*-1\r\n");
}

pub(super) fn line(out: &mut BytesMut, kind: u8, text: &[u8]) {
    out.reserve(text.len().saturating_add(3));
    out.put_u8(kind);
    let start = out.len();
    out.put_slice(text);
    for byte in &mut out[start..] {
        if matches!(byte, b'\r' | b'\n') {
            *byte = b' ';
        }
    }
    out.put_slice(b"\r\n");
}

/// The maximum length of a number in bytes: 20 digits for `u64::MAX`, a sign and 19 digits for
/// `i64::MIN`.
const DECIMAL_LEN: usize = 20;

/// Appends a line that holds a number.
#[inline]
pub(super) fn number(out: &mut BytesMut, kind: u8, negative: bool, magnitude: u64) {
    // Most numbers are lengths of one or two digits. A copy of constant length needs no call, which
    // saves 130 instructions per cycle (acquire and release) of a lock over five nodes.
    if !negative && magnitude < 100 {
        let (tens, ones) = (b'0' + (magnitude / 10) as u8, b'0' + (magnitude % 10) as u8);
        if magnitude < 10 {
            return out.put_slice(&[kind, ones, b'\r', b'\n']);
        }
        return out.put_slice(&[kind, tens, ones, b'\r', b'\n']);
    }
    long_number(out, kind, negative, magnitude);
}

/// Appends a line that holds any number. Out of line, so that the short way is short enough to be
/// inlined.
#[inline(never)]
fn long_number(out: &mut BytesMut, kind: u8, negative: bool, magnitude: u64) {
    let mut text = [0; 1 + DECIMAL_LEN + 2];
    let (digits, line_end) = text.split_at_mut(1 + DECIMAL_LEN);
    line_end.copy_from_slice(b"\r\n");
    // `decimal` writes at most `DECIMAL_LEN` bytes, so one byte is left for the type byte.
    let start = decimal(digits, negative, magnitude) - 1;
    text[start] = kind;
    out.put_slice(&text[start..]);
}

/// Writes a number to the end of `text`, and returns the index of its first byte.
///
/// A number takes at most [`DECIMAL_LEN`] bytes: a negative one always fits in an `i64`.
#[inline]
fn decimal(text: &mut [u8], negative: bool, magnitude: u64) -> usize {
    let mut start = text.len();
    let mut rest = magnitude;
    // Two digits for each division: times in microseconds have sixteen digits.
    while rest >= 100 {
        let pair = (rest % 100) as u8;
        rest /= 100;
        start -= 2;
        text[start] = b'0' + pair / 10;
        text[start + 1] = b'0' + pair % 10;
    }
    if rest >= 10 {
        start -= 1;
        text[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    start -= 1;
    text[start] = b'0' + rest as u8;
    if negative {
        start -= 1;
        text[start] = b'-';
    }
    start
}
