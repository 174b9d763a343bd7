//! Properties of arbitrary values and of arbitrary bytes.

use bytes::BytesMut;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::tree::Tree;
use super::{at_once, in_pieces, oracle};
use crate::resp::{self, Parser, Status};

/// The same cases in every run: a failure is a failure for everybody.
pub(super) fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 2_000,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>().prop_filter("a line", |byte| !b"\r\n".contains(byte)), 0..12)
}

fn binary() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n')], 0..12)
}

fn scalar() -> impl Strategy<Value = Tree> {
    prop_oneof![
        text().prop_map(Tree::Simple),
        text().prop_map(Tree::Error),
        any::<i64>().prop_map(Tree::Integer),
        (-9..99_i64).prop_map(Tree::Integer),
        binary().prop_map(Tree::Bulk),
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Boolean),
        any::<u64>().prop_map(|bits| Tree::double(f64::from_bits(bits))),
        any::<i128>().prop_map(|number| Tree::BigNumber(number.to_string().into())),
        binary().prop_map(Tree::BulkError),
        (any::<[u8; 3]>(), binary()).prop_map(|(format, text)| Tree::Verbatim(format, text)),
    ]
}

/// Cuts a list to an even length, for the keys and values of a map.
fn pairs(mut elements: Vec<Tree>) -> Vec<Tree> {
    elements.truncate(elements.len() / 2 * 2);
    elements
}

fn element() -> impl Strategy<Value = Tree> {
    scalar().prop_recursive(5, 64, 6, |inner| {
        let elements = vec(inner.clone(), 0..6);
        prop_oneof![
            elements.clone().prop_map(Tree::Array),
            elements.clone().prop_map(Tree::Set),
            elements.clone().prop_map(|elements| Tree::Map(pairs(elements))),
            (elements, inner).prop_map(|(attribute, element)| Tree::Annotated(
                pairs(attribute),
                Box::new(element)
            )),
        ]
    })
}

/// Any value, including those that occur only at the top level.
pub(super) fn value() -> impl Strategy<Value = Tree> {
    prop_oneof![
        4 => element().prop_filter("two values", |tree| !matches!(tree, Tree::Annotated(..))),
        1 => vec(element(), 0..6).prop_map(Tree::Push),
        1 => vec(element(), 0..6).prop_map(|elements| Tree::Attribute(pairs(elements))),
    ]
}

/// Bytes with a beginning that looks like RESP.
fn nearly_resp() -> impl Strategy<Value = Vec<u8>> {
    let pieces: &[&[u8]] = &[
        b"+", b"-", b":", b"$", b"*", b"_", b"#", b",", b"(", b"!", b"=", b"~", b"%", b">", b"|",
        b";", b".", b"\r\n", b"\r\n", b"\r\n", b"\r", b"\n", b"0", b"1", b"2", b"3", b"-1", b"4",
        b"?", b"t", b"inf", b"1.5", b"e5", b"txt:", b"ab", b"*1\r\n", b"*2\r\n", b"%1\r\n",
        b"|0\r\n", b"|1\r\n", b"~2\r\n", b":1\r\n", b"+a\r\n", b"$2\r\n", b"$-1\r\n", b"+OK\r\n",
        b"=5\r\n", b"_\r\n", b"#f\r\n", b",1\r\n", b"(1\r\n", b"!1\r\n", b">1\r\n", b"*16\r\n",
    ];
    vec(proptest::sample::select(pieces), 0..24).prop_map(|pieces| pieces.concat())
}

/// A valid encoding with a few bytes changed, removed or added.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let damage = (any::<prop::sample::Index>(), 0..3_u8, any::<u8>());
    (value(), vec(damage, 1..4)).prop_map(|(tree, damages)| {
        let mut bytes = tree.encoded();
        for (index, how, byte) in damages {
            let at = index.index(bytes.len() + 1);
            match bytes.get_mut(at) {
                Some(place) if how == 0 => *place = byte,
                Some(_) if how == 1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
        }
        bytes
    })
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![1 => vec(any::<u8>(), 0..40), 4 => nearly_resp(), 2 => damaged()]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_encoded_is_parsed_back(tree in value(), behind in binary()) {
        let mut bytes = tree.encoded();
        let expected = Ok(Some((tree.without_attributes(), bytes.len())));
        bytes.extend(behind);
        prop_assert_eq!(at_once(&bytes), expected);
    }

    #[test]
    fn a_value_is_partial_until_its_last_byte(tree in value()) {
        let bytes = tree.encoded();
        let mut parser = Parser::new();
        for end in 0..bytes.len() {
            prop_assert_eq!(at_once(&bytes[..end]), Ok(None));
            prop_assert_eq!(parser.parse(&bytes[..end]), Ok(Status::Partial));
        }
        prop_assert!(parser.parse(&bytes).is_ok_and(|status| status.is_complete()));
    }

    #[test]
    fn at_once_bytewise_and_oracle_agree_on_any_bytes(bytes in bytes()) {
        let expected = oracle::parse(&bytes);
        prop_assert_eq!(at_once(&bytes), expected.clone());
        prop_assert_eq!(in_pieces(&bytes, 0..bytes.len()), expected);
    }

    #[test]
    fn any_pieces_give_the_same(bytes in bytes(), cuts in vec(any::<prop::sample::Index>(), 0..5)) {
        let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        ends.sort_unstable();
        prop_assert_eq!(in_pieces(&bytes, ends), at_once(&bytes));
    }

    #[test]
    fn the_encoder_writes_what_the_parser_reads(args in vec(binary(), 0..6), number: i64) {
        let slices: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        let mut out = BytesMut::new();
        resp::command(&mut out, &slices);
        let command = Tree::Array(args.into_iter().map(Tree::Bulk).collect());
        prop_assert_eq!(at_once(&out), Ok(Some((command, out.len()))));

        out.clear();
        resp::array_header(&mut out, 4);
        resp::integer(&mut out, number);
        resp::bulk_integer(&mut out, number);
        resp::null(&mut out);
        resp::map_header(&mut out, 0);
        let reply = Tree::Array(std::vec![
            Tree::Integer(number),
            Tree::Bulk(number.to_string().into()),
            Tree::Null,
            Tree::Map(std::vec![]),
        ]);
        prop_assert_eq!(at_once(&out), Ok(Some((reply, out.len()))));
    }

    #[test]
    fn the_encoder_writes_every_value(tree in value()) {
        let mut out = BytesMut::new();
        tree.write(&mut out);
        let expected = Ok(Some((tree.without_attributes(), out.len())));
        prop_assert_eq!(at_once(&out), expected);
    }

    #[test]
    fn a_line_is_one_value_whatever_its_text(text in binary()) {
        let clean: Vec<u8> =
            text.iter().map(|byte| if b"\r\n".contains(byte) { b' ' } else { *byte }).collect();
        let mut out = BytesMut::new();
        resp::simple(&mut out, &text);
        prop_assert_eq!(at_once(&out), Ok(Some((Tree::Simple(clean.clone()), out.len()))));
        out.clear();
        resp::error(&mut out, &text);
        prop_assert_eq!(at_once(&out), Ok(Some((Tree::Error(clean), out.len()))));
    }
}
