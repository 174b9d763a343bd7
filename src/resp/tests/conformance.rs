//! Accepted bytes with their values, and rejected bytes with their errors.

use super::super::{Error, parse};
use super::tree::Tree;
use super::{at_once, in_pieces, oracle};

/// Bytes that are exactly one value, and that value.
pub(super) fn samples() -> Vec<(&'static [u8], Tree)> {
    let mut samples = scalars();
    samples.extend(aggregates());
    samples
}

fn simple(text: &str) -> Tree {
    Tree::Simple(text.into())
}

fn bulk(bytes: &[u8]) -> Tree {
    Tree::Bulk(bytes.into())
}

fn scalars() -> Vec<(&'static [u8], Tree)> {
    vec![
        (b"+OK\r\n", simple("OK")),
        (b"+\r\n", simple("")),
        (b"+O\r\n", simple("O")),
        (b"+OKAY\r\n", simple("OKAY")),
        (b"+\xff\x00\r\n", Tree::Simple(b"\xff\x00".into())),
        (b"-ERR no\r\n", Tree::Error(b"ERR no".into())),
        (b"-\r\n", Tree::Error(b"".into())),
        (b":0\r\n", Tree::Integer(0)),
        (b":1\r\n", Tree::Integer(1)),
        (b":-1\r\n", Tree::Integer(-1)),
        (b":29999\r\n", Tree::Integer(29_999)),
        (b":9223372036854775807\r\n", Tree::Integer(i64::MAX)),
        (b":-9223372036854775808\r\n", Tree::Integer(i64::MIN)),
        (b"$0\r\n\r\n", bulk(b"")),
        (b"$2\r\nOK\r\n", bulk(b"OK")),
        (b"$4\r\n\r\n\r\n\r\n", bulk(b"\r\n\r\n")),
        (b"$10\r\n0123456789\r\n", bulk(b"0123456789")),
        (b"$-1\r\n", Tree::Null),
        (b"*-1\r\n", Tree::Null),
        (b"_\r\n", Tree::Null),
        (b"#t\r\n", Tree::Boolean(true)),
        (b"#f\r\n", Tree::Boolean(false)),
        (b",0\r\n", Tree::double(0.0)),
        (b",-0\r\n", Tree::double(-0.0)),
        (b",10\r\n", Tree::double(10.0)),
        (b",1.23\r\n", Tree::double(1.23)),
        (b",-0.0012\r\n", Tree::double(-0.0012)),
        (b",1e+20\r\n", Tree::double(1e20)),
        (b",1.5E-7\r\n", Tree::double(1.5e-7)),
        (b",2e007\r\n", Tree::double(2e7)),
        (b",inf\r\n", Tree::double(f64::INFINITY)),
        (b",-inf\r\n", Tree::double(f64::NEG_INFINITY)),
        (b",nan\r\n", Tree::double(f64::NAN)),
        (b",-nan\r\n", Tree::double(f64::NAN)),
        (b"(0\r\n", Tree::BigNumber(b"0".into())),
        (b"(-92233720368547758080\r\n", Tree::BigNumber(b"-92233720368547758080".into())),
        (b"(+5\r\n", Tree::BigNumber(b"+5".into())),
        (b"(-0\r\n", Tree::BigNumber(b"-0".into())),
        (b"(007\r\n", Tree::BigNumber(b"007".into())),
        (b"!5\r\nERR \n\r\n", Tree::BulkError(b"ERR \n".into())),
        (b"!0\r\n\r\n", Tree::BulkError(b"".into())),
        (b"=4\r\ntxt:\r\n", Tree::Verbatim(*b"txt", b"".into())),
        (b"=15\r\nmkd:Some string\r\n", Tree::Verbatim(*b"mkd", b"Some string".into())),
        (b"=5\r\n::::\r\r\n", Tree::Verbatim(*b":::", b"\r".into())),
    ]
}

fn aggregates() -> Vec<(&'static [u8], Tree)> {
    use Tree::{Array, Attribute, Integer, Map, Null, Push, Set};
    vec![
        (b"*0\r\n", Array(vec![])),
        (b"~0\r\n", Set(vec![])),
        (b"%0\r\n", Map(vec![])),
        (b">0\r\n", Push(vec![])),
        (b"|0\r\n", Attribute(vec![])),
        (b"*3\r\n:1\r\n:0\r\n:1\r\n", Array(vec![Integer(1), Integer(0), Integer(1)])),
        (b"*2\r\n$-1\r\n*-1\r\n", Array(vec![Null, Null])),
        (b"*2\r\n*1\r\n*0\r\n+a\r\n", Array(vec![Array(vec![Array(vec![])]), simple("a")])),
        (b"~1\r\n$1\r\na\r\n", Set(vec![bulk(b"a")])),
        (
            b"%2\r\n+first\r\n:1\r\n+second\r\n*1\r\n:2\r\n",
            Map(vec![simple("first"), Integer(1), simple("second"), Array(vec![Integer(2)])]),
        ),
        (b">2\r\n+message\r\n$2\r\nhi\r\n", Push(vec![simple("message"), bulk(b"hi")])),
        (b"|1\r\n+ttl\r\n:3600\r\n", Attribute(vec![simple("ttl"), Integer(3600)])),
        // Attributes of elements are neither counted nor returned: before the first and the last
        // element, several in a row, one inside another, empty ones, before an aggregate.
        (b"*1\r\n|1\r\n+ttl\r\n:3600\r\n:3\r\n", Array(vec![Integer(3)])),
        (b"*2\r\n:2\r\n|0\r\n|0\r\n|0\r\n:3\r\n", Array(vec![Integer(2), Integer(3)])),
        (
            b"%1\r\n|1\r\n|1\r\n+a\r\n+b\r\n+c\r\n+d\r\n+key\r\n|0\r\n*1\r\n|0\r\n:1\r\n",
            Map(vec![simple("key"), Array(vec![Integer(1)])]),
        ),
        (b"|1\r\n+a\r\n|1\r\n+b\r\n+c\r\n:1\r\n", Attribute(vec![simple("a"), Integer(1)])),
    ]
}

/// Bytes that no continuation makes a value.
pub(super) const REJECTED: &[(&[u8], Error)] = &[
    (b"OK\r\n", Error::Type),
    (b"\r\n", Error::Type),
    (b"\0", Error::Type),
    (b"*1\r\nx", Error::Type),
    (b"+OK\n", Error::Line),
    (b"+O\nK\r\n", Error::Line),
    (b"+O\rK\r\n", Error::Line),
    (b"+OK\r\r\n", Error::Line),
    (b"-ERR\n\r\n", Error::Line),
    (b":1\n", Error::Line),
    (b"$1\ra", Error::Line),
    (b"*1\n:1\r\n", Error::Line),
    (b"_\n", Error::Line),
    (b":\r\n", Error::Integer),
    (b":-\r\n", Error::Integer),
    (b":+5\r\n", Error::Integer),
    (b":-0\r\n", Error::Integer),
    (b":00\r\n", Error::Integer),
    (b":01\r\n", Error::Integer),
    (b":-01\r\n", Error::Integer),
    (b"::\r\n", Error::Integer),
    (b":/\r\n", Error::Integer),
    (b":1 \r\n", Error::Integer),
    (b":0x1\r\n", Error::Integer),
    (b":1.0\r\n", Error::Integer),
    (b":9223372036854775808\r\n", Error::Integer),
    (b":-9223372036854775809\r\n", Error::Integer),
    (b":18446744073709551617\r\n", Error::Integer),
    (b":111111111111111111111", Error::Integer),
    (b"$\r\n", Error::Length),
    (b"$-2\r\n", Error::Length),
    (b"$-0\r\n", Error::Length),
    (b"$+1\r\n", Error::Length),
    (b"$01\r\n", Error::Length),
    (b"$-01\r\n", Error::Length),
    (b"$1a\r\n", Error::Length),
    (b"$99999999999999999999\r\n", Error::Length),
    (b"$111111111111111111111", Error::Length),
    (b"!-1\r\n", Error::Length),
    (b"=-1\r\n", Error::Length),
    (b"*\r\n", Error::Length),
    (b"*-7\r\n", Error::Length),
    (b"*:\r\n", Error::Length),
    (b"*/\r\n", Error::Length),
    (b"*-0\r\n", Error::Length),
    (b"*+1\r\n", Error::Length),
    (b"*01\r\n", Error::Length),
    (b"~-1\r\n", Error::Length),
    (b"%-1\r\n", Error::Length),
    (b">-1\r\n", Error::Length),
    (b"|-1\r\n", Error::Length),
    (b"$999999999999\r\n", Error::TooLong),
    (b"$2\r\nOKAY", Error::Terminator),
    (b"$2\r\nOK\n\r", Error::Terminator),
    (b"$2\r\nOK\rx", Error::Terminator),
    (b"$0\r\n:1\r\n", Error::Terminator),
    (b"!1\r\nab\r\n", Error::Terminator),
    (b"_x", Error::Null),
    (b"#\r\n", Error::Boolean),
    (b"#T\r\n", Error::Boolean),
    (b"#true", Error::Boolean),
    (b",\r\n", Error::Double),
    (b",-\r\n", Error::Double),
    (b",+1\r\n", Error::Double),
    (b",.5\r\n", Error::Double),
    (b",5.\r\n", Error::Double),
    (b",5.e1\r\n", Error::Double),
    (b",05\r\n", Error::Double),
    (b",1e\r\n", Error::Double),
    (b",1e+\r\n", Error::Double),
    (b",1e1.5\r\n", Error::Double),
    (b",1e--1\r\n", Error::Double),
    (b",1e999\r\n", Error::Double),
    (b",Inf\r\n", Error::Double),
    (b",+inf\r\n", Error::Double),
    (b",infinity\r\n", Error::Double),
    (b",1 \r\n", Error::Double),
    (b",\xff\r\n", Error::Double),
    (b"(\r\n", Error::BigNumber),
    (b"(-\r\n", Error::BigNumber),
    (b"(+\r\n", Error::BigNumber),
    (b"(+-1\r\n", Error::BigNumber),
    (b"(abc\r\n", Error::BigNumber),
    (b"(1.5\r\n", Error::BigNumber),
    (b"=3\r\n", Error::Verbatim),
    (b"=4\r\ntext\r\n", Error::Verbatim),
    (b"*1\r\n>1\r\n", Error::Push),
    (b"|1\r\n>0\r\n", Error::Push),
    (b"$?\r\n", Error::Streamed),
    (b"*?\r\n", Error::Streamed),
    (b"%?\r\n", Error::Streamed),
    (b"~?\r\n", Error::Streamed),
    (b"*1\r\n;4\r\n", Error::Streamed),
    (b";", Error::Streamed),
    (b".", Error::Streamed),
    (b"*1048577\r\n", Error::TooManyElements),
    (b"%524289\r\n", Error::TooManyElements),
    (b"%9223372036854775807\r\n", Error::TooManyElements),
];

#[test]
fn samples_parse_to_their_value_whatever_follows() {
    for (bytes, tree) in samples() {
        for behind in [&b""[..], b"+OK\r\n", b"\n", b"garbage"] {
            let input = [bytes, behind].concat();
            let expected = Ok(Some((tree.clone(), bytes.len())));
            assert_eq!(at_once(&input), expected, "{}", input.escape_ascii());
        }
    }
}

#[test]
fn every_prefix_of_a_sample_is_partial() {
    for (bytes, _) in samples() {
        for end in 0..bytes.len() {
            assert_eq!(at_once(&bytes[..end]), Ok(None), "{}", bytes[..end].escape_ascii());
        }
    }
}

#[test]
fn what_is_not_resp_is_rejected() {
    for &(bytes, error) in REJECTED {
        assert_eq!(at_once(bytes), Err(error), "{}", bytes.escape_ascii());
        let later = [bytes, b"\r\n+OK\r\n"].concat();
        assert_eq!(at_once(&later), Err(error), "{}", later.escape_ascii());
        assert_eq!(in_pieces(&later, 0..later.len()), Err(error), "{}", later.escape_ascii());
    }
}

#[test]
fn the_oracle_agrees_with_the_tables() {
    for (bytes, tree) in samples() {
        assert_eq!(oracle::parse(bytes), Ok(Some((tree, bytes.len()))), "{}", bytes.escape_ascii());
    }
    for &(bytes, error) in REJECTED {
        assert_eq!(oracle::parse(bytes), Err(error), "{}", bytes.escape_ascii());
    }
}

#[test]
fn values_print_readably() {
    let printed: Vec<String> = samples()
        .iter()
        .map(|(bytes, _)| format!("{:?}", parse(bytes).unwrap().map(|(value, _)| value)))
        .collect();
    for expected in [
        r#"Complete(Simple("\xff\x00"))"#,
        r#"Complete(Error("ERR no"))"#,
        "Complete(Integer(-1))",
        r#"Complete(Bulk("\r\n\r\n"))"#,
        "Complete(Null)",
        "Complete(Boolean(true))",
        "Complete(Double(-inf))",
        "Complete(BigNumber(-92233720368547758080))",
        r#"Complete(BulkError("ERR \n"))"#,
        r#"Complete(Verbatim("mkd:Some string"))"#,
        r#"Complete(Array([Array([Array([])]), Simple("a")]))"#,
        r#"Complete(Set([Bulk("a")]))"#,
        r#"Complete(Map([Simple("key"), Array([Integer(1)])]))"#,
        r#"Complete(Push([Simple("message"), Bulk("hi")]))"#,
        r#"Complete(Attribute([Simple("ttl"), Integer(3600)]))"#,
    ] {
        assert!(printed.iter().any(|printed| printed == expected), "{expected}");
    }
}

#[test]
fn values_compare_by_content_not_by_spelling() {
    let value = |bytes| parse(bytes).unwrap().map(|(value, _)| value);
    let plain = value(b"*2\r\n_\r\n*1\r\n:1\r\n");
    assert_eq!(plain, value(b"*2\r\n|0\r\n$-1\r\n*1\r\n|0\r\n:1\r\n"));
    assert_ne!(plain, value(b"*2\r\n_\r\n*1\r\n:2\r\n"));
    assert_ne!(plain, value(b"*2\r\n_\r\n~1\r\n:1\r\n"));
    assert_ne!(plain, value(b"*1\r\n_\r\n"));
}
