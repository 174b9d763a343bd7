//! Why one parser reads what the other one does not: a closed list, and how each reason is
//! recognised.

use std::fmt;

use redbolt::resp::{Aggregate, Error, MAX_DEPTH, MAX_LINE, Token, Value};

use crate::tree::Tree;

/// The longest text of a double that hiredis reads.
const THEIR_DOUBLE: usize = 325;

/// A reason, with an explanation as its text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Reason {
    // Only ours reads.
    BulkError,
    PlusSign,
    LongDouble,
    TinyDouble,
    // Either reads.
    InnerAttribute,
    // Only theirs reads.
    Terminator,
    OtherNull,
    Boolean,
    Double,
    NoDigits,
    InnerPush,
    Depth,
    LongLine,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BulkError => "a bulk error, a type that hiredis does not know",
            Self::PlusSign => {
                "a big number with a plus sign, which a script can make a server write"
            }
            Self::LongDouble => "a double of more than 325 bytes, which no server writes",
            Self::TinyDouble => "a double that is too small for 64 bits, and zero for redbolt",
            Self::InnerAttribute => "an attribute inside, which hiredis counts as an element",
            Self::Terminator => "a bulk without CR LF behind, which hiredis does not look at",
            Self::OtherNull => "the length -1 of a type that has no null",
            Self::Boolean => {
                "a boolean in capitals, or a zero byte, which `strchr` finds in every text"
            }
            Self::Double => "a double that no server writes so, such as `,.5` or `,INF`",
            Self::NoDigits => "a big number without digits",
            Self::InnerPush => "a push inside of a value",
            Self::Depth => "aggregates more than 16 deep",
            Self::LongLine => "a line of more than 64 KiB",
        })
    }
}

impl Reason {
    /// Returns whether ours refuses for this reason. An attribute may be the reason of everything
    /// that follows, because theirs is no longer where ours is.
    pub(crate) fn fits(self, refusal: Option<Error>) -> bool {
        let error = match self {
            Self::Terminator => Error::Terminator,
            Self::OtherNull => Error::Length,
            Self::Boolean => Error::Boolean,
            Self::Double => Error::Double,
            Self::NoDigits => Error::BigNumber,
            Self::InnerPush => Error::Push,
            Self::Depth => Error::TooDeep,
            Self::LongLine => Error::TooLong,
            Self::InnerAttribute => return true,
            Self::BulkError | Self::PlusSign | Self::LongDouble | Self::TinyDouble => return false,
        };
        refusal == Some(error)
    }
}

/// Returns why theirs refuses bytes that ours reads as this value, or of which ours waits for the
/// rest.
pub(crate) fn refusal(
    bytes: &[u8],
    value: Option<&Value<'_>>,
    error: Option<&str>,
) -> Option<Reason> {
    let error = error.unwrap_or_default();
    let has = |words: &[u8]| bytes.windows(words.len()).any(|window| window == words);
    if error.ends_with("got \"!\" as reply type byte") {
        return Some(Reason::BulkError);
    }
    if error == "Bad bignum value" && has(b"(+") {
        return Some(Reason::PlusSign);
    }
    if error == "Double value is too large" && bytes.len() > THEIR_DOUBLE {
        return Some(Reason::LongDouble);
    }
    if error == "Bad double value" && (has(b"e-") || has(b"E-")) {
        return Some(Reason::TinyDouble);
    }
    let is_inner = value.map_or_else(|| has(b"|"), has_inner_attribute);
    is_inner.then_some(Reason::InnerAttribute)
}

/// Returns whether an element of the value has attributes.
pub(crate) fn has_inner_attribute(value: &Value<'_>) -> bool {
    let (Value::Array(elements)
    | Value::Set(elements)
    | Value::Map(elements)
    | Value::Push(elements)
    | Value::Attribute(elements)) = value
    else {
        return false;
    };
    let mut tokens = elements.tokens();
    tokens.any(|token| matches!(token, Token::Header(Aggregate::Attribute, _)))
}

/// Returns the first reason why no server spells their value with these bytes, or why ours has a
/// limit there; `None` if ours should read them.
pub(crate) fn departure(tree: &Tree, bytes: &[u8]) -> Option<Reason> {
    let mut walk = Walk { rest: bytes };
    walk.value(tree, 0).err()
}

/// The way through the bytes of a value that theirs has read.
struct Walk<'b> {
    rest: &'b [u8],
}

impl<'b> Walk<'b> {
    fn value(&mut self, tree: &Tree, depth: usize) -> Result<(), Reason> {
        let (kind, line) = self.line(tree);
        let refuse = |is_odd: bool, reason| if is_odd { Err(reason) } else { Ok(()) };
        match tree {
            Tree::Text(b'$' | b'=', text) => {
                let (payload, rest) = self.rest.split_at(text.len());
                assert_eq!(payload, text, "theirs copies texts");
                let (terminator, rest) = rest.split_at(2);
                self.rest = rest;
                refuse(terminator != b"\r\n", Reason::Terminator)
            }
            Tree::Text(kind, text) => {
                let digits = text.strip_prefix(b"-").unwrap_or(text);
                refuse(*kind == b'(' && digits.is_empty(), Reason::NoDigits)?;
                refuse(text.len() > MAX_LINE, Reason::LongLine)
            }
            Tree::Null => refuse(!matches!(kind, b'$' | b'*' | b'_'), Reason::OtherNull),
            Tree::Boolean(_) => refuse(!matches!(line, b"t" | b"f"), Reason::Boolean),
            Tree::Double(_) => refuse(is_odd_double(line), Reason::Double),
            Tree::Integer(_) => Ok(()),
            Tree::Aggregate(kind, elements) => {
                refuse(depth > 0 && *kind == b'>', Reason::InnerPush)?;
                refuse(depth >= MAX_DEPTH, Reason::Depth)?;
                refuse(depth > 0 && *kind == b'|', Reason::InnerAttribute)?;
                elements.iter().try_for_each(|element| self.value(element, depth + 1))
            }
        }
    }

    /// Takes the type byte and the line of a value.
    fn line(&mut self, tree: &Tree) -> (u8, &'b [u8]) {
        let len = self.rest.windows(2).position(|pair| pair == b"\r\n");
        let len = len.unwrap_or_else(|| panic!("{tree:?} ends early"));
        let (line, rest) = self.rest.split_at(len);
        self.rest = &rest[2..];
        (line[0], &line[1..])
    }
}

/// Returns whether no server writes a double so. RESP3 wants digits on both sides of the point, and
/// servers write neither a plus sign nor a leading zero.
fn is_odd_double(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    if let b"inf" | b"nan" = unsigned {
        return false;
    }
    let is_digit = |index: usize| unsigned.get(index).is_some_and(u8::is_ascii_digit);
    let lone_point =
        |index: usize| unsigned[index] == b'.' && !(is_digit(index - 1) && is_digit(index + 1));
    !is_digit(0) || unsigned[0] == b'0' && is_digit(1) || (1..unsigned.len()).any(lone_point)
}
