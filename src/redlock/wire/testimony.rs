//! The testimony: what a node answers when a client looks at its witness (S11).

use core::time::Duration;

use super::witness::CLOSED;
use crate::redlock::bounds::LONGEST_TTL;
use crate::resp::Value;

/// The answer of a node to [`LOOK`](super::witness::LOOK), without the text of `INFO`. All times
/// are microseconds since 1970, by the clock of the node unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Testimony {
    pub(crate) found: Found,
    /// The time of the look.
    pub(crate) time: u64,
    /// The time since when the data is in one piece; 0 if an operator declared the node fresh.
    pub(crate) born: u64,
    /// The same by the wall clock of the client that was there.
    pub(crate) wall: u64,
    /// The birth of the first witness of this data.
    pub(crate) origin: u64,
    pub(crate) constants: Constants,
    /// The last time in which nobody looked for longer than a span: the last look before, and the
    /// first look after. Twice 0 if there was no such time.
    pub(crate) unseen: (u64, u64),
    /// How often clients have looked, this look included.
    pub(crate) count: u64,
}

/// What all clients of a deployment must agree on, as a witness records it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Constants {
    /// The longest ttl, in milliseconds.
    pub(crate) max_ttl: u64,
    /// The number of nodes of the deployment to which the node belongs, or did when it was closed:
    /// 0 if to none.
    pub(crate) nodes: u64,
    /// Whether an operator has closed the node for all clients, to change the deployment.
    pub(crate) is_closed: bool,
}

impl Constants {
    /// The constants of an open node.
    #[cfg(any(feature = "net", test))]
    pub(crate) const fn open(max_ttl: u64, nodes: u64) -> Self {
        Self { max_ttl, nodes, is_closed: false }
    }

    /// Reads the two numbers of a witness. A closed node has [`CLOSED`] more nodes than before.
    pub(crate) const fn read(max_ttl: u64, nodes: u64) -> Self {
        Self { max_ttl, nodes: nodes % CLOSED, is_closed: nodes >= CLOSED }
    }

    /// Returns the longest ttl. No client can have a longer one than [`LONGEST_TTL`], whatever a
    /// witness says.
    pub(crate) fn longest_ttl(self) -> Duration {
        Duration::from_millis(self.max_ttl).min(LONGEST_TTL)
    }
}

/// The witness that a look has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// None: the look has written one.
    Nothing,
    /// The witness of this data.
    Same,
    /// The witness of another process, of other data, or of the future. The look has renewed it.
    Other,
}

impl Testimony {
    /// Returns whether the look has written a witness.
    #[cfg(feature = "net")]
    pub(crate) fn is_new(&self) -> bool {
        self.found != Found::Same
    }

    /// Reads the reply to a look. Returns the text of `INFO` as well, and `None` for any other
    /// reply.
    pub(crate) fn read<'b>(value: &Value<'b>) -> Option<(Self, &'b [u8])> {
        let Value::Array(elements) = value else { return None };
        let mut elements = elements.clone();
        if elements.len() != 12 {
            return None;
        }
        let found = match elements.next()? {
            Value::Integer(0) => Found::Nothing,
            Value::Integer(1) => Found::Same,
            Value::Integer(2) => Found::Other,
            _ => return None,
        };
        let mut number = || match elements.next()? {
            Value::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        };
        let (time, born, wall, origin) = (number()?, number()?, number()?, number()?);
        let (constants, _last) = (Constants::read(number()?, number()?), number()?);
        let unseen = (number()?, number()?);
        let count = number()?;
        let (Value::Bulk(info) | Value::Verbatim { text: info, .. }) = elements.next()? else {
            return None;
        };
        Some((Self { found, time, born, wall, origin, constants, unseen, count }, info))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::{self, Status};

    fn read(reply: &str) -> Option<(Testimony, Vec<u8>)> {
        let Ok(Status::Complete((value, _))) = resp::parse(reply.as_bytes()) else {
            panic!("no reply: {reply:?}")
        };
        Testimony::read(&value).map(|(testimony, info)| (testimony, info.to_vec()))
    }

    fn reply(numbers: &[i64], last: &str) -> String {
        let numbers: String = numbers.iter().map(|number| format!(":{number}\r\n")).collect();
        format!("*12\r\n{numbers}{last}\r\n")
    }

    #[test]
    fn a_testimony_has_eleven_numbers_and_a_text() {
        let numbers = [2, 90, 80, 81, 70, 60_000, 3, 89, 71, 72, 5];
        let expected = Testimony {
            found: Found::Other,
            time: 90,
            born: 80,
            wall: 81,
            origin: 70,
            constants: Constants::open(60_000, 3),
            unseen: (71, 72),
            count: 5,
        };
        let found = read(&reply(&numbers, "$4\r\ninfo"));
        assert_eq!(found, Some((expected, b"info".to_vec())));
    }

    #[test]
    fn a_closed_node_is_told_by_its_number_of_nodes_and_no_ttl_is_too_long() {
        let week = LONGEST_TTL.as_millis() as u64;
        let rows = [
            ((60_000, 0), (0, false), 60_000),
            ((60_000, 3), (3, false), 60_000),
            ((60_000, CLOSED - 1), (CLOSED - 1, false), 60_000),
            ((60_000, CLOSED), (0, true), 60_000),
            ((60_000, CLOSED + 3), (3, true), 60_000),
            ((week, CLOSED + 5), (5, true), week),
            ((week + 1, u64::MAX), (u64::MAX % CLOSED, true), week),
        ];
        for ((max_ttl, nodes), expected, longest) in rows {
            let found = Constants::read(max_ttl, nodes);
            assert_eq!((found.nodes, found.is_closed), expected, "{nodes}");
            assert_eq!(found.longest_ttl(), Duration::from_millis(longest), "{max_ttl}");
        }
    }

    #[test]
    fn any_other_reply_is_none() {
        let good = [1, 90, 80, 81, 70, 60_000, 3, 89, 71, 72, 5];
        let with = |place: usize, number| {
            let mut numbers = good;
            numbers[place] = number;
            reply(&numbers, "$0\r\n")
        };
        assert!(read(&reply(&good, "$0\r\n")).is_some());
        let rows = [
            with(0, 3),
            with(0, -1),
            with(1, -1),
            with(10, i64::MIN),
            reply(&good, ":1"),
            reply(&good, "$-1"),
            reply(&good, "+info"),
            "*2\r\n:-1\r\n:7\r\n".to_owned(),
            "+OK\r\n".to_owned(),
            "$-1\r\n".to_owned(),
            ":1\r\n".to_owned(),
        ];
        for row in rows {
            assert_eq!(read(&row), None, "{row:?}");
        }
    }
}
