//! Two parsers that have nothing in common: ours and that of `redis-protocol`.
//!
//! Ours is the stricter one, so what it rejects says nothing. What it reads, the other must read
//! as well, to the same end; and what is RESP2, as the same value.

use redbolt::resp::{self, Status};
use redis_protocol::resp2::decode as resp2;
use redis_protocol::resp2::types::OwnedFrame;
use redis_protocol::resp3::decode::complete as resp3;

use super::tree::Tree;

/// Reads value after value with both.
///
/// # Panics
///
/// If they disagree.
pub fn differential(data: &[u8]) {
    let mut rest = data;
    loop {
        match resp::parse(rest) {
            Ok(Status::Complete((value, used))) => {
                let tree = Tree::from(&value);
                if tree.is_resp2() {
                    compare(&tree, used, rest);
                } else if has_length(&tree) && is_plain(&rest[..used]) {
                    let theirs = resp3::decode_range(rest).map(|found| found.map(|(_, used)| used));
                    assert_eq!(theirs.ok().flatten(), Some(used), "{tree:?}");
                }
                rest = &rest[used..];
            }
            Ok(Status::Partial) => {
                let theirs = resp2::decode(rest).ok().flatten();
                assert!(theirs.is_none(), "we wait for more behind {theirs:?}");
                return;
            }
            Err(_) => return,
        }
    }
}

fn compare(tree: &Tree, used: usize, bytes: &[u8]) {
    // Their errors are text in UTF-8; ours are bytes.
    if has_foreign_text(tree) {
        return;
    }
    let Ok(Some((frame, theirs))) = resp2::decode(bytes) else {
        // The null of RESP3 is the same value as those of RESP2, and attributes inside of
        // aggregates are passed over: such bytes are not RESP2.
        let is_newer = bytes[..used].iter().any(|byte| matches!(byte, b'_' | b'|'));
        assert!(is_newer, "they cannot read {tree:?}");
        return;
    };
    assert_eq!(theirs, used, "{tree:?}");
    assert_eq!(&from(frame), tree);
}

fn has_foreign_text(tree: &Tree) -> bool {
    match tree {
        Tree::Text(b'+' | b'-', text) => core::str::from_utf8(text).is_err(),
        Tree::Aggregate(_, elements) => elements.iter().any(has_foreign_text),
        _ => false,
    }
}

fn from(frame: OwnedFrame) -> Tree {
    match frame {
        OwnedFrame::SimpleString(text) => Tree::Text(b'+', text),
        OwnedFrame::Error(text) => Tree::Text(b'-', text.into_bytes()),
        OwnedFrame::BulkString(bytes) => Tree::Text(b'$', bytes),
        OwnedFrame::Integer(integer) => Tree::Integer(integer),
        OwnedFrame::Null => Tree::Null,
        OwnedFrame::Array(frames) => Tree::Aggregate(b'*', frames.into_iter().map(from).collect()),
    }
}

/// Whether the bytes are text without attributes, which we pass over, where they cannot be theirs.
fn is_plain(bytes: &[u8]) -> bool {
    core::str::from_utf8(bytes).is_ok() && !bytes.contains(&b'|')
}

/// Whether their parser of RESP3 can read it: it has no nulls of RESP2 inside aggregates, no NaN
/// with a sign, no formats of verbatim strings but two, and it refuses doubles in maps as keys.
fn has_length(tree: &Tree) -> bool {
    match tree {
        Tree::Text(b'+' | b'-' | b'!' | b'(', text) => core::str::from_utf8(text).is_ok(),
        Tree::Text(b'$', _) | Tree::Integer(_) | Tree::Boolean(_) => true,
        Tree::Aggregate(b'*', elements) => elements.iter().all(has_length),
        _ => false,
    }
}
