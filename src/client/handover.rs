//! The data with which another process goes on with a lock, and its form as a text.

use core::fmt::{self, Write};
use core::str::FromStr;

use super::ticket::Ticket;
use crate::redlock::{Fence, MAX_SET, MAX_SET_BYTES, Token};
use crate::time::Instant;

/// What every text begins with. Another form of the text would get another number.
const VERSION: &str = "1";

/// The data that another process needs to go on with a lock, by
/// [`Client::adopt`](super::Client::adopt).
///
/// On its way to the other process, a handover is a text: [`to_text`](Self::to_text) writes it, and
/// [`parse`](str::parse) reads it. With the feature `serde`, the same text is what a handover is
/// serialized as. The text has the whole token: send it where a password could be sent.
///
/// **One process adopts a handover, and once.** Two that adopt the same one both hold the lock. So
/// the way to the other process must deliver at most once.
///
/// One process takes the lock, and starts the other that goes on with it:
///
/// ```no_run
/// # fn parent(client: redbolt::Client) -> Result<(), Box<dyn std::error::Error>> {
/// use std::io::Write;
/// use std::process::{Command, Stdio};
///
/// let mut worker = Command::new("worker").stdin(Stdio::piped()).spawn()?;
/// let guard = client.lock("orders/42").blocking_acquire()?;
/// let handover = guard.hand_over().blocking_wait()?;
/// let mut pipe = worker.stdin.take().ok_or("no pipe")?;
/// writeln!(pipe, "{}", handover.to_text())?;
/// # Ok(())
/// # }
/// ```
///
/// The worker reads the line, and adopts the lock. The ttl that is left must be long enough for the
/// way:
///
/// ```no_run
/// # fn worker(client: redbolt::Client) -> Result<(), Box<dyn std::error::Error>> {
/// use redbolt::Handover;
/// use std::time::Duration;
///
/// let mut line = String::new();
/// std::io::stdin().read_line(&mut line)?;
/// let handover: Handover = line.trim().parse()?;
/// let request = client.adopt(&handover.resources, handover.token).with_fence(handover.fence);
/// let request = request.ttl(Duration::from_secs(10));
/// let guard = request.wait(Duration::from_secs(2)).blocking_acquire()?;
/// assert!(guard.is_held());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handover {
    /// The resources, without the configured prefix.
    pub resources: Vec<Vec<u8>>,
    /// The value under which the lock is stored on the nodes. Whoever has the token can release the
    /// lock: keep the token secret.
    pub token: Token,
    /// The end of the validity, in time since the boot of this machine. On another machine the
    /// instant means nothing.
    pub valid_until: Instant,
    /// The fencing number of the lock, if there is one: see
    /// [`LockRequest::with_fence`](super::LockRequest::with_fence).
    pub fence: Option<Fence>,
}

impl Handover {
    /// Creates the parts of a lock that its owner has given away.
    pub(super) fn of(ticket: &Ticket, token: Token) -> Self {
        let resources = ticket.order.resources.iter().map(|name| name.to_vec()).collect();
        Self { resources, token, valid_until: ticket.disowned_until(), fence: ticket.fence() }
    }

    /// Returns the handover as a text of one line without spaces, which [`parse`](str::parse)
    /// reads: the version of the form, the token, the end of the validity in nanoseconds, the
    /// fencing number or nothing, and each resource, with a `:` between them. Token and resources
    /// are hex digits.
    ///
    /// The text has the whole token, and so does not belong into a log.
    pub fn to_text(&self) -> String {
        let mut text =
            format!("{VERSION}:{}:{}:", self.token.to_hex(), self.valid_until.as_nanos());
        if let Some(fence) = self.fence {
            // A string takes everything.
            let _ = write!(text, "{fence}");
        }
        for resource in &self.resources {
            text.push(':');
            for byte in resource {
                let _ = write!(text, "{byte:02x}");
            }
        }
        text
    }
}

/// The error of parsing a text that is not a [`Handover`]. The text itself is not shown, because it
/// may have a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HandoverError {
    /// The text does not begin with the version of a form that is known, which is `1:`.
    Version,
    /// The second part is not a token, which is forty hex digits.
    Token,
    /// The third part is not a number of nanoseconds.
    ValidUntil,
    /// The fourth part is neither a fencing number nor empty.
    Fence,
    /// A resource is missing, is empty, or is not made of pairs of hex digits.
    Resource,
    /// There are more resources than one lock can have, or more bytes in all of them.
    TooMany,
}

impl fmt::Display for HandoverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version => f.write_str("a handover begins with 1:"),
            Self::Token => f.write_str("the token of a handover is forty hex digits"),
            Self::ValidUntil => f.write_str("the third part of a handover is a number"),
            Self::Fence => {
                f.write_str("the fourth part of a handover is a fencing number, or empty")
            }
            Self::Resource => f.write_str("the resources of a handover are pairs of hex digits"),
            Self::TooMany => {
                write!(f, "a handover has at most {MAX_SET} resources of {MAX_SET_BYTES} bytes")
            }
        }
    }
}

impl core::error::Error for HandoverError {}

/// Parses what [`Handover::to_text`] returns, with hex digits of either case.
impl FromStr for Handover {
    type Err = HandoverError;

    fn from_str(text: &str) -> Result<Self, HandoverError> {
        let mut parts = text.split(':');
        if parts.next() != Some(VERSION) {
            return Err(HandoverError::Version);
        }
        let token = parts.next().and_then(|part| part.parse().ok());
        let token = token.ok_or(HandoverError::Token)?;
        let nanos = parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        let nanos = nanos.and_then(|part| part.parse().ok()).ok_or(HandoverError::ValidUntil)?;
        let fence = match parts.next().ok_or(HandoverError::Fence)? {
            "" => None,
            number => Some(number.parse().map_err(|_| HandoverError::Fence)?),
        };
        let (mut resources, mut bytes) = (Vec::new(), 0);
        for part in parts {
            bytes += part.len() / 2;
            if resources.len() == MAX_SET || bytes > MAX_SET_BYTES {
                return Err(HandoverError::TooMany);
            }
            resources.push(resource(part).ok_or(HandoverError::Resource)?);
        }
        if resources.is_empty() {
            return Err(HandoverError::Resource);
        }
        Ok(Self { resources, token, valid_until: Instant::from_nanos(nanos), fence })
    }
}

/// The bytes that pairs of hex digits stand for; `None` for any other text and for none at all.
fn resource(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2).map(|pair| match *pair {
        // Two hex digits make a byte.
        [high, low] => Some((digit(high)? * 16 + digit(low)?) as u8),
        _ => None,
    });
    pairs.collect::<Option<Vec<u8>>>().filter(|bytes| !bytes.is_empty())
}

fn digit(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}

/// Writes what [`Handover::to_text`] returns, with the whole token.
#[cfg(feature = "serde")]
impl serde::Serialize for Handover {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Handover {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl serde::de::Visitor<'_> for Reader {
            type Value = Handover;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a handover as text")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Handover, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Reader)
    }
}

/// Prints no token, because a token must not get into a log.
impl fmt::Debug for Handover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handover")
            .field("resources", &self.resources.len())
            .field("valid_until", &self.valid_until)
            .field("fence", &self.fence)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_debug_shows_no_token() {
        let token = Token::from_bytes([0xab; Token::LEN]);
        let resources = vec![b"orders/42".to_vec(), vec![0, 0xff]];
        let valid_until = Instant::from_nanos(7);
        let mut handover = Handover { resources, token, valid_until, fence: None };
        let fence = Fence::new(5_000_000_000);
        for (fence, written) in [(None, ""), (fence, "5000000000")] {
            handover.fence = fence;
            let text = handover.to_text();
            let head = format!("1:{}:7:{written}", "ab".repeat(20));
            assert_eq!(text, format!("{head}:6f72646572732f3432:00ff"));
            assert_eq!(text.parse(), Ok(handover.clone()));
            assert_eq!(text.to_uppercase().parse(), Ok(handover.clone()));
        }
        assert!(!format!("{handover:?} {handover:#?}").contains("abab"));
    }

    #[test]
    fn what_is_no_handover_is_told_which_part_is_none() {
        let token = "ab".repeat(20);
        let text = |rest: &str| format!("1:{token}:{rest}");
        let rows = [
            (String::new(), HandoverError::Version),
            (token.clone(), HandoverError::Version),
            (format!("2:{token}:7:61"), HandoverError::Version),
            ("1".to_owned(), HandoverError::Token),
            ("1:abab:7:61".to_owned(), HandoverError::Token),
            (text(""), HandoverError::ValidUntil),
            (text("+7::61"), HandoverError::ValidUntil),
            (text("99999999999999999999::61"), HandoverError::ValidUntil),
            (text("7"), HandoverError::Fence),
            (text("7:12:61"), HandoverError::Fence),
            (text("7:x:61"), HandoverError::Fence),
            (text("7:5000000000"), HandoverError::Resource),
            (text("7::"), HandoverError::Resource),
            (text("7::616"), HandoverError::Resource),
            (text("7::6g"), HandoverError::Resource),
            (text("7::ää"), HandoverError::Resource),
            (text("7::61\n"), HandoverError::Resource),
            (text("7::61:"), HandoverError::Resource),
            (text(&format!("7:{}", ":61".repeat(MAX_SET + 1))), HandoverError::TooMany),
            (text(&format!("7::{}", "61".repeat(MAX_SET_BYTES + 1))), HandoverError::TooMany),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse::<Handover>(), Err(expected), "{text}");
        }
        let most = text(&format!("7:{}", ":61".repeat(MAX_SET)));
        assert_eq!(most.parse::<Handover>().map(|all| all.resources.len()), Ok(MAX_SET));
    }
}
