//! Any bytes: the parser does not panic, makes progress, and returns nothing outside of the bytes.

use redbolt::resp::{self, Status};

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
        let short = resp::parse(&rest[..used - 1]).map(|status| status.is_partial());
        assert_eq!(short, Ok(true), "{tree:?} is whole without its last byte");
        rest = &rest[used..];
    }
}
