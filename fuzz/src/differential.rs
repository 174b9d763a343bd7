//! Two parsers with nothing in common: the one of redbolt ("ours") and that of `redis-protocol`
//! ("theirs").
//!
//! Everything that both parsers read must be the same value with the same end. If only one of them
//! reads something, the reason must be one of those below; every other difference is a finding.
//!
//! Only ours reads:
//!
//! * in RESP2: the null of RESP3, inner attributes, errors that are not UTF-8 ([`compare2`]);
//! * in RESP3: the nulls of RESP2, attributes (which our parser skips), errors that are not UTF-8,
//!   formats of verbatim strings other than `txt` and `mkd`, and sets and maps that contain
//!   aggregates, doubles or the same element twice ([`is_theirs`]).
//!
//! Only theirs reads input that is not canonical, such as `:+5`, `$01`, a lone CR in a line, or a
//! bulk without CR LF behind; and input beyond a limit of ours. So both must read every input that
//! is spelled as a server would and is not nested too deep: by our encoder in RESP2, by [`spell`]
//! in RESP3 ([`refused`]). There, a map or a set counts if its elements come in an order
//! that their hash tables keep, which is so for one element.

use core::str;

use bytes::BytesMut;
use redbolt::resp::{self, MAX_DEPTH, Status};
use redis_protocol::resp2::decode as resp2;
use redis_protocol::resp2::types::OwnedFrame as Frame2;
use redis_protocol::resp3::decode::complete as resp3;
use redis_protocol::resp3::types::{OwnedFrame as Frame3, VerbatimStringFormat};

use super::tree::Tree;

/// Arrays nested to this depth do not exhaust the stack of a test.
const DEPTH_THEY_STAND: usize = 200;

/// Reads value after value with both parsers.
///
/// # Panics
///
/// Panics if the parsers disagree.
pub fn differential(data: &[u8]) {
    let mut rest = data;
    loop {
        let theirs = || resp2::decode(rest).ok().flatten();
        match resp::parse(rest) {
            Ok(Status::Complete((value, used))) => {
                let (tree, bytes) = (Tree::from(&value), &rest[..used]);
                if tree.is_resp2() {
                    compare2(&tree, bytes, theirs());
                }
                if is_theirs(&tree) && !has_older_null(bytes) && !bytes.contains(&b'|') {
                    compare3(&tree, bytes, rest);
                }
                rest = &rest[used..];
            }
            Ok(Status::Partial) => {
                assert_eq!(theirs(), None, "we wait for more");
                if is_flat(rest) {
                    refused("we wait for more", rest, None);
                }
                return;
            }
            Err(error) => {
                if is_flat(rest) {
                    refused(&error.to_string(), rest, theirs());
                }
                return;
            }
        }
    }
}

/// Returns whether their parsers, which recurse, stand the depth of the input. Where ours reads no
/// further, no bound of ours limits the depth.
fn is_flat(rest: &[u8]) -> bool {
    let is_aggregate = |byte: &&u8| matches!(byte, b'*' | b'~' | b'%' | b'>' | b'|');
    rest.iter().filter(is_aggregate).count() <= DEPTH_THEY_STAND
}

/// Checks bytes that our parser does not read, for this reason. In RESP2 it may be only theirs.
fn refused(reason: &str, rest: &[u8], theirs: Option<(Frame2, usize)>) {
    let is_ours = theirs.is_some_and(|(frame, used)| {
        let tree = Tree::from(frame);
        depth(&tree) <= MAX_DEPTH && is_canonical(&tree, &rest[..used])
    });
    assert!(!is_ours, "{reason}, but it is spelled as we would: {}", rest.escape_ascii());
    let Ok(Some((frame, used))) = resp3::decode(rest) else { return };
    let Some(tree) = tree3(frame) else { return };
    let mut spelled = Vec::new();
    let is_ours = depth(&tree) <= MAX_DEPTH && spell(&tree, &mut spelled);
    let is_ours = is_ours && spelled == rest[..used];
    assert!(!is_ours, "{reason}, but servers write {}", rest.escape_ascii());
}

/// Writes a value of RESP3 as servers do. Returns `false` for a value that no server writes.
fn spell(tree: &Tree, out: &mut Vec<u8>) -> bool {
    let line = |text: &[u8]| !text.iter().any(|byte| matches!(byte, b'\r' | b'\n'));
    match tree {
        Tree::Text(kind @ (b'+' | b'-' | b'('), text) => {
            out.extend([&[*kind], &text[..], b"\r\n"].concat());
            let digits = text.strip_prefix(b"-").unwrap_or(text);
            let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
            return line(text) && (*kind != b'(' || is_number);
        }
        Tree::Text(kind, text) => {
            out.push(*kind);
            out.extend(format!("{}\r\n", text.len()).bytes());
            out.extend([&text[..], b"\r\n"].concat());
        }
        Tree::Integer(integer) => out.extend(format!(":{integer}\r\n").bytes()),
        Tree::Boolean(boolean) => out.extend(if *boolean { b"#t\r\n" } else { b"#f\r\n" }),
        Tree::Double(bits) => match f64::from_bits(*bits) {
            double if double.is_nan() => out.extend(b",nan\r\n"),
            double => out.extend(format!(",{double}\r\n").bytes()),
        },
        Tree::Null => out.extend(b"_\r\n"),
        Tree::Aggregate(kind, elements) => {
            let count = if *kind == b'%' { elements.len() / 2 } else { elements.len() };
            out.push(*kind);
            out.extend(format!("{count}\r\n").bytes());
            // A push comes between replies, never inside of one.
            let is_push = |tree: &Tree| matches!(tree, Tree::Aggregate(b'>', _));
            return elements.iter().all(|element| !is_push(element) && spell(element, out));
        }
    }
    true
}

/// Checks a value that our parser has read from these bytes, and that RESP2 has.
fn compare2(tree: &Tree, bytes: &[u8], theirs: Option<(Frame2, usize)>) {
    match theirs {
        Some((frame, used)) => assert_eq!((&Tree::from(frame), used), (tree, bytes.len())),
        None => {
            let is_newer = bytes.iter().any(|byte| matches!(byte, b'_' | b'|'));
            assert!(is_newer || !has_utf8_errors(tree), "they cannot read {tree:?}");
        }
    }
}

/// Checks a value that our parser has read from these bytes at the beginning of `rest`, and that
/// theirs can read.
fn compare3(tree: &Tree, bytes: &[u8], rest: &[u8]) {
    let Ok(Some((frame, used))) = resp3::decode(rest) else {
        panic!("they cannot read {tree:?}");
    };
    let theirs = tree3(frame).expect("a value that we read");
    assert_eq!((theirs.sorted(), used), (tree.clone().sorted(), bytes.len()));
}

/// Returns whether our encoder spells this value of RESP2 with these bytes.
fn is_canonical(tree: &Tree, bytes: &[u8]) -> bool {
    let mut out = BytesMut::new();
    encode(tree, &mut out);
    out == bytes
}

fn encode(tree: &Tree, out: &mut BytesMut) {
    match tree {
        Tree::Text(b'+', text) => resp::simple(out, text),
        Tree::Text(b'-', text) => resp::error(out, text),
        Tree::Text(_, text) => resp::bulk(out, text),
        Tree::Integer(integer) => resp::integer(out, *integer),
        Tree::Aggregate(_, elements) => {
            resp::array_header(out, elements.len());
            elements.iter().for_each(|element| encode(element, out));
        }
        Tree::Null | Tree::Boolean(_) | Tree::Double(_) => resp::null(out),
    }
}

fn depth(tree: &Tree) -> usize {
    match tree {
        Tree::Aggregate(_, elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn has_utf8_errors(tree: &Tree) -> bool {
    match tree {
        Tree::Text(b'-', text) => str::from_utf8(text).is_ok(),
        Tree::Aggregate(_, elements) => elements.iter().all(has_utf8_errors),
        _ => true,
    }
}

/// Returns whether the bytes may hold a null of RESP2, which their parser of RESP3 takes for a
/// stream.
fn has_older_null(bytes: &[u8]) -> bool {
    bytes.windows(5).any(|token| matches!(token, b"$-1\r\n" | b"*-1\r\n"))
}

/// Returns whether their parser of RESP3 can read this value.
fn is_theirs(tree: &Tree) -> bool {
    match tree {
        Tree::Text(b'-', text) => str::from_utf8(text).is_ok(),
        Tree::Text(b'=', text) => text.starts_with(b"txt:") || text.starts_with(b"mkd:"),
        Tree::Text(..) | Tree::Integer(_) | Tree::Null => true,
        Tree::Boolean(_) | Tree::Double(_) => true,
        Tree::Aggregate(b'~', elements) => {
            let elements: Vec<_> = elements.iter().collect();
            are_distinct(&elements) && elements.into_iter().all(is_theirs)
        }
        Tree::Aggregate(b'%', elements) => {
            let keys: Vec<_> = elements.iter().step_by(2).collect();
            are_distinct(&keys) && elements.iter().all(is_theirs)
        }
        Tree::Aggregate(_, elements) => elements.iter().all(is_theirs),
    }
}

/// Returns whether the values can be elements of a hash table, and none occurs twice.
fn are_distinct(trees: &[&Tree]) -> bool {
    let can_be_hashed = |tree: &&Tree| !matches!(tree, Tree::Double(_) | Tree::Aggregate(..));
    let mut sorted = trees.to_vec();
    sorted.sort_unstable();
    sorted.iter().all(can_be_hashed) && sorted.is_sorted_by(|a, b| a < b)
}

impl From<Frame2> for Tree {
    fn from(frame: Frame2) -> Self {
        match frame {
            Frame2::SimpleString(text) => Self::Text(b'+', text),
            Frame2::Error(text) => Self::Text(b'-', text.into_bytes()),
            Frame2::BulkString(bytes) => Self::Text(b'$', bytes),
            Frame2::Integer(integer) => Self::Integer(integer),
            Frame2::Null => Self::Null,
            Frame2::Array(frames) => Self::aggregate(b'*', frames),
        }
    }
}

/// Returns a value of RESP3; `None` for what is none: a part of a stream, or a greeting.
fn tree3(frame: Frame3) -> Option<Tree> {
    Some(match frame {
        Frame3::SimpleString { data, .. } => Tree::Text(b'+', data),
        Frame3::SimpleError { data, .. } => Tree::Text(b'-', data.into_bytes()),
        Frame3::BlobString { data, .. } => Tree::Text(b'$', data),
        Frame3::BlobError { data, .. } => Tree::Text(b'!', data),
        Frame3::BigNumber { data, .. } => Tree::Text(b'(', data),
        Frame3::VerbatimString { data, format, .. } => {
            let format: &[u8] = match format {
                VerbatimStringFormat::Text => b"txt:",
                VerbatimStringFormat::Markdown => b"mkd:",
            };
            Tree::Text(b'=', [format, &data].concat())
        }
        Frame3::Number { data, .. } => Tree::Integer(data),
        Frame3::Boolean { data, .. } => Tree::Boolean(data),
        Frame3::Double { data, .. } => Tree::double(data),
        Frame3::Null => Tree::Null,
        Frame3::Array { data, .. } => aggregate3(b'*', data)?,
        Frame3::Push { data, .. } => aggregate3(b'>', data)?,
        Frame3::Set { data, .. } => aggregate3(b'~', data)?,
        Frame3::Map { data, .. } => {
            aggregate3(b'%', data.into_iter().flat_map(|(key, value)| [key, value]))?
        }
        _ => return None,
    })
}

fn aggregate3(kind: u8, frames: impl IntoIterator<Item = Frame3>) -> Option<Tree> {
    Some(Tree::Aggregate(kind, frames.into_iter().map(tree3).collect::<Option<_>>()?))
}

impl Tree {
    fn aggregate<F: Into<Self>>(kind: u8, frames: impl IntoIterator<Item = F>) -> Self {
        Self::Aggregate(kind, frames.into_iter().map(Into::into).collect())
    }

    /// Returns the same value, with the elements of sets and maps in an order that does not depend
    /// on a hash.
    fn sorted(self) -> Self {
        let Self::Aggregate(kind, elements) = self else { return self };
        let mut elements: Vec<_> = elements.into_iter().map(Self::sorted).collect();
        match kind {
            b'~' => elements.sort_unstable(),
            b'%' => {
                let mut pairs: Vec<_> = elements.chunks_exact(2).map(<[Self]>::to_vec).collect();
                pairs.sort_unstable();
                elements = pairs.concat();
            }
            _ => {}
        }
        Self::Aggregate(kind, elements)
    }
}
