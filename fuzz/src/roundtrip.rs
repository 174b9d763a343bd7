//! Values written by the encoder and read by the parser.

use arbitrary::{Result, Unstructured};
use bytes::BytesMut;
use redbolt::resp::{self, MAX_DEPTH, Status};

use super::tree::Tree;

/// Makes a value from the bytes, writes the value, and reads it again.
///
/// # Panics
///
/// Panics if another value comes back, or the same value in other bytes.
pub fn roundtrip(data: &[u8]) {
    let mut source = Unstructured::new(data);
    let mut out = BytesMut::new();
    let Ok(tree) = write(&mut source, &mut out, 0) else { return };
    let Ok(Status::Complete((value, used))) = resp::parse(&out) else {
        panic!("{tree:?} cannot be read: {:?}", out.escape_ascii());
    };
    assert_eq!(used, out.len(), "{tree:?}");
    assert_eq!(Tree::from(&value), tree);
}

/// Writes a value with the functions of the encoder. Returns the value.
fn write(source: &mut Unstructured<'_>, out: &mut BytesMut, depth: usize) -> Result<Tree> {
    let kinds = if depth + 1 < MAX_DEPTH { 16 } else { 12 };
    Ok(match source.int_in_range(0..=kinds - 1)? {
        0 => {
            let text = line(source)?;
            resp::simple(out, &text);
            Tree::Text(b'+', text)
        }
        1 => {
            let text = line(source)?;
            resp::error(out, &text);
            Tree::Text(b'-', text)
        }
        2 => {
            let integer = source.arbitrary()?;
            resp::integer(out, integer);
            Tree::Integer(integer)
        }
        3 => {
            let integer: i64 = source.arbitrary()?;
            resp::bulk_integer(out, integer);
            Tree::Text(b'$', integer.to_string().into_bytes())
        }
        4 => {
            let bytes: Vec<u8> = source.arbitrary()?;
            resp::bulk(out, &bytes);
            Tree::Text(b'$', bytes)
        }
        5 => {
            resp::null(out);
            Tree::Null
        }
        kind @ 6..=11 => write3(source, out, kind)?,
        12 => {
            let count = source.int_in_range(0..=5)?;
            resp::array_header(out, count);
            elements(source, out, depth, b'*', count)?
        }
        13 => {
            let count = source.int_in_range(0..=5)?;
            resp::set_header(out, count);
            elements(source, out, depth, b'~', count)?
        }
        14 => {
            let pairs = source.int_in_range(0..=3)?;
            resp::map_header(out, pairs);
            elements(source, out, depth, b'%', 2 * pairs)?
        }
        _ => {
            let words: Vec<Vec<u8>> = source.arbitrary()?;
            let borrowed: Vec<_> = words.iter().map(Vec::as_slice).collect();
            resp::command(out, &borrowed);
            Tree::Aggregate(b'*', words.into_iter().map(|word| Tree::Text(b'$', word)).collect())
        }
    })
}

/// Writes a value that only RESP3 has. Returns the value.
fn write3(source: &mut Unstructured<'_>, out: &mut BytesMut, kind: usize) -> Result<Tree> {
    Ok(match kind {
        6 => {
            resp::null3(out);
            Tree::Null
        }
        7 => {
            let boolean = source.arbitrary()?;
            resp::boolean(out, boolean);
            Tree::Boolean(boolean)
        }
        8 => {
            let double = source.arbitrary()?;
            resp::double(out, double);
            Tree::double(double)
        }
        9 => {
            let digits = source.arbitrary::<i128>()?.to_string();
            resp::big_number(out, &digits).expect("an integer");
            Tree::Text(b'(', digits.into_bytes())
        }
        10 => {
            let bytes: Vec<u8> = source.arbitrary()?;
            resp::bulk_error(out, &bytes);
            Tree::Text(b'!', bytes)
        }
        _ => {
            let (format, text): ([u8; 3], Vec<u8>) = source.arbitrary()?;
            resp::verbatim(out, format, &text);
            Tree::Text(b'=', [&format[..], b":", &text].concat())
        }
    })
}

fn elements(
    source: &mut Unstructured<'_>,
    out: &mut BytesMut,
    depth: usize,
    kind: u8,
    count: usize,
) -> Result<Tree> {
    let elements: Result<_> = (0..count).map(|_| write(source, out, depth + 1)).collect();
    Ok(Tree::Aggregate(kind, elements?))
}

/// A line cannot contain line ends; the encoder's own tests show what becomes of them.
fn line(source: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut text: Vec<u8> = source.arbitrary()?;
    text.retain(|byte| !matches!(byte, b'\r' | b'\n'));
    Ok(text)
}
