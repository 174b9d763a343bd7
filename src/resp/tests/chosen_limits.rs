//! Limits other than the usual, and how many bytes are needed.

use super::super::{Error, Limits, LimitsError, MOST_DEPTH, Parser, Status};
use super::conformance::samples;

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// The outcome of parsing with these limits, without the value.
fn outcome<const DEPTH: usize>(limits: Limits, bytes: &[u8]) -> Result<Option<usize>, Error> {
    let mut parser = Parser::<DEPTH>::with_limits(limits).unwrap();
    match parser.parse(bytes)? {
        Status::Complete((_, len)) => Ok(Some(len)),
        Status::Partial => Ok(None),
    }
}

#[test]
fn a_chosen_line_is_read_and_no_longer_one() {
    for line in [64, 70_000] {
        let limits = limits(|limits| limits.line = line);
        for kind in ["+", "-", "("] {
            let longest = format!("{kind}{}\r\n", "7".repeat(line));
            assert_eq!(outcome::<16>(limits, longest.as_bytes()), Ok(Some(longest.len())));
            let longer = format!("{kind}{}", "7".repeat(line + 1));
            assert_eq!(outcome::<16>(limits, longer.as_bytes()), Err(Error::TooLong));
        }
        assert_eq!(outcome::<16>(limits, b"+OK\r\n"), Ok(Some(5)));
    }
}

#[test]
fn a_chosen_length_is_read_and_no_longer_one() {
    let limits = limits(|limits| limits.length = 4);
    for kind in ["$", "!", "="] {
        let longest = format!("{kind}4\r\ntxt:\r\n");
        assert_eq!(outcome::<16>(limits, longest.as_bytes()), Ok(Some(10)));
        for longer in ["5\r\ntxt:x\r\n", "5\r\n", "10\r\n"] {
            let longer = format!("{kind}{longer}");
            assert_eq!(outcome::<16>(limits, longer.as_bytes()), Err(Error::TooLong));
            let inside = format!("*1\r\n{longer}");
            assert_eq!(outcome::<16>(limits, inside.as_bytes()), Err(Error::TooLong));
        }
    }
    let none = self::limits(|limits| limits.length = 0);
    assert_eq!(outcome::<16>(none, b"$0\r\n\r\n"), Ok(Some(6)));
    assert_eq!(outcome::<16>(none, b"$1\r\na\r\n"), Err(Error::TooLong));
    let most = self::limits(|limits| limits.length = isize::MAX as usize);
    assert_eq!(outcome::<16>(most, format!("${}\r\nab", isize::MAX).as_bytes()), Ok(None));
}

#[test]
fn a_chosen_number_of_elements_is_read_and_no_larger_one() {
    let limits = limits(|limits| limits.elements = 4);
    assert_eq!(
        outcome::<16>(limits, &[&b"*4\r\n"[..], &b":1\r\n".repeat(4)].concat()),
        Ok(Some(20))
    );
    assert_eq!(outcome::<16>(limits, b"*5\r\n"), Err(Error::TooManyElements));
    assert_eq!(outcome::<16>(limits, b"%2\r\n"), Ok(None));
    assert_eq!(outcome::<16>(limits, b"%3\r\n"), Err(Error::TooManyElements));
    assert_eq!(
        outcome::<16>(limits, b"*2\r\n*2\r\n:1\r\n:1\r\n*1\r\n"),
        Err(Error::TooManyElements)
    );
    let none = self::limits(|limits| limits.elements = 0);
    assert_eq!(outcome::<16>(none, b"*0\r\n"), Ok(Some(4)));
    assert_eq!(outcome::<16>(none, b"*1\r\n:1\r\n"), Err(Error::TooManyElements));
    let most = self::limits(|limits| limits.elements = u32::MAX as usize / 2);
    assert_eq!(outcome::<16>(most, b"*2147483647\r\n:1\r\n"), Ok(None));
    assert_eq!(outcome::<16>(most, b"*2147483647\r\n*1\r\n"), Err(Error::TooManyElements));
    assert_eq!(outcome::<16>(most, b"*2147483648\r\n"), Err(Error::TooManyElements));
}

#[test]
fn a_chosen_depth_is_read_and_no_deeper_one() {
    fn check<const DEPTH: usize>() {
        let deepest = [b"*1\r\n".repeat(DEPTH - 1), b"*0\r\n".to_vec()].concat();
        assert_eq!(outcome::<DEPTH>(Limits::default(), &deepest), Ok(Some(deepest.len())));
        let deeper = b"*1\r\n".repeat(DEPTH + 1);
        assert_eq!(outcome::<DEPTH>(Limits::default(), &deeper), Err(Error::TooDeep));
    }
    check::<1>();
    check::<2>();
    check::<40>();
    check::<MOST_DEPTH>();
}

#[test]
fn a_limit_out_of_bounds_is_named() {
    let error = |what, value, least, most| Err(LimitsError { what, value, least, most });
    let check = |limits| Parser::<16>::with_limits(limits).map(drop);
    let longest = 512 * 1024 * 1024;
    for line in [0, 63, longest + 1] {
        assert_eq!(check(limits(|limits| limits.line = line)), error("line", line, 64, longest));
    }
    let (elements, most) = (1 << 31, (1 << 31) - 1);
    let large = limits(|limits| limits.elements = elements);
    assert_eq!(check(large), error("elements", elements, 0, most));
    let (length, most) = (usize::MAX, isize::MAX as usize);
    let long = limits(|limits| limits.length = length);
    assert_eq!(check(long), error("length", length, 0, most));
}

#[test]
fn as_many_bytes_are_needed_as_the_value_has_announced() {
    for (bytes, expected) in [
        (&b""[..], 3),
        (b"+", 2),
        (b"+O", 1),
        (b"$10\r\n", 12),
        (b"$10\r\nabc", 9),
        (b"$10\r\n0123456789\r", 1),
        (b"*3\r\n", 9),
        (b"*3\r\n:1\r\n", 6),
        (b"*3\r\n:1\r\n$10\r\n", 12 + 3),
        (b"*2\r\n*2\r\n:1\r\n", 3 + 3),
        (b"%2\r\n+a\r\n", 9),
        (b"*1\r\n|1\r\n", 9),
    ] {
        let mut parser = Parser::new();
        assert_eq!(parser.parse(bytes), Ok(Status::Partial));
        assert_eq!(parser.needed(), expected, "{}", bytes.escape_ascii());
        parser.reset();
        assert_eq!(parser.needed(), 0);
    }
    let mut parser = Parser::new();
    assert_eq!(parser.needed(), 0);
    assert!(parser.parse(b"+OK\r\n").unwrap().is_complete());
    assert_eq!(parser.needed(), 0);
    assert!(parser.parse(b"+OK\n").is_err());
    assert_eq!(parser.needed(), 0);
}

#[test]
fn no_more_bytes_are_needed_than_the_value_has() {
    for (bytes, _) in samples() {
        for first in 0..bytes.len() {
            let mut parser = Parser::new();
            let mut end = first;
            while parser.parse(&bytes[..end]).unwrap().is_partial() {
                let needed = parser.needed();
                assert!((1..=bytes.len() - end).contains(&needed), "{}", bytes.escape_ascii());
                end += needed;
            }
            assert_eq!(end, bytes.len());
        }
    }
}
