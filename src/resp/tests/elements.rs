//! The ways through an aggregate agree: by values, by elements with their bytes, and by tokens.

use proptest::prelude::*;

use super::super::{
    Aggregate, Elements, Limits, Null, Parser, Status, Token, Tokens, Value, parse,
};
use super::at_once;
use super::conformance::samples;
use super::properties::{config, value};
use super::tree::Tree;

/// The elements of the aggregate that these bytes are.
fn elements(bytes: &[u8]) -> Option<Elements<'_>> {
    match parse(bytes) {
        Ok(Status::Complete((
            Value::Array(elements)
            | Value::Set(elements)
            | Value::Map(elements)
            | Value::Push(elements)
            | Value::Attribute(elements),
            _,
        ))) => Some(elements),
        _ => None,
    }
}

/// Makes a tree of the next value, attributes included.
fn tree(tokens: &mut Tokens<'_>) -> Tree {
    match tokens.next().expect("as many tokens as announced") {
        Token::Scalar(value) => Tree::from(value),
        Token::Header(Aggregate::Attribute, count) => {
            let attribute = trees(tokens, count);
            Tree::Annotated(attribute, Box::new(tree(tokens)))
        }
        Token::Header(Aggregate::Array, count) => Tree::Array(trees(tokens, count)),
        Token::Header(Aggregate::Set, count) => Tree::Set(trees(tokens, count)),
        Token::Header(Aggregate::Map, count) => Tree::Map(trees(tokens, count)),
        Token::Header(Aggregate::Push, count) => Tree::Push(trees(tokens, count)),
    }
}

fn trees(tokens: &mut Tokens<'_>, count: u32) -> Vec<Tree> {
    (0..count).map(|_| tree(tokens)).collect()
}

/// Checks that every way through this value finds the same.
fn check(bytes: &[u8]) {
    let Some(elements) = elements(bytes) else { return };
    let values: Vec<Tree> = elements.clone().map(Tree::from).collect();

    let mut tokens = elements.tokens();
    let annotated = trees(&mut tokens, elements.len() as u32);
    assert_eq!(tokens.next(), None);
    assert!(tokens.bytes().is_empty());
    let plain: Vec<_> = annotated.into_iter().map(Tree::without_attributes).collect();
    assert_eq!(plain, values);

    let mut rest = elements.clone();
    let mut joined = Vec::new();
    for expected in values {
        let element = rest.next_element().expect("as many elements as values");
        assert_eq!(Tree::from(element.value), expected);
        assert_eq!(at_once(element.bytes), Ok(Some((expected, element.bytes.len()))));
        joined.extend_from_slice(element.attributes.bytes());
        joined.extend_from_slice(element.bytes);
        let mut attributes = element.attributes.bytes();
        for attribute in element.attributes {
            let Some((Tree::Attribute(same), len)) = at_once(attributes).unwrap() else {
                panic!("an attribute is a value of its own");
            };
            assert_eq!(attribute.map(Tree::from).collect::<Vec<_>>(), same);
            attributes = &attributes[len..];
        }
        assert!(attributes.is_empty());
    }
    assert!(rest.next_element().is_none());
    assert_eq!(joined, elements.bytes());
}

#[test]
fn all_ways_through_the_samples_agree() {
    for (bytes, _) in samples() {
        check(bytes);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn all_ways_through_any_value_agree(tree in value()) {
        check(&tree.encoded());
    }

    #[test]
    fn a_value_equals_itself_and_no_other(one in value(), other in value()) {
        let (one_bytes, other_bytes) = (one.encoded(), other.encoded());
        let parsed = |bytes| parse(bytes).unwrap().map(|(value, _)| value);
        let has_nan = format!("{one:?}").contains(&format!("{:?}", Tree::double(f64::NAN)));
        let has_zero = [0.0, -0.0].iter().any(|zero| {
            format!("{one:?}").contains(&format!("{:?}", Tree::double(*zero)))
        });
        prop_assert_eq!(parsed(&one_bytes) == parsed(&one_bytes), !has_nan);
        if !has_nan && !has_zero {
            let are_equal = one.without_attributes() == other.without_attributes();
            let (one, other) = (parsed(&one_bytes), parsed(&other_bytes));
            prop_assert_eq!(one == other, are_equal);
        }
    }
}

#[test]
fn attributes_of_elements_are_there_for_those_who_ask() {
    let mut all =
        elements(b"*2\r\n:1\r\n|0\r\n|1\r\n+a\r\n|1\r\n+b\r\n+c\r\n:2\r\n:3\r\n").unwrap();
    assert!(all.next_element().unwrap().attributes.next().is_none());
    let element = all.next_element().unwrap();
    assert_eq!(element.value, Value::Integer(3));
    let attributes: Vec<Vec<_>> = element.attributes.map(Iterator::collect).collect();
    assert_eq!(attributes, [vec![], vec![Value::Simple(b"a"), Value::Integer(2)]]);
}

#[test]
fn the_three_nulls_can_be_told_apart() {
    let mut all = elements(b"*4\r\n_\r\n$-1\r\n*-1\r\n$0\r\n\r\n").unwrap();
    let mut next = || Null::of(all.next_element().unwrap().bytes);
    assert_eq!([next(), next(), next()], [Some(Null::Null), Some(Null::Bulk), Some(Null::Array)]);
    assert_eq!(next(), None);
}

#[test]
fn the_deepest_value_can_be_printed_compared_and_walked() {
    let depth = 128;
    let bytes = [b"*2\r\n".repeat(depth), b":1\r\n".repeat(depth + 1)].concat();
    let mut parser = Parser::<128>::with_limits(Limits::default()).unwrap();
    let Ok(Status::Complete((Value::Array(all), _))) = parser.parse(&bytes) else { panic!() };
    assert_eq!(all.tokens().count(), 2 * depth);
    assert!(all == all.clone());
    assert!(format!("{all:?}").len() > bytes.len());
}
