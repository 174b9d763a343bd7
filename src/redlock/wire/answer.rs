//! Answers: what a reply says to its request, if such a request can have such a reply (S4).

use core::time::Duration;

use smallvec::SmallVec;

use super::server_error::ServerError;
use crate::redlock::holder::MAX_VALUE;
use crate::resp::Value;

/// The answer of one node to a `SET`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vote {
    Granted,
    Refused,
    /// An error which proves that the `SET` was not executed.
    Failed,
    /// An error which leaves open whether the `SET` was executed.
    Unclear,
}

/// The answer of one node to a compare script, for one lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compared {
    /// 1: the key holds our token, and the requested action was done.
    Ours,
    /// 0: there is no such key. A native command gives the same answer for a key with another
    /// value.
    Absent,
    /// −1: the key holds another value.
    Foreign,
    /// An error: the script did not run, or nobody knows whether it ran.
    Failed,
}

/// What stands at the door.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen<'a> {
    Nothing,
    Value(&'a [u8]),
    /// Data that is not a string.
    Data,
}

/// The content of a key on one node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum View {
    Nothing,
    Value {
        value: SmallVec<[u8; MAX_VALUE]>,
        remaining: Duration,
    },
    /// Data that is not a string.
    Data,
}

impl Vote {
    /// The bytes of the reply that grants.
    pub(crate) const GRANT: &[u8] = b"+OK\r\n";

    /// Reads the reply to a `SET`: `+OK` grants, nil refuses. Returns `None` for any other reply.
    #[inline]
    pub(crate) fn read(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Simple(b"OK") => Some(Self::Granted),
            Value::Null => Some(Self::Refused),
            _ => None,
        }
    }

    /// Converts an error reply to a `SET` into a vote.
    pub(crate) fn of_error(error: ServerError) -> Self {
        if error.ruled_out_execution() { Self::Failed } else { Self::Unclear }
    }
}

impl Compared {
    /// Reads the reply to a compare request with one key. Returns `None` for any other reply.
    #[inline]
    pub(crate) fn read(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Integer(1) => Some(Self::Ours),
            Value::Integer(0) => Some(Self::Absent),
            Value::Integer(-1) => Some(Self::Foreign),
            _ => None,
        }
    }

    /// Reads the reply to a release of as many keys as there are `answers`: their number if all of
    /// them held our tokens, or else an answer for each. Returns `None` for any other reply.
    #[inline]
    pub(crate) fn read_releases(value: &Value<'_>, answers: &mut [Self]) -> Option<()> {
        if let Value::Integer(all) = value {
            if usize::try_from(*all) != Ok(answers.len()) {
                return None;
            }
            answers.fill(Self::Ours);
            return Some(());
        }
        Self::read_many(value, answers)
    }

    /// Reads the reply to a compare request with as many keys as there are `answers`, in the order
    /// of the keys. Returns `None` for any other reply.
    ///
    /// The answers are copied while the array is checked. A second pass over the array, for the
    /// copies alone, cost 130 instructions of a cycle in groups.
    #[inline]
    pub(crate) fn read_many(value: &Value<'_>, answers: &mut [Self]) -> Option<()> {
        let Value::Array(elements) = value else { return None };
        if elements.len() != answers.len() {
            return None;
        }
        if Self::read_digits(elements.bytes(), answers).is_some() {
            return Some(());
        }
        for (answer, element) in answers.iter_mut().zip(elements.clone()) {
            *answer = Self::read(&element)?;
        }
        Some(())
    }

    /// Reads the elements of an array in which each is one digit, `:1` or `:0`, as nearly always.
    /// Returns `None` for any other bytes. Making no values of the elements saves 180 instructions
    /// of a cycle.
    #[inline]
    fn read_digits(elements: &[u8], answers: &mut [Self]) -> Option<()> {
        const LEN: usize = 4;
        if elements.len() != LEN * answers.len() {
            return None;
        }
        for (answer, element) in answers.iter_mut().zip(elements.chunks_exact(LEN)) {
            *answer = match element {
                b":1\r\n" => Self::Ours,
                b":0\r\n" => Self::Absent,
                _ => return None,
            };
        }
        Some(())
    }

    /// Converts an error reply to a compare request into the answer for each of its keys.
    ///
    /// Somebody's data at the key means that our token is not there. Only a request for one key can
    /// get this error: the scripts for several keys treat a key that holds no string as absent.
    pub(crate) fn of_error(error: ServerError) -> Self {
        if error == ServerError::WrongType { Self::Foreign } else { Self::Failed }
    }
}

impl<'a> Seen<'a> {
    /// Reads the reply to a look at the door: the begin of a value, or an empty string where there
    /// is none. Returns `None` for any other reply.
    pub(crate) fn read(value: &Value<'a>) -> Option<Self> {
        match value {
            Value::Bulk([]) => Some(Self::Nothing),
            Value::Bulk(bytes) if bytes.len() <= MAX_VALUE => Some(Self::Value(bytes)),
            _ => None,
        }
    }

    /// Converts an error reply to a look at the door. Returns `None` for an error that says nothing
    /// about the key.
    pub(crate) fn of_error(error: ServerError) -> Option<Self> {
        (error == ServerError::WrongType).then_some(Self::Data)
    }
}

impl View {
    /// Reads the reply to a query: the value or nil, then the ttl. Returns `None` for any other
    /// reply.
    pub(crate) fn read(value: &Value<'_>) -> Option<Self> {
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

    /// Converts an error reply to a query. Returns `None` for an error that says nothing about the
    /// key.
    pub(crate) fn of_error(error: ServerError) -> Option<Self> {
        (error == ServerError::WrongType).then_some(Self::Data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::{self, Status};

    #[test]
    fn only_a_simple_ok_grants_and_only_a_null_refuses() {
        assert_eq!(Vote::read(&Value::Simple(b"OK")), Some(Vote::Granted));
        assert_eq!(Vote::read(&Value::Null), Some(Vote::Refused));
        for other in
            [Value::Simple(b"ok"), Value::Simple(b"QUEUED"), Value::Bulk(b"OK"), Value::Integer(1)]
        {
            assert_eq!(Vote::read(&other), None, "{other:?}");
        }
    }

    #[test]
    fn a_compare_script_answers_with_one_of_three_numbers() {
        let rows = [
            (Value::Integer(1), Some(Compared::Ours)),
            (Value::Integer(0), Some(Compared::Absent)),
            (Value::Integer(-1), Some(Compared::Foreign)),
            (Value::Integer(2), None),
            (Value::Simple(b"OK"), None),
            (Value::Null, None),
        ];
        for (value, expected) in rows {
            assert_eq!(Compared::read(&value), expected, "{value:?}");
        }
    }

    #[test]
    fn a_release_of_a_group_is_answered_by_its_number_or_for_each_key() {
        let read = |value: &Value<'_>| {
            let mut answers = [Compared::Failed; 3];
            Compared::read_releases(value, &mut answers).map(|()| answers)
        };
        assert_eq!(read(&Value::Integer(3)), Some([Compared::Ours; 3]));
        for other in [2, 4, 1, 0, -1, -3, i64::MAX, i64::MIN] {
            assert_eq!(read(&Value::Integer(other)), None, "{other}");
        }
        assert_eq!(read(&Value::Simple(b"OK")), None);
        let Ok(Status::Complete((array, _))) = resp::parse(b"*3\r\n:1\r\n:-1\r\n:0\r\n") else {
            panic!("it is whole")
        };
        assert_eq!(read(&array), Some([Compared::Ours, Compared::Foreign, Compared::Absent]));
    }

    #[test]
    fn a_group_has_one_answer_for_each_key_and_no_more() {
        use Compared::{Absent, Foreign, Ours};
        let rows: [(&[u8], Option<[Compared; 3]>); 5] = [
            (b"*3\r\n:1\r\n:-1\r\n:0\r\n", Some([Ours, Foreign, Absent])),
            (b"*3\r\n:1\r\n:1\r\n:2\r\n", None),
            (b"*2\r\n:1\r\n:1\r\n", None),
            (b"*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n", None),
            (b":1\r\n", None),
        ];
        for (reply, expected) in rows {
            let Ok(Status::Complete((value, _))) = resp::parse(reply) else {
                panic!("no reply: {}", reply.escape_ascii())
            };
            let mut answers = [Compared::Failed; 3];
            let found = Compared::read_many(&value, &mut answers).map(|()| answers);
            assert_eq!(found, expected, "{}", reply.escape_ascii());
        }
    }
}
