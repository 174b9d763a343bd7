//! The verdicts of other parsers, in the same words as ours.

use redis::ErrorKind;
use redis_protocol::resp2::decode::decode as decode2;
use redis_protocol::resp2::types::OwnedFrame as Frame2;
use redis_protocol::resp3::decode::complete::decode as decode3;
use redis_protocol::resp3::types::OwnedFrame as Frame3;

use crate::meaning::{self, Meaning};

/// Returns what `redis-protocol` makes of the bytes: by its parser of RESP2, or by that of RESP3
/// where the other refuses.
pub(crate) fn redis_protocol(bytes: &[u8]) -> String {
    meaning::of_all(bytes, |rest| match decode2(rest) {
        Ok(frame) => Ok(frame.map(|(frame, len)| (Meaning::from(frame), len))),
        Err(_) => match decode3(rest) {
            Ok(frame) => Ok(frame.map(|(frame, len)| (Meaning::from(frame), len))),
            Err(_) => Err(()),
        },
    })
}

/// Returns what `redis-rs` makes of the bytes.
pub(crate) fn redis_rs(bytes: &[u8]) -> String {
    meaning::of_all(bytes, |rest| {
        // The function does not say how long the value is, so the ends of lines are tried.
        let ends =
            (1..=rest.len()).filter(|&end| end == rest.len() || rest[..end].ends_with(b"\r\n"));
        for end in ends {
            match redis::parse_redis_value(&rest[..end]) {
                Ok(value) => return Ok(Some((Meaning::from(value), end))),
                Err(error) if error.kind() == ErrorKind::Io => {}
                Err(_) => return Err(()),
            }
        }
        Ok(None)
    })
}

fn all<T>(kind: &'static str, elements: impl IntoIterator<Item = T>) -> Meaning
where
    Meaning: From<T>,
{
    Meaning::Aggregate(kind, elements.into_iter().map(Meaning::from).collect())
}

impl From<Frame2> for Meaning {
    fn from(frame: Frame2) -> Self {
        match frame {
            Frame2::SimpleString(text) | Frame2::BulkString(text) => Self::text(&text),
            Frame2::Error(text) => Self::error(text.as_bytes()),
            Frame2::Integer(integer) => Self::integer(integer),
            Frame2::Null => Self::null(),
            Frame2::Array(frames) => all("", frames),
        }
    }
}

impl From<Frame3> for Meaning {
    fn from(frame: Frame3) -> Self {
        match frame {
            Frame3::SimpleString { data, .. }
            | Frame3::BlobString { data, .. }
            | Frame3::VerbatimString { data, .. } => Self::text(&data),
            Frame3::SimpleError { data, .. } => Self::error(data.as_bytes()),
            Frame3::BlobError { data, .. } => Self::error(&data),
            Frame3::BigNumber { data, .. } => Self::big(&data),
            Frame3::Number { data, .. } => Self::integer(data),
            Frame3::Double { data, .. } => Self::double(data),
            Frame3::Boolean { data, .. } => Self::boolean(data),
            Frame3::Null => Self::null(),
            Frame3::Array { data, .. } => all("", data),
            Frame3::Set { data, .. } => all("set ", data),
            Frame3::Push { data, .. } => all("push ", data),
            Frame3::Map { data, .. } => {
                all("map ", data.into_iter().flat_map(|(key, value)| [key, value]))
            }
            Frame3::Hello { .. } => Self::Scalar("request".into()),
            Frame3::ChunkedString(_) => Self::Scalar("a part".into()),
        }
    }
}

impl From<redis::Value> for Meaning {
    fn from(value: redis::Value) -> Self {
        use redis::Value;
        let pairs = |pairs: Vec<(Value, Value)>| {
            all("map ", pairs.into_iter().flat_map(|(key, value)| [key, value]))
        };
        match value {
            Value::Nil => Self::null(),
            Value::Okay => Self::text(b"OK"),
            Value::Int(integer) => Self::integer(integer),
            Value::Double(double) => Self::double(double),
            Value::Boolean(boolean) => Self::boolean(boolean),
            Value::BulkString(bytes) => Self::text(&bytes),
            Value::SimpleString(text) | Value::VerbatimString { text, .. } => {
                Self::text(text.as_bytes())
            }
            Value::BigNumber(digits) => Self::big(&digits),
            Value::Array(values) => all("", values),
            Value::Set(values) => all("set ", values),
            Value::Map(values) => pairs(values),
            Value::Attribute { data, .. } => Self::from(*data),
            Value::Push { kind, data } => {
                let kind = [Self::text(kind.to_string().as_bytes())];
                Self::Aggregate(
                    "push ",
                    kind.into_iter().chain(data.into_iter().map(Self::from)).collect(),
                )
            }
            Value::ServerError(error) => {
                let text = match error.details() {
                    Some(details) => format!("{} {details}", error.code()),
                    None => error.code().into(),
                };
                Self::error(text.as_bytes())
            }
            other => Self::Scalar(format!("{other:?}")),
        }
    }
}
