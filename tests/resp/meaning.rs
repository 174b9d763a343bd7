//! What a reply means, in words that fit every parser: no attributes, one null, one kind of text.

use redbolt::resp::{Elements, Value};

/// Aggregates nested deeper than this are told by their depth alone.
const DEEP: usize = 16;

/// Texts longer than this are told by their beginning and length.
const LONG: usize = 1000;

/// A value.
pub(crate) enum Meaning {
    /// A scalar, as text.
    Scalar(String),
    /// The kind of an aggregate, and its elements: two for each pair of a map.
    Aggregate(&'static str, Vec<Self>),
    /// An attribute, which says nothing about the value itself.
    Attribute,
}

impl Meaning {
    pub(crate) fn text(bytes: &[u8]) -> Self {
        Self::Scalar(format!("\"{}\"", shortened(bytes)))
    }

    pub(crate) fn error(bytes: &[u8]) -> Self {
        Self::Scalar(format!("error \"{}\"", shortened(bytes)))
    }

    pub(crate) fn integer(integer: i64) -> Self {
        Self::Scalar(integer.to_string())
    }

    pub(crate) fn double(double: f64) -> Self {
        Self::Scalar(if double.is_nan() { "nan".into() } else { format!("{double:?}") })
    }

    pub(crate) fn boolean(boolean: bool) -> Self {
        Self::Scalar(boolean.to_string())
    }

    pub(crate) fn null() -> Self {
        Self::Scalar("null".into())
    }

    /// A big number, without a plus sign and leading zeros.
    pub(crate) fn big(digits: &[u8]) -> Self {
        let text = shortened(digits);
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(&text);
        let sign = if text.starts_with('-') { "-" } else { "" };
        Self::Scalar(match unsigned.trim_start_matches('0') {
            "" if !unsigned.is_empty() => "big 0".into(),
            digits => format!("big {sign}{digits}"),
        })
    }

    fn depth(&self) -> usize {
        match self {
            Self::Aggregate(_, elements) => {
                1 + elements.iter().map(Self::depth).max().unwrap_or_default()
            }
            _ => 0,
        }
    }

    fn told(&self) -> String {
        match self {
            Self::Scalar(text) => text.clone(),
            Self::Attribute => "attribute".into(),
            Self::Aggregate(_, _) if self.depth() > DEEP => format!("{} deep", self.depth()),
            Self::Aggregate(kind, elements) => {
                let mut told: Vec<String> = elements.iter().map(Self::told).collect();
                if *kind == "map " {
                    told = told.chunks(2).map(|pair| pair.join(": ")).collect();
                }
                if matches!(*kind, "map " | "set ") {
                    told.sort_unstable();
                }
                format!("{kind}[{}]", told.join(", "))
            }
        }
    }
}

fn shortened(bytes: &[u8]) -> String {
    match bytes {
        [beginning @ .., _] if beginning.len() >= LONG => {
            format!("{}... {} bytes", bytes[..8].escape_ascii(), bytes.len())
        }
        _ => bytes.escape_ascii().to_string().replace("\\'", "'").replace("\\\"", "\""),
    }
}

impl From<&Value<'_>> for Meaning {
    fn from(value: &Value<'_>) -> Self {
        let all = |kind, elements: &Elements<'_>| {
            Self::Aggregate(kind, elements.clone().map(|element| Self::from(&element)).collect())
        };
        match value {
            Value::Simple(text) | Value::Bulk(text) | Value::Verbatim { text, .. } => {
                Self::text(text)
            }
            Value::Error(text) | Value::BulkError(text) => Self::error(text),
            Value::Integer(integer) => Self::integer(*integer),
            Value::Double(double) => Self::double(*double),
            Value::Boolean(boolean) => Self::boolean(*boolean),
            Value::BigNumber(digits) => Self::big(digits),
            Value::Null => Self::null(),
            Value::Array(elements) => all("", elements),
            Value::Set(elements) => all("set ", elements),
            Value::Map(elements) => all("map ", elements),
            Value::Push(elements) => all("push ", elements),
            Value::Attribute(_) => Self::Attribute,
            other => panic!("a kind of value that the vectors do not know: {other:?}"),
        }
    }
}

/// Reads value after value. `read` returns the first value of the bytes and its length, or `None`
/// if more bytes are needed.
pub(crate) fn of_all(
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<Option<(Meaning, usize)>, ()>,
) -> String {
    let (mut told, mut rest, mut is_described) = (Vec::new(), bytes, false);
    while !rest.is_empty() || is_described {
        match read(rest) {
            Ok(Some((Meaning::Attribute, len))) => (rest, is_described) = (&rest[len..], true),
            Ok(Some((meaning, len))) => {
                told.push(meaning.told());
                (rest, is_described) = (&rest[len..], false);
            }
            Ok(None) => {
                told.push("partial".into());
                break;
            }
            Err(()) => {
                told.push("refused".into());
                break;
            }
        }
    }
    told.join("; ")
}
