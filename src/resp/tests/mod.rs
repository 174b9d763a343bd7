//! Tests of the parser: against a table, against a naive reader, and with input cut everywhere.

mod chosen_limits;
mod conformance;
mod elements;
mod encode;
mod limits;
mod oracle;
mod properties;
mod split;
mod tree;
pub(super) mod work;

use super::{Error, Parser, Status, Value, parse};
use tree::Tree;

/// The result of parsing the first value: the value and its length, or `None` if incomplete.
type Outcome = Result<Option<(Tree, usize)>, Error>;

fn outcome(result: Result<Status<(Value<'_>, usize)>, Error>) -> Outcome {
    match result? {
        Status::Complete((value, len)) => Ok(Some((Tree::from(value), len))),
        Status::Partial => Ok(None),
    }
}

fn at_once(bytes: &[u8]) -> Outcome {
    outcome(parse(bytes))
}

/// Feeds a parser with the prefixes of `bytes` up to each of `ends`, and then with all `bytes`.
/// Stops at the first result other than `Partial`.
fn in_pieces(bytes: &[u8], ends: impl IntoIterator<Item = usize>) -> Outcome {
    let mut parser = Parser::new();
    for end in ends {
        let outcome = outcome(parser.parse(&bytes[..end]));
        if outcome != Ok(None) {
            return outcome;
        }
    }
    outcome(parser.parse(bytes))
}
