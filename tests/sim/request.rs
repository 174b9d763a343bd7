//! The reader of requests on the side of the masters: a second one, beside the parser under test.

use redbolt::redlock::{
    ACQUIRE_FENCED, ACQUIRE_FENCED_SET, ACQUIRE_SET, DRAW, DRAW_SET, EXTEND_SET, RAISE, RAISE_SET,
    RELEASE_SET, Script, Token,
};
use smallvec::SmallVec;

/// The name of the hash of the fencing numbers.
pub(crate) const FENCES: &[u8] = b"redbolt:fence";

/// A request, taken apart.
pub(crate) type Words<'a> = SmallVec<[&'a [u8]; 12]>;

/// Reads the request at the beginning of `bytes`. Returns its words and its length; `None` if the
/// request has not arrived as a whole.
///
/// # Panics
///
/// If this is no request: the bytes of a client are never damaged, only late.
pub(crate) fn read(bytes: &[u8]) -> Option<(Words<'_>, usize)> {
    let (count, mut place) = header(bytes, b'*', 0)?;
    let mut words = Words::new();
    for _ in 0..count {
        let (length, begin) = header(bytes, b'$', place)?;
        let end = begin + length;
        let line_end = bytes.get(end..end + 2)?;
        assert_eq!(line_end, b"\r\n", "a word of {length} bytes goes on behind them");
        words.push(&bytes[begin..end]);
        place = end + 2;
    }
    Some((words, place))
}

/// Reads the number behind a `kind` of header at `place`. Returns the number and the place behind.
#[inline]
fn header(bytes: &[u8], kind: u8, place: usize) -> Option<(usize, usize)> {
    let digit = |byte: u8| usize::from(byte - b'0');
    // Most numbers have one digit or two.
    match *bytes.get(place..)? {
        [first, one @ b'0'..=b'9', b'\r', _, ..] if first == kind => Some((digit(one), place + 4)),
        [first, ten @ b'0'..=b'9', one @ b'0'..=b'9', b'\r', _, ..] if first == kind => {
            Some((10 * digit(ten) + digit(one), place + 5))
        }
        _ => longer_header(bytes, kind, place),
    }
}

/// The same, for any number of digits.
fn longer_header(bytes: &[u8], kind: u8, place: usize) -> Option<(usize, usize)> {
    let (first, digits) = bytes.get(place..)?.split_first()?;
    assert_eq!(*first, kind, "no request: {}", bytes.escape_ascii());
    let mut number = 0;
    for (index, byte) in digits.iter().enumerate() {
        if *byte == b'\r' {
            return (digits.len() > index + 1).then_some((number, place + index + 3));
        }
        assert!(byte.is_ascii_digit() && index < 8, "no request: {}", bytes.escape_ascii());
        number = number * 10 + usize::from(byte - b'0');
    }
    None
}

/// The keys that a request may touch, and the tokens that the request names for them.
pub(crate) struct Named<'a> {
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) tokens: &'a [&'a [u8]],
    /// The request names a ttl for each key as well.
    pub(crate) extends: bool,
    /// The one token is for all keys, which are one lock.
    pub(crate) is_set: bool,
}

impl<'a> Named<'a> {
    pub(crate) fn read(words: &'a [&'a [u8]]) -> Self {
        let (keys, tokens) = match words {
            [b"EVALSHA" | b"EVAL", script, count, named @ ..] => {
                let count = number(count) as usize;
                let (keys, rest) = named.split_at(count.min(named.len()));
                if is(script, RELEASE_SET) || is(script, EXTEND_SET) {
                    let tokens = &rest[..rest.len().min(1)];
                    return Self { keys, tokens, extends: is(script, EXTEND_SET), is_set: true };
                }
                let (tokens, ttls) = rest.split_at(count.min(rest.len()));
                return Self { keys, tokens, extends: !ttls.is_empty(), is_set: false };
            }
            [b"DELIFEQ", named @ ..] => named.split_at(named.len().min(1)),
            [b"DELEX", key, b"IFEQ", token] => {
                (core::slice::from_ref(key), core::slice::from_ref(token))
            }
            // Any other request touches its key without naming a token.
            [b"DEL" | b"SET", key, ..] => (core::slice::from_ref(key), &[][..]),
            _ => (&[][..], &[][..]),
        };
        Self { keys, tokens, extends: false, is_set: false }
    }

    /// Returns whether the request names this token for this key.
    pub(crate) fn has(&self, key: &[u8], token: &[u8]) -> bool {
        if self.is_set {
            return self.keys.contains(&key) && self.tokens.contains(&token);
        }
        self.keys.iter().zip(self.tokens).any(|pair| pair == (&key, &token))
    }
}

/// A request for keys that nobody has.
pub(crate) struct Asked<'a, 'b> {
    pub(crate) keys: &'b [&'a [u8]],
    pub(crate) token: &'a [u8],
    pub(crate) ttl: &'a [u8],
}

impl<'a, 'b> Asked<'a, 'b> {
    /// Returns `None` if these are the words of another request.
    pub(crate) fn read(words: &'b [&'a [u8]]) -> Option<Self> {
        match words {
            [b"SET", key, token, b"NX", b"PX", ttl] => {
                Some(Self { keys: core::slice::from_ref(key), token, ttl })
            }
            [b"EVALSHA" | b"EVAL", script, _, keys @ .., token, ttl] if is(script, ACQUIRE_SET) => {
                Some(Self { keys, token, ttl })
            }
            _ => {
                let Numbered { what: Draw::Takes(ttl), keys, token, .. } = Numbered::read(words)?
                else {
                    return None;
                };
                Some(Self { keys, token, ttl })
            }
        }
    }
}

/// A request about the fencing number of a lock.
pub(crate) struct Numbered<'a, 'b> {
    pub(crate) what: Draw<'a>,
    pub(crate) keys: &'b [&'a [u8]],
    pub(crate) token: &'a [u8],
    /// The proposal, or the number to accept.
    pub(crate) asked: u64,
}

/// What a master does with the number of a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Draw<'a> {
    /// Takes the keys for this ttl, and draws.
    Takes(&'a [u8]),
    Draws,
    Raises,
}

impl<'a, 'b> Numbered<'a, 'b> {
    /// Returns `None` if these are the words of another request.
    pub(crate) fn read(words: &'b [&'a [u8]]) -> Option<Self> {
        let [b"EVALSHA" | b"EVAL", script, count, named @ ..] = words else { return None };
        let keys = (number(count) as usize).checked_sub(1)?;
        let (keys, rest) = named.split_at_checked(keys)?;
        let [hash, token, rest @ ..] = rest else { return None };
        if *hash != FENCES {
            return None;
        }
        let (_, rest) = rest.split_at_checked(keys.len())?;
        let (asked, rest) = rest.split_first()?;
        let is_one_of = |scripts: [Script; 2]| scripts.into_iter().any(|known| is(script, known));
        let what = match rest {
            [ttl] if is_one_of([ACQUIRE_FENCED, ACQUIRE_FENCED_SET]) => Draw::Takes(ttl),
            [] if is_one_of([DRAW, DRAW_SET]) => Draw::Draws,
            [] if is_one_of([RAISE, RAISE_SET]) => Draw::Raises,
            _ => return None,
        };
        Some(Self { what, keys, token, asked: number(asked) })
    }
}

/// Returns whether the request calls this script, by name or by text.
pub(crate) fn is(called: &[u8], script: Script) -> bool {
    called == script.sha.as_bytes() || called == script.text.as_bytes()
}

/// Returns the token that is the value of a key. Nobody else writes there.
pub(crate) fn token_of(value: &[u8]) -> Token {
    Token::from_bytes(value.try_into().unwrap_or_default())
}

/// A number in decimal digits, as a client writes it.
pub(crate) fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit.wrapping_sub(b'0')))
}
