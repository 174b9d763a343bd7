//! The encoder for the types of RESP3.

use core::fmt::Write;

use bytes::{BufMut, BytesMut};

use super::Error;
use super::encode::{line, number};
use super::number::is_integer;

/// Appends the header of a map with `pairs` keys. The caller appends keys and values afterwards:
/// key, value, key, value.
#[inline]
pub fn map_header(out: &mut BytesMut, pairs: usize) {
    number(out, b'%', false, pairs as u64);
}

/// Appends the header of a set. The caller appends the `len` elements afterwards.
#[inline]
pub fn set_header(out: &mut BytesMut, len: usize) {
    number(out, b'~', false, len as u64);
}

/// Appends the header of a push. The caller appends the `len` elements afterwards.
#[inline]
pub fn push_header(out: &mut BytesMut, len: usize) {
    number(out, b'>', false, len as u64);
}

/// Appends the header of an attribute with `pairs` keys. The caller appends keys and values
/// afterwards, and then the value that the attribute describes.
#[inline]
pub fn attribute_header(out: &mut BytesMut, pairs: usize) {
    number(out, b'|', false, pairs as u64);
}

/// Appends the null of RESP3, `_`.
#[inline]
pub fn null3(out: &mut BytesMut) {
    out.put_slice(b"_\r\n");
}

/// Appends a boolean.
#[inline]
pub fn boolean(out: &mut BytesMut, boolean: bool) {
    out.put_slice(if boolean { b"#t\r\n" } else { b"#f\r\n" });
}

/// Appends a double, with as many digits as tell it from every other double.
///
/// ```
/// let mut out = bytes::BytesMut::new();
/// redbolt::resp::double(&mut out, 0.1);
/// redbolt::resp::double(&mut out, 1e300);
/// redbolt::resp::double(&mut out, f64::NEG_INFINITY);
/// assert_eq!(&out[..], b",0.1\r\n,1e300\r\n,-inf\r\n");
/// ```
pub fn double(out: &mut BytesMut, double: f64) {
    let is_plain = double == 0.0 || (1e-5..1e17).contains(&double.abs());
    out.put_u8(b',');
    // Writing to a `BytesMut` does not fail.
    let _ = match () {
        () if double.is_nan() => out.write_str("nan"),
        // Infinities print as `inf` and `-inf`.
        () if is_plain || double.is_infinite() => write!(out, "{double}"),
        () => write!(out, "{double:e}"),
    };
    out.put_slice(b"\r\n");
}

/// Appends a big number: decimal digits after an optional sign.
///
/// # Errors
///
/// Returns [`Error::BigNumber`] and appends nothing if `digits` is anything else.
///
/// ```
/// use redbolt::resp::{Error, big_number};
///
/// let mut out = bytes::BytesMut::new();
/// assert_eq!(big_number(&mut out, "-170141183460469231731687303715884105729"), Ok(()));
/// assert_eq!(big_number(&mut out, "1e5"), Err(Error::BigNumber));
/// assert_eq!(&out[..], b"(-170141183460469231731687303715884105729\r\n");
/// ```
pub fn big_number(out: &mut BytesMut, digits: impl AsRef<[u8]>) -> Result<(), Error> {
    let digits = digits.as_ref();
    if !is_integer(digits) {
        return Err(Error::BigNumber);
    }
    line(out, b'(', digits);
    Ok(())
}

/// Appends an error of any bytes: the code, a space, and the message.
#[inline]
pub fn bulk_error(out: &mut BytesMut, text: &[u8]) {
    number(out, b'!', false, text.len() as u64);
    out.put_slice(text);
    out.put_slice(b"\r\n");
}

/// Appends a verbatim string. `format` is `txt` for plain text, `mkd` for Markdown.
///
/// ```
/// let mut out = bytes::BytesMut::new();
/// redbolt::resp::verbatim(&mut out, *b"txt", b"Some\r\ntext");
/// assert_eq!(&out[..], b"=14\r\ntxt:Some\r\ntext\r\n");
/// ```
#[inline]
pub fn verbatim(out: &mut BytesMut, format: [u8; 3], text: &[u8]) {
    number(out, b'=', false, text.len() as u64 + 4);
    out.put_slice(&format);
    out.put_u8(b':');
    out.put_slice(text);
    out.put_slice(b"\r\n");
}
