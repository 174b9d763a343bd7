//! What nodes answer to the scripts about fencing numbers.

use crate::redlock::fence::Fence;
use crate::redlock::wire::server_error::ServerError;
use crate::resp::Value;

/// The answer of a node to a script that draws or accepts a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Drawn {
    /// The number that the node has drawn.
    Number(Fence),
    /// The node has a number from which it cannot go on for long, or not at all: a number that no
    /// clock shows. The key is there.
    Spent,
    /// 1: the node has accepted the number.
    Accepted,
    /// −f: the node has this number, which is not smaller.
    Behind(u64),
    /// 0 or −1: the node does not have the token.
    Gone,
    /// Nil: the key exists, and was not taken.
    Refused,
    /// An error which proves that nothing was written.
    Failed,
    /// An error which leaves open what was written.
    Unclear,
    /// There will be no answer.
    Lost,
}

impl Drawn {
    /// Reads the reply to a script that takes a key and draws. Returns `None` for any other reply.
    pub(crate) fn read_acquired(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Refused),
            Value::Integer(number) => Self::of_number(*number),
            _ => None,
        }
    }

    /// Reads the reply to a script that draws for a lock that is held. Returns `None` for any other
    /// reply.
    pub(crate) fn read_drawn(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Integer(0 | -1) => Some(Self::Gone),
            Value::Integer(number) => Self::of_number(*number),
            _ => None,
        }
    }

    /// Reads the reply to a script that accepts a number. Returns `None` for any other reply.
    pub(crate) fn read_raised(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Integer(1) => Some(Self::Accepted),
            Value::Integer(0 | -1) => Some(Self::Gone),
            // Nobody asks for a number below the least one.
            Value::Integer(number) if *number <= -(Fence::LEAST as i64) => {
                let number = number.unsigned_abs();
                Some(if number > Fence::LAST_DRAWN { Self::Spent } else { Self::Behind(number) })
            }
            _ => None,
        }
    }

    fn of_number(number: i64) -> Option<Self> {
        // Lua numbers that no integer holds, such as 1e19, become this one.
        if number == i64::MIN {
            return Some(Self::Spent);
        }
        let number = u64::try_from(number).ok().filter(|number| *number >= Fence::LEAST)?;
        let drawn = Fence::new(number).filter(|_| number <= Fence::LAST_DRAWN);
        Some(drawn.map_or(Self::Spent, Self::Number))
    }

    /// Converts an error reply. Only an error from before the first write of a script proves that
    /// nothing was written: an error about the hash, or about a command that touches the hash,
    /// comes behind the `SET`.
    pub(crate) const fn of_error(error: ServerError) -> Self {
        use ServerError::{Cluster, Denied, KeyDenied, NoScript, NotServing, Overloaded};
        match error {
            NoScript | Overloaded | NotServing | Denied | KeyDenied | Cluster => Self::Failed,
            _ => Self::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_in_range_are_answers() {
        use Drawn::{Accepted, Behind, Gone, Number, Refused, Spent};
        let fence = |number| Fence::new(number).map(Number);
        let (least, most) = (1_i64 << 32, (1_i64 << 53) - 1);
        let last = most - (1 << 45);
        let at_last = u64::try_from(last).expect("a large number");
        let rows = [
            // The answer to a script that takes, that draws, that accepts.
            (Value::Null, Some(Refused), None, None),
            (Value::Integer(0), None, Some(Gone), Some(Gone)),
            (Value::Integer(-1), None, Some(Gone), Some(Gone)),
            (Value::Integer(1), None, None, Some(Accepted)),
            (Value::Integer(2), None, None, None),
            (Value::Integer(least - 1), None, None, None),
            (Value::Integer(least), fence(1 << 32), fence(1 << 32), None),
            (Value::Integer(last), fence(at_last), fence(at_last), None),
            (Value::Integer(last + 1), Some(Spent), Some(Spent), None),
            (Value::Integer(most), Some(Spent), Some(Spent), None),
            (Value::Integer(most + 1), Some(Spent), Some(Spent), None),
            (Value::Integer(i64::MAX), Some(Spent), Some(Spent), None),
            (Value::Integer(-2), None, None, None),
            (Value::Integer(-least + 1), None, None, None),
            (Value::Integer(-least), None, None, Some(Behind(1 << 32))),
            (Value::Integer(-last), None, None, Some(Behind(at_last))),
            (Value::Integer(-last - 1), None, None, Some(Spent)),
            (Value::Integer(i64::MIN), Some(Spent), Some(Spent), Some(Spent)),
            (Value::Simple(b"OK"), None, None, None),
        ];
        for (value, acquired, drawn, raised) in rows {
            assert_eq!(Drawn::read_acquired(&value), acquired, "{value:?}");
            assert_eq!(Drawn::read_drawn(&value), drawn, "{value:?}");
            assert_eq!(Drawn::read_raised(&value), raised, "{value:?}");
        }
    }

    #[test]
    fn an_error_that_can_come_behind_a_write_rules_nothing_out() {
        let rows = [
            ("NOSCRIPT No matching script.", Drawn::Failed),
            ("OOM command not allowed", Drawn::Failed),
            ("LOADING Redis is loading the dataset in memory", Drawn::Failed),
            ("NOPERM User a has no permissions to run the 'evalsha' command", Drawn::Failed),
            ("NOPERM No permissions to access a key", Drawn::Failed),
            ("MOVED 1 127.0.0.1:1", Drawn::Failed),
            ("WRONGTYPE Operation against a key", Drawn::Unclear),
            ("ERR The user executing the script can't run this command", Drawn::Unclear),
            ("ERR Unknown command called from script", Drawn::Unclear),
            ("ERR unknown command 'HSET'", Drawn::Unclear),
            ("ERR user_script:1: attempt to compare number with nil", Drawn::Unclear),
        ];
        for (text, expected) in rows {
            let error = ServerError::classify(text.as_bytes());
            assert_eq!(Drawn::of_error(error), expected, "{text}");
        }
    }
}
