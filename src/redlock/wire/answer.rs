//! A reply as the answer to the request that it belongs to, if it can be one (S4).

use core::time::Duration;

use smallvec::SmallVec;

use super::request::{CompareRequest, GROUP, Request, SetRequest};
use super::server_error::ServerError;
use crate::redlock::holder::{MAX_VALUE, QueryId};
use crate::resp::Value;

pub(crate) enum Answer<'b> {
    /// The handshake reads its replies itself.
    Handshake,
    Vote(SetRequest, Vote),
    /// What stands at a key.
    View(QueryId, View),
    /// To a compare request with one key.
    One(Compared),
    /// To a compare request with many keys: how many, and one answer for each in their order; what
    /// is behind the last is filler. The answers are copied out while they are checked: to read the array once more
    /// for that took 130 instructions of a cycle in groups.
    Many(usize, [Compared; GROUP]),
    /// To any other request, with the text of the error.
    Error(ServerError, &'b [u8]),
}

/// The answer of one node to a `SET`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vote {
    Granted,
    Refused,
    /// An error that rules out that the `SET` was executed.
    Failed,
    /// An error that does not.
    Unclear,
}

/// The answer of one node to a compare script, for one lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compared {
    /// 1: the key is ours, and what was asked was done.
    Ours,
    /// 0: there is no such key. A native command answers the same for a key of another.
    Absent,
    /// −1: another value stands there.
    Foreign,
    /// An error: the script did not run, or nobody knows.
    Failed,
}

/// What one node has at a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum View {
    Nothing,
    Value {
        value: SmallVec<[u8; MAX_VALUE]>,
        remaining: Duration,
    },
    /// Something that is no string.
    Data,
}

impl<'b> Answer<'b> {
    /// Reads a reply; `None` for one that the request cannot have.
    #[inline]
    pub(crate) fn read(request: Request, value: &Value<'b>) -> Option<Self> {
        match (request, value) {
            (Request::Handshake, _) => Some(Self::Handshake),
            (_, Value::Error(text) | Value::BulkError(text)) => {
                Some(Self::Error(ServerError::classify(text), text))
            }
            (Request::Set(request), Value::Simple(b"OK")) => {
                Some(Self::Vote(request, Vote::Granted))
            }
            (Request::Set(request), Value::Null) => Some(Self::Vote(request, Vote::Refused)),
            (Request::Set(_), _) => None,
            (Request::Query(id), _) => View::read(value).map(|view| Self::View(id, view)),
            (Request::Compare(CompareRequest { count: 1, .. }), _) => {
                Compared::read(value).map(Self::One)
            }
            (Request::Compare(CompareRequest { count, .. }), _) => {
                let count = count as usize;
                read_many(value, count).map(|answers| Self::Many(count, answers))
            }
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

impl Vote {
    /// What an error says of a `SET`.
    pub(crate) fn of_error(error: ServerError) -> Self {
        if error.ruled_out_execution() { Self::Failed } else { Self::Unclear }
    }
}

impl Compared {
    /// What the script or the native command answered; `None` for what neither says.
    #[inline]
    fn read(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Integer(1) => Some(Self::Ours),
            Value::Integer(0) => Some(Self::Absent),
            Value::Integer(-1) => Some(Self::Foreign),
            _ => None,
        }
    }

    /// What an error says of each key of a compare request. Somebody's data at the key means that
    /// our token is not there. Only a request for one key can be answered so: a group takes what is
    /// no string for absent.
    pub(crate) fn of_error(error: ServerError) -> Self {
        if error == ServerError::WrongType { Self::Foreign } else { Self::Failed }
    }
}

impl View {
    /// The reply to the question: the value or nil, then the ttl.
    fn read(value: &Value<'_>) -> Option<Self> {
        let Value::Array(elements) = value else { return None };
        let mut elements = elements.clone();
        let (value, ttl) = (elements.next()?, elements.next()?);
        match (value, ttl) {
            (Value::Null, Value::Integer(_)) => Some(Self::Nothing),
            (Value::Bulk(bytes), Value::Integer(millis)) if bytes.len() <= MAX_VALUE => {
                let forever = |_| Duration::MAX;
                let remaining = u64::try_from(millis).map_or_else(forever, Duration::from_millis);
                Some(Self::Value { value: SmallVec::from_slice(bytes), remaining })
            }
            _ => None,
        }
    }

    /// What an error says of the key; `None` when it says nothing.
    pub(crate) fn of_error(error: ServerError) -> Option<Self> {
        (error == ServerError::WrongType).then_some(Self::Data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::wire::command::{Call, Form, SetForm};
    use crate::redlock::wire::request::{Intent, Op};

    #[test]
    fn only_a_simple_ok_grants_and_only_a_null_refuses() {
        let (intent, form) = (Intent::Attempt, SetForm::Command);
        let request = Request::Set(SetRequest { slot: 0, serial: 1, intent, form });
        let vote = |value| match Answer::read(request, &value) {
            Some(Answer::Vote(_, vote)) => Some(vote),
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

    #[test]
    fn a_compare_script_answers_with_one_of_three_numbers() {
        let form = Form::Script(Call::Sha);
        let request = Request::Compare(CompareRequest { op: Op::Release, form, count: 1 });
        let rows = [
            (Value::Integer(1), Some(Compared::Ours)),
            (Value::Integer(0), Some(Compared::Absent)),
            (Value::Integer(-1), Some(Compared::Foreign)),
            (Value::Integer(2), None),
            (Value::Simple(b"OK"), None),
            (Value::Null, None),
        ];
        for (value, expected) in rows {
            let found = match Answer::read(request, &value) {
                Some(Answer::One(answer)) => Some(answer),
                _ => None,
            };
            assert_eq!(found, expected, "{value:?}");
        }
    }
}
