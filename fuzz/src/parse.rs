//! Any bytes: the parser does not panic, makes progress, and returns nothing outside of the bytes.

use redbolt::resp::{
    self, Aggregate, Attributes, Elements, Limits, Null, Parser, Status, Token, Tokens, Value,
};

use super::tree::Tree;

/// Reads value after value until the bytes end or are no RESP.
///
/// # Panics
///
/// Panics if a value takes no bytes or more than there are, has a wrong number of elements, or is
/// taken for whole although one of its bytes is missing, or if two ways of reading a value differ.
pub fn parse(data: &[u8]) {
    let mut rest = data;
    while let Ok(Status::Complete((value, used))) = resp::parse(rest) {
        assert!((3..=rest.len()).contains(&used), "{used} of {} bytes", rest.len());
        let tree = Tree::from(&value);
        let again = resp::parse(&rest[..used]).map(|status| status.is_complete());
        assert_eq!(again, Ok(true), "{tree:?} needs bytes that are not its own");
        let again = value.clone();
        assert_eq!(value == again, !has_nan(&tree), "{tree:?} beside itself");
        look_inside(&value);
        limited(&rest[..used], &tree);
        let short = resp::parse(&rest[..used - 1]).map(|status| status.is_partial());
        assert_eq!(short, Ok(true), "{tree:?} is whole without its last byte");
        // Whoever reads as much as is needed never waits for more than the value has.
        let (mut parser, cut) = (Parser::<{ resp::MAX_DEPTH }>::new(), used / 2);
        if parser.parse(&rest[..cut]).is_ok_and(|status| status.is_partial()) {
            let needed = parser.needed();
            assert!(cut == 0 || (1..=used - cut).contains(&needed), "{tree:?} needs {needed}");
        }
        rest = &rest[used..];
    }
}

/// Takes the elements of a value with their bytes, which must be the same values.
fn look_inside(value: &Value<'_>) {
    let (Value::Array(elements) | Value::Set(elements) | Value::Map(elements)) = value else {
        return;
    };
    look_at_tokens(elements);
    let (mut elements, mut plain): (Elements<'_>, _) = (elements.clone(), elements.clone());
    while let Some(element) = elements.next_element() {
        assert_eq!(plain.next().map(|value| Tree::from(&value)), Some(Tree::from(&element.value)));
        let Ok(Status::Complete((again, used))) = resp::parse(element.bytes) else {
            panic!("the bytes of an element are no value: {}", element.bytes.escape_ascii());
        };
        assert_eq!((Tree::from(&again), used), (Tree::from(&element.value), element.bytes.len()));
        assert_eq!(Null::of(element.bytes).is_some(), element.value == Value::Null);
        look_at_attributes(element.attributes);
        look_inside(&element.value);
    }
    assert!(plain.next().is_none(), "elements are missing");
    assert_eq!(elements.bytes(), b"", "bytes are left");
}

/// Reads attributes, whose bytes must be the same values.
fn look_at_attributes(mut attributes: Attributes<'_>) {
    let mut bytes = attributes.bytes();
    while let Some(pairs) = attributes.next() {
        let Ok(Status::Complete((again, used))) = resp::parse(bytes) else {
            panic!("the bytes of attributes are no value: {}", bytes.escape_ascii());
        };
        assert_eq!(Tree::from(&again), Tree::from(&Value::Attribute(pairs)));
        bytes = &bytes[used..];
        assert_eq!(attributes.bytes(), bytes, "another attribute is next");
    }
    assert_eq!(bytes, b"", "an attribute is missing");
}

/// Puts the tokens of all levels together, which must make the same values.
fn look_at_tokens(elements: &Elements<'_>) {
    let mut tokens = elements.tokens();
    let (least, most) = tokens.size_hint();
    let count = tokens.clone().count();
    assert!(least <= count && most.is_some_and(|most| count <= most), "{count} tokens");
    for value in elements.clone() {
        assert_eq!(assembled(&mut tokens), Some(Tree::from(&value)));
    }
    assert_eq!((tokens.bytes(), tokens.next()), (&b""[..], None), "tokens are left");
}

/// Takes the tokens of a value, and drops the attributes before the value.
fn assembled(tokens: &mut Tokens<'_>) -> Option<Tree> {
    loop {
        let (kind, count) = match tokens.next()? {
            Token::Scalar(value) => return Some(Tree::from(&value)),
            Token::Header(Aggregate::Attribute, count) => {
                for _ in 0..count {
                    assembled(tokens)?;
                }
                continue;
            }
            Token::Header(Aggregate::Array, count) => (b'*', count),
            Token::Header(Aggregate::Set, count) => (b'~', count),
            Token::Header(Aggregate::Map, count) => (b'%', count),
            Token::Header(Aggregate::Push, count) => (b'>', count),
        };
        let elements: Option<_> = (0..count).map(|_| assembled(tokens)).collect();
        return Some(Tree::Aggregate(kind, elements?));
    }
}

/// Returns whether a value is not equal to itself.
fn has_nan(tree: &Tree) -> bool {
    match tree {
        Tree::Double(bits) => f64::from_bits(*bits).is_nan(),
        Tree::Aggregate(_, elements) => elements.iter().any(has_nan),
        _ => false,
    }
}

/// Reads a value with narrow limits: the same value, or none.
fn limited(bytes: &[u8], tree: &Tree) {
    let mut limits = Limits::default();
    (limits.line, limits.length, limits.elements) = (64, 20, 3);
    let mut parser = Parser::<4>::with_limits(limits).expect("limits within their bounds");
    if let Ok(status) = parser.parse(bytes) {
        let Status::Complete((value, used)) = status else { panic!("{tree:?} is not whole") };
        assert_eq!((&Tree::from(&value), used), (tree, bytes.len()));
    }
}
