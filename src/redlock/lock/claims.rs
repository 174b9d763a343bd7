//! The tokens that this engine did not draw: which of them are in use, and for which resources, and
//! which must not be used again.
//!
//! A token of the engine's own is never used twice (S1), so that whatever arrives late for an older
//! lock does nothing to a newer one. Nobody can know as much of a token that a caller has chosen.
//! So this list remembers a token together with each of its keys: as long as a lock of this engine
//! has the token or is owed a reply, and, from the first request on whose fate stays unknown, for
//! as long as there is room.

use core::hash::Hasher;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet, VecDeque};

use crate::redlock::token::{Token, TokenRefusal};
use crate::redlock::wire::keys::Names;

/// How many pairs of a token and a key are remembered as spent: a megabyte or two. Whoever uses a
/// token once, as he must, never needs them.
const MAX_SPENT: usize = 65_536;

/// The tokens of callers, each with a key, as hashes of 64 bits. Two equal hashes would refuse a
/// token that is free, once in many years.
pub(crate) struct Claims {
    seed: u64,
    /// How many locks have the token and the key.
    in_use: HashMap<u64, u32>,
    spent: HashSet<u64>,
    /// The spent ones, the oldest first.
    order: VecDeque<u64>,
}

impl Claims {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, in_use: HashMap::new(), spent: HashSet::new(), order: VecDeque::new() }
    }

    /// Counts one more lock that has the token.
    pub(crate) fn claim(&mut self, names: Names<'_>, token: &Token) {
        for key in names.keys() {
            *self.in_use.entry(hash(self.seed, key, token)).or_default() += 1;
        }
    }

    /// Counts one lock less that has the token.
    pub(crate) fn end(&mut self, names: Names<'_>, token: &Token) {
        for key in names.keys() {
            let pair = hash(self.seed, key, token);
            if let Some(count) = self.in_use.get_mut(&pair) {
                *count -= 1;
                if *count == 0 {
                    self.in_use.remove(&pair);
                }
            }
        }
    }

    /// Records that something may be on its way for a token that nobody will ever hear of again.
    pub(crate) fn spend(&mut self, names: Names<'_>, token: &Token) {
        for key in names.keys() {
            let pair = hash(self.seed, key, token);
            if self.spent.insert(pair) {
                self.order.push_back(pair);
            }
        }
        while self.order.len() > MAX_SPENT {
            if let Some(oldest) = self.order.pop_front() {
                self.spent.remove(&oldest);
            }
        }
    }

    /// Returns the reason why a lock on these keys cannot have the token, if there is one.
    pub(crate) fn refusal(&self, names: Names<'_>, token: &Token) -> Option<TokenRefusal> {
        let pairs = || names.keys().map(|key| hash(self.seed, key, token));
        if pairs().any(|pair| self.in_use.contains_key(&pair)) {
            return Some(TokenRefusal::InUse);
        }
        pairs().any(|pair| self.spent.contains(&pair)).then_some(TokenRefusal::Spent)
    }
}

/// Returns the hash of a token and a key. The seed is kept secret from clients that choose either.
fn hash(seed: u64, key: &[u8], token: &Token) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(seed);
    hasher.write(token.as_bytes());
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Token = Token::from_bytes([b'a'; 20]);
    const B: Token = Token::from_bytes([b'b'; 20]);

    fn one(key: &[u8]) -> Names<'_> {
        Names { count: 1, bytes: key }
    }

    /// The keys `x` and `y`.
    const BOTH: Names<'static> = Names { count: 2, bytes: b"\0\x01x\0\x01y" };

    #[test]
    fn a_token_is_in_use_until_the_last_lock_with_it_ends() {
        let mut claims = Claims::new(1);
        claims.claim(BOTH, &A);
        claims.claim(one(b"x"), &A);
        assert_eq!(claims.refusal(one(b"y"), &A), Some(TokenRefusal::InUse));
        assert_eq!(claims.refusal(one(b"z"), &A), None, "another resource");
        assert_eq!(claims.refusal(one(b"x"), &B), None, "another token");
        claims.end(BOTH, &A);
        assert_eq!(claims.refusal(one(b"y"), &A), None);
        assert_eq!(claims.refusal(BOTH, &A), Some(TokenRefusal::InUse), "one key of it");
        claims.end(one(b"x"), &A);
        assert_eq!(claims.refusal(BOTH, &A), None);
        assert!(claims.in_use.is_empty());
    }

    #[test]
    fn a_spent_token_is_refused_for_each_of_its_keys() {
        let mut claims = Claims::new(1);
        claims.claim(BOTH, &A);
        claims.spend(BOTH, &A);
        claims.end(BOTH, &A);
        assert_eq!(claims.refusal(one(b"x"), &A), Some(TokenRefusal::Spent));
        assert_eq!(claims.refusal(one(b"y"), &A), Some(TokenRefusal::Spent));
        assert_eq!(claims.refusal(BOTH, &B), None);
    }

    #[test]
    fn the_list_of_spent_tokens_is_bounded_and_forgets_the_oldest() {
        let mut claims = Claims::new(1);
        let key = |number: usize| number.to_be_bytes();
        for number in 0..=MAX_SPENT {
            claims.spend(one(&key(number)), &A);
            // A second time takes no second place.
            claims.spend(one(&key(number)), &A);
        }
        assert_eq!((claims.spent.len(), claims.order.len()), (MAX_SPENT, MAX_SPENT));
        assert_eq!(claims.refusal(one(&key(0)), &A), None);
        assert_eq!(claims.refusal(one(&key(1)), &A), Some(TokenRefusal::Spent));
    }
}
