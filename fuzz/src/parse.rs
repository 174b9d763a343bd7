//! Any bytes: the parser does not panic, makes progress, and returns nothing outside of the bytes.

use redbolt::resp::{self, Elements, Limits, Parser, Status, Value};

use super::tree::Tree;

/// Reads value after value until the bytes end or are no RESP.
///
/// # Panics
///
/// Panics if a value takes no bytes or more than there are, has a wrong number of elements, or is
/// taken for whole although one of its bytes is missing.
pub fn parse(data: &[u8]) {
    let mut rest = data;
    while let Ok(Status::Complete((value, used))) = resp::parse(rest) {
        assert!((3..=rest.len()).contains(&used), "{used} of {} bytes", rest.len());
        let tree = Tree::from(&value);
        let again = resp::parse(&rest[..used]).map(|status| status.is_complete());
        assert_eq!(again, Ok(true), "{tree:?} needs bytes that are not its own");
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
    let (mut elements, mut plain): (Elements<'_>, _) = (elements.clone(), elements.clone());
    while let Some(element) = elements.next_element() {
        assert_eq!(plain.next().map(|value| Tree::from(&value)), Some(Tree::from(&element.value)));
        let Ok(Status::Complete((again, used))) = resp::parse(element.bytes) else {
            panic!("the bytes of an element are no value: {}", element.bytes.escape_ascii());
        };
        assert_eq!((Tree::from(&again), used), (Tree::from(&element.value), element.bytes.len()));
        let has_attributes = !element.attributes.bytes().is_empty();
        assert!(has_attributes || element.attributes.flatten().count() == 0);
        look_inside(&element.value);
    }
    assert!(plain.next().is_none(), "elements are missing");
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
