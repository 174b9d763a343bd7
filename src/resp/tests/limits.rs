//! Each limit holds exactly, and a value over a limit is an error before the parser waits for more.

use super::super::{Error, MAX_DEPTH, MAX_ELEMENTS, MAX_LENGTH, MAX_LINE, Parser};
use super::at_once;
use super::tree::Tree;

fn is_partial(bytes: &[u8]) -> bool {
    at_once(bytes) == Ok(None)
}

#[test]
fn the_longest_bulk_is_waited_for_and_no_longer_one() {
    assert!(is_partial(format!("${MAX_LENGTH}\r\n").as_bytes()));
    for kind in ["$", "!", "="] {
        let header = format!("{kind}{}\r\n", MAX_LENGTH + 1);
        assert_eq!(at_once(header.as_bytes()), Err(Error::TooLong));
    }
}

#[test]
fn the_longest_line_is_read_and_no_longer_one() {
    for kind in ["+", "-", "("] {
        let line = format!("{kind}{}", "1".repeat(MAX_LINE));
        assert!(is_partial(line.as_bytes()));
        let whole = format!("{line}\r\n");
        assert!(matches!(at_once(whole.as_bytes()), Ok(Some((_, len))) if len == whole.len()));
        assert_eq!(at_once(format!("{line}1").as_bytes()), Err(Error::TooLong));
        assert_eq!(at_once(format!("{line}1\r\n").as_bytes()), Err(Error::TooLong));
    }
}

#[test]
fn a_number_is_not_waited_for_when_it_is_too_long() {
    assert!(is_partial(b":12345678901234567890"));
    assert_eq!(at_once(b":123456789012345678901"), Err(Error::Integer));
    assert!(is_partial(b"*12345678901234567890"));
    assert_eq!(at_once(b"*123456789012345678901"), Err(Error::Length));
}

#[test]
fn the_deepest_value_is_read_and_no_deeper_one() {
    let (outer, mut inner) = (b"*1\r\n".repeat(MAX_DEPTH - 1), Tree::Array(vec![]));
    let deepest = [&outer[..], b"*0\r\n"].concat();
    for _ in 1..MAX_DEPTH {
        inner = Tree::Array(vec![inner]);
    }
    assert_eq!(at_once(&deepest), Ok(Some((inner, deepest.len()))));

    let too_deep = [&outer[..], b"*1\r\n*0\r\n"].concat();
    assert_eq!(at_once(&too_deep), Err(Error::TooDeep));
    assert_eq!(at_once(&b"*1\r\n".repeat(100_000)), Err(Error::TooDeep));
    assert_eq!(at_once(&b"|1\r\n".repeat(100_000)), Err(Error::TooDeep));
}

#[test]
fn depth_is_that_of_open_aggregates_only() {
    let flat = [&b"*100\r\n"[..], &b"*1\r\n*0\r\n".repeat(100)].concat();
    assert!(matches!(at_once(&flat), Ok(Some((_, len))) if len == flat.len()));
}

#[test]
fn the_largest_array_is_read_and_no_larger_one() {
    for element in [&b"_\r\n"[..], b":1\r\n"] {
        let array = |len| [format!("*{len}\r\n").as_bytes(), &element.repeat(len)].concat();
        let (largest, larger) = (array(MAX_ELEMENTS), array(MAX_ELEMENTS + 1));
        assert!(matches!(at_once(&largest), Ok(Some((_, len))) if len == largest.len()));
        assert_eq!(at_once(&larger), Err(Error::TooManyElements));
        // The header alone, ten bytes, is enough for the error.
        assert_eq!(at_once(&larger[..10]), Err(Error::TooManyElements));
    }
}

#[test]
fn the_elements_of_all_levels_count_together() {
    let half = MAX_ELEMENTS / 2;
    let exact = format!("*{half}\r\n%{}\r\n", half / 2);
    assert!(is_partial(exact.as_bytes()));
    let more = [exact.as_bytes(), &b":1\r\n".repeat(half), b"*1\r\n"].concat();
    assert_eq!(at_once(&more), Err(Error::TooManyElements));
}

#[test]
fn the_elements_of_one_value_do_not_count_for_the_next() {
    let header = format!("~{MAX_ELEMENTS}\r\n").into_bytes();
    let large = [&header[..], &b"_\r\n".repeat(MAX_ELEMENTS)].concat();
    let mut parser = Parser::new();
    for _ in 0..2 {
        assert!(parser.parse(&large).unwrap().is_complete());
    }
}

#[test]
fn attributes_without_end_are_rejected() {
    let mut parser = Parser::new();
    let attributes = [&b"*1\r\n"[..], &b"|0\r\n".repeat(MAX_ELEMENTS)].concat();
    assert!(parser.parse(&attributes[..attributes.len() - 4]).unwrap().is_partial());
    assert_eq!(parser.parse(&attributes), Err(Error::TooManyElements));
}

#[test]
fn a_parser_is_small() {
    assert!(size_of::<Parser>() <= 128, "{}", size_of::<Parser>());
}
