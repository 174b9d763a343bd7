//! The scripts by which a node draws and accepts fencing numbers, and what they answer (S13).
//!
//! Each node keeps one hash, [`FENCES`], with the largest number that it has accepted in each of
//! 16,384 *stripes*. The stripe of a key is its CRC16, as in a Redis cluster, so the hash never
//! grows past that. The names, the stripes and the second in the scripts are the same in all
//! clients, whatever their configuration: they are part of the protocol.
//!
//! A number is accepted only if it is larger than the number of the stripe, and only by a script
//! that has seen the token of the lock at the key. All scripts take the key and [`FENCES`] as
//! `KEYS`, and the token and the stripe as the first of `ARGV`.

use bytes::BytesMut;

use super::command::{Call, SetForm, begin_script};
use super::script::Script;
use super::server_error::ServerError;
use crate::redlock::fence::Fence;
use crate::redlock::millis::Millis;
use crate::redlock::token::Token;
use crate::resp::{self, Value};

/// The name of the hash. There is no prefix before it: clients with different prefixes can share a
/// key, and then share its numbers too.
pub(crate) const FENCES: &[u8] = b"redbolt:fence";

/// The end of the scripts that draw: the larger of the number behind that of the stripe and the
/// proposal, `ARGV[3]`, which is cut to a second around the clock of the node.
///
/// The node looks at its clock every time. A number of a node that has lost its data, or came back
/// with older data, is thereby larger than any that was accepted there before.
macro_rules! draw {
    () => {
        "local f, t = redis.call('HGET', KEYS[2], ARGV[2]), redis.call('TIME') \
         local n, c, s = tonumber(ARGV[3]), t[1] * 1000000 + t[2], ARGV[3] \
         if n < c - 1000000 then n = c - 1000000 s = nil \
         elseif n > c + 1000000 then n = c + 1000000 s = nil end \
         if f and n <= tonumber(f) then n = f + 1 s = nil end \
         redis.call('HSET', KEYS[2], ARGV[2], s or string.format('%.0f', n)) \
         return n"
    };
}

/// The script that takes a key and draws a number. `ARGV[4]` is the ttl in milliseconds.
///
/// The script answers with the number, or with nil when the key exists. An error can come behind
/// the `SET`, so that an error does not say that there is no key.
pub const ACQUIRE_FENCED: Script = Script {
    text: concat!(
        "if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[4]) then return false end ",
        draw!()
    ),
    sha: "844113e3e9612a8d78cc36cf8fbff35c0d9784ee",
};

/// The script that draws a number for a lock that is held.
///
/// The script answers with the number, with 0 when there is no key, with −1 when the key holds
/// another value.
pub const DRAW: Script = Script {
    text: concat!(
        "local v = redis.call('GET', KEYS[1]) \
         if v ~= ARGV[1] then return v and -1 or 0 end ",
        draw!()
    ),
    sha: "dacc6f9d139f25293f728d07cb68b6ee8ca4a094",
};

/// The script that accepts a number, `ARGV[3]`, which another node has drawn.
///
/// The script answers 1 when the number is larger than that of the stripe, and is stored; −f when
/// the stripe has the number f, which is not smaller; 0 when there is no key, −1 when the key holds
/// another value.
pub const RAISE: Script = Script {
    text: "local v = redis.call('GET', KEYS[1]) \
           if v ~= ARGV[1] then return v and -1 or 0 end \
           local f = tonumber(redis.call('HGET', KEYS[2], ARGV[2]) or 0) \
           if f >= tonumber(ARGV[3]) then return -f end \
           redis.call('HSET', KEYS[2], ARGV[2], ARGV[3]) \
           return 1",
    sha: "e86597d8859bc6042f9ea1f9e045a96a562a7e93",
};

/// The number of stripes.
const STRIPES: u16 = 1 << 14;

/// Returns the stripe of a key: its CRC16 (XMODEM), cut to fourteen bits.
pub(crate) fn stripe(key: &[u8]) -> u16 {
    let crc = key.iter().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    });
    crc % STRIPES
}

impl SetForm {
    /// Returns whether the request is about a fencing number.
    pub(crate) const fn is_fenced(self) -> bool {
        matches!(self, Self::Fenced(_))
    }
}

/// What a script is asked to do with the number of a stripe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fencing {
    /// Take the key for this ttl, and draw a number near the proposal.
    Acquire { ttl: Millis, proposal: u64 },
    /// Draw a number near the proposal.
    Draw { proposal: u64 },
    /// Accept this number.
    Raise { number: u64 },
}

impl Fencing {
    const fn script(self) -> Script {
        match self {
            Self::Acquire { .. } => ACQUIRE_FENCED,
            Self::Draw { .. } => DRAW,
            Self::Raise { .. } => RAISE,
        }
    }
}

/// Appends a call of the script for `key`, which has this token.
pub(crate) fn fencing(out: &mut BytesMut, call: Call, key: &[u8], token: &Token, what: Fencing) {
    let (number, ttl) = match what {
        Fencing::Acquire { ttl, proposal } => (proposal, Some(ttl)),
        Fencing::Draw { proposal: number } | Fencing::Raise { number } => (number, None),
    };
    begin_script(out, what.script(), call, 2, 3 + usize::from(ttl.is_some()));
    resp::bulk(out, key);
    resp::bulk(out, FENCES);
    resp::bulk(out, token.as_ref());
    resp::bulk_integer(out, i64::from(stripe(key)));
    // No number has more than 53 bits.
    resp::bulk_integer(out, number.min(Fence::MOST) as i64);
    if let Some(ttl) = ttl {
        resp::bulk_integer(out, ttl.count());
    }
}

/// The answer of a node to a script that draws or accepts a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Drawn {
    /// The number that the node has drawn.
    Number(Fence),
    /// The node has a number that is too large for a fence. The key is there.
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
                Some(Self::Behind(number.unsigned_abs()))
            }
            _ => None,
        }
    }

    fn of_number(number: i64) -> Option<Self> {
        let number = u64::try_from(number).ok().filter(|number| *number >= Fence::LEAST)?;
        Some(Fence::new(number).map_or(Self::Spent, Self::Number))
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
    use core::time::Duration;

    const TOKEN: Token = Token::from_bytes(*b"twenty bytes in all!");

    #[test]
    fn each_sha_belongs_to_its_text() {
        for script in [ACQUIRE_FENCED, DRAW, RAISE] {
            let sha = sha1_smol::Sha1::from(script.text).digest().to_string();
            assert_eq!(sha, script.sha, "{}", script.text);
        }
    }

    /// The values of the specification of Redis Cluster, and slots that `CLUSTER KEYSLOT` tells.
    #[test]
    fn a_stripe_is_the_slot_of_the_whole_key_in_a_cluster() {
        let rows: [(&[u8], u16); 4] =
            [(b"123456789", 0x31c3), (b"", 0), (b"foo", 12182), (b"orders/42", 1029)];
        for (key, expected) in rows {
            assert_eq!(stripe(key), expected % STRIPES, "{}", key.escape_ascii());
        }
        assert_ne!(stripe(b"{foo}1"), stripe(b"foo"), "hash tags mean nothing here");
    }

    #[test]
    fn a_call_names_the_key_the_hash_the_token_and_the_stripe() {
        let words = |what, call| {
            let mut out = BytesMut::new();
            fencing(&mut out, call, b"foo", &TOKEN, what);
            let Ok(resp::Status::Complete((Value::Array(parts), used))) = resp::parse(&out) else {
                panic!("not a command: {}", out.escape_ascii());
            };
            assert_eq!(used, out.len());
            let word = |part: Value<'_>| match part {
                Value::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                other => panic!("{other:?}"),
            };
            parts.map(word).collect::<Vec<_>>().join(" ")
        };
        let ttl = Millis::of(Duration::from_millis(1_500));
        let rest = "2 foo redbolt:fence twenty bytes in all! 12182";
        let rows = [
            (Fencing::Acquire { ttl, proposal: 7 }, ACQUIRE_FENCED, "7 1500"),
            (Fencing::Draw { proposal: u64::MAX }, DRAW, "9007199254740991"),
            (Fencing::Raise { number: 5_000_000_000 }, RAISE, "5000000000"),
        ];
        for (what, script, end) in rows {
            let by_sha = format!("EVALSHA {} {rest} {end}", script.sha);
            assert_eq!(words(what, Call::Sha), by_sha);
            assert_eq!(words(what, Call::Text), format!("EVAL {} {rest} {end}", script.text));
        }
    }

    #[test]
    fn only_numbers_in_range_are_answers() {
        use Drawn::{Accepted, Behind, Gone, Number, Refused, Spent};
        let fence = |number| Fence::new(number).map(Number);
        let (least, most) = (1_i64 << 32, (1_i64 << 53) - 1);
        let rows = [
            // The answer to a script that takes, that draws, that accepts.
            (Value::Null, Some(Refused), None, None),
            (Value::Integer(0), None, Some(Gone), Some(Gone)),
            (Value::Integer(-1), None, Some(Gone), Some(Gone)),
            (Value::Integer(1), None, None, Some(Accepted)),
            (Value::Integer(2), None, None, None),
            (Value::Integer(least - 1), None, None, None),
            (Value::Integer(least), fence(1 << 32), fence(1 << 32), None),
            (Value::Integer(most), fence((1 << 53) - 1), fence((1 << 53) - 1), None),
            (Value::Integer(most + 1), Some(Spent), Some(Spent), None),
            (Value::Integer(-2), None, None, None),
            (Value::Integer(-least + 1), None, None, None),
            (Value::Integer(-least), None, None, Some(Behind(1 << 32))),
            (Value::Integer(i64::MIN), None, None, Some(Behind(1 << 63))),
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
