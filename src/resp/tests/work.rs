//! A counter of the parser's work: the bytes searched for line ends, plus one for each search.

use std::cell::Cell;

use super::super::{MAX_LINE, Parser, Status, parse};

thread_local! {
    static WORK: Cell<usize> = const { Cell::new(0) };
}

pub(in super::super) fn add(work: usize) {
    WORK.set(WORK.get() + work);
}

fn of(run: impl FnOnce()) -> usize {
    let before = WORK.get();
    run();
    WORK.get() - before
}

/// The work of parsing `bytes` at once, and of parsing them one byte at a time.
fn at_once_and_bytewise(bytes: &[u8]) -> (usize, usize) {
    let at_once = of(|| assert!(parse(bytes).is_ok_and(|status| status.is_complete())));
    let bytewise = of(|| {
        let mut parser = Parser::new();
        for end in 0..bytes.len() {
            assert_eq!(parser.parse(&bytes[..end]), Ok(Status::Partial));
        }
        assert!(parser.parse(bytes).is_ok_and(|status| status.is_complete()));
    });
    (at_once, bytewise)
}

#[test]
fn a_long_line_is_searched_once_however_it_arrives() {
    let line = [b"-", &vec![b'x'; MAX_LINE][..], b"\r\n"].concat();
    let (at_once, bytewise) = at_once_and_bytewise(&line);
    assert!(at_once <= line.len() + 1, "{at_once}");
    // Each call searches its new byte and counts as one, and the CR is looked at twice.
    assert!(bytewise <= 2 * line.len() + 2, "{bytewise}");
}

#[test]
fn a_bulk_costs_nothing_until_it_is_complete() {
    let bulk = [b"$100000\r\n", &vec![b'\r'; 100_000][..], b"\r\n"].concat();
    let (at_once, bytewise) = at_once_and_bytewise(&bulk);
    assert!(at_once <= 10, "{at_once}");
    assert!(bytewise <= 30, "{bytewise}");
}

#[test]
fn elements_that_are_complete_are_not_read_again() {
    let element = b"*2\r\n:12345\r\n$3\r\nabc\r\n";
    let array = [b"*2000\r\n", &element.repeat(2000)[..]].concat();
    let (at_once, bytewise) = at_once_and_bytewise(&array);
    assert!(at_once <= 2 * array.len(), "{at_once}");
    assert!(bytewise <= 3 * array.len(), "{bytewise}");
}
