//! A reply as the answer to the request that it belongs to, if it can be one.

use super::attempt::Vote;
use super::batch::GROUP;
use super::lease::Compared;
use super::pipeline::{Expected, What};
use super::query::View;
use super::reply::ServerError;
use crate::resp::Value;

pub(super) enum Answer<'b> {
    /// The handshake reads its replies itself.
    Handshake,
    Vote(Vote),
    /// What stands at a key.
    View(View),
    /// To a compare request with one key.
    One(Compared),
    /// To a compare request with many keys, one for each in their order; what is behind the last
    /// is filler. Copied out while they are checked: to read the array once more for that took 130
    /// instructions of a cycle in groups.
    Many([Compared; GROUP]),
    /// To any other request, with the text of the error.
    Error(ServerError, &'b [u8]),
}

impl<'b> Answer<'b> {
    /// `None` for a reply that the request cannot have.
    #[inline]
    pub(super) fn read(request: Expected, value: &Value<'b>) -> Option<Self> {
        match (request.what, value) {
            (What::Handshake, _) => Some(Self::Handshake),
            (_, Value::Error(text) | Value::BulkError(text)) => {
                Some(Self::Error(ServerError::classify(text), text))
            }
            (What::Set | What::SetAll(_) | What::Fill | What::FillAll(_), Value::Simple(b"OK")) => {
                Some(Self::Vote(Vote::Granted))
            }
            (What::Set | What::SetAll(_) | What::Fill | What::FillAll(_), Value::Null) => {
                Some(Self::Vote(Vote::Refused))
            }
            (What::Set | What::SetAll(_) | What::Fill | What::FillAll(_), _) => None,
            (What::Holder, _) => View::read(value).map(Self::View),
            _ if request.slot == 1 => Compared::read(value).map(Self::One),
            _ => read_many(value, request.slot as usize).map(Self::Many),
        }
    }
}

/// The answers for `count` keys, no more and no fewer.
fn read_many(value: &Value<'_>, count: usize) -> Option<[Compared; GROUP]> {
    let Value::Array(elements) = value else { return None };
    if elements.len() != count || count > GROUP {
        return None;
    }
    let mut answers = [Compared::Failed; GROUP];
    for (answer, element) in answers.iter_mut().zip(elements.clone()) {
        *answer = Compared::read(&element)?;
    }
    Some(answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Instant;

    #[test]
    fn only_a_simple_ok_grants_and_only_a_null_refuses() {
        let request = Expected { what: What::Set, slot: 0, serial: 1, sent: Instant::ZERO };
        let vote = |value| match Answer::read(request, &value) {
            Some(Answer::Vote(vote)) => Some(vote),
            _ => None,
        };
        assert_eq!(vote(Value::Simple(b"OK")), Some(Vote::Granted));
        assert_eq!(vote(Value::Null), Some(Vote::Refused));
        for other in
            [Value::Simple(b"ok"), Value::Simple(b"QUEUED"), Value::Bulk(b"OK"), Value::Integer(1)]
        {
            assert_eq!(vote(other.clone()), None, "{other:?}");
        }
    }
}
