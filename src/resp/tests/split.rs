//! The result does not depend on the pieces in which the bytes arrive.

use super::super::{Error, Parser, Status, Value};
use super::conformance::{REJECTED, samples};
use super::tree::Tree;
use super::{at_once, in_pieces};

#[test]
fn every_cut_into_two_or_three_pieces_gives_the_same() {
    let rejected = REJECTED.iter().map(|&(bytes, _)| bytes);
    for bytes in samples().into_iter().map(|(bytes, _)| bytes).chain(rejected) {
        let expected = at_once(bytes);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let outcome = in_pieces(bytes, [first, second]);
                assert_eq!(outcome, expected, "{} {first} {second}", bytes.escape_ascii());
            }
        }
    }
}

#[test]
fn one_parser_reads_a_stream_byte_by_byte() {
    let stream: Vec<u8> = samples().into_iter().flat_map(|(bytes, _)| bytes.to_vec()).collect();
    let mut parser = Parser::new();
    let mut trees = Vec::new();
    let mut start = 0;
    for end in 1..=stream.len() {
        if let Status::Complete((value, len)) = parser.parse(&stream[start..end]).unwrap() {
            trees.push(Tree::from(value));
            start += len;
        }
    }
    assert_eq!(start, stream.len());
    assert_eq!(trees, samples().into_iter().map(|(_, tree)| tree).collect::<Vec<_>>());
}

#[test]
fn a_copy_goes_on_where_the_original_is() {
    let mut parser = Parser::new();
    assert!(parser.parse(b"*1\r\n+O").unwrap().is_partial());
    let mut copy = parser.clone();
    assert!(parser.parse(b"*1\r\n+OK\r\n").unwrap().is_complete());
    assert!(copy.parse(b"*1\r\n+ON\r\n").unwrap().is_complete());
}

#[test]
fn an_error_stays_until_reset() {
    let mut parser = Parser::new();
    assert_eq!(parser.parse(b"*2\r\n$-2\r\n"), Err(Error::Length));
    assert_eq!(parser.parse(b"+OK\r\n"), Err(Error::Length));
    assert_eq!(parser.parse(b""), Err(Error::Length));
    parser.reset();
    assert_eq!(parser.parse(b"+YES\r\n"), Ok(Status::Complete((Value::Simple(b"YES"), 6))));
}

#[test]
fn reset_forgets_an_incomplete_value() {
    for begun in [&b"+O"[..], b"+OKOKOKOK", b"$5\r\nab", b"*2\r\n*3\r\n:1\r\n"] {
        let mut parser = Parser::new();
        assert!(parser.parse(begun).unwrap().is_partial());
        parser.reset();
        assert_eq!(parser.parse(b":12\r\n"), Ok(Status::Complete((Value::Integer(12), 5))));
    }
}

#[test]
fn fewer_or_other_bytes_than_before_do_no_harm() {
    let inputs: Vec<_> = samples().into_iter().map(|(bytes, _)| bytes).collect();
    for begun in &inputs {
        for end in 0..begun.len() {
            for other in &inputs {
                let mut parser = Parser::new();
                assert!(parser.parse(&begun[..end]).unwrap().is_partial());
                for end in 0..=other.len() {
                    if let Ok(Status::Complete((value, len))) = parser.parse(&other[..end]) {
                        assert!(len <= end);
                        assert!(!format!("{value:?}").is_empty());
                        break;
                    }
                }
            }
        }
    }
}
