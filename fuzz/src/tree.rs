//! Values that own their content, for comparisons.

use redbolt::resp::{Elements, Value};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Tree {
    /// The type and the bytes of any text.
    Text(u8, Vec<u8>),
    Integer(i64),
    Boolean(bool),
    /// The bits of a double, so that a NaN equals itself.
    Double(u64),
    Null,
    /// The type and the elements of any aggregate.
    Aggregate(u8, Vec<Self>),
}

impl From<&Value<'_>> for Tree {
    fn from(value: &Value<'_>) -> Self {
        match value {
            Value::Simple(text) => Self::Text(b'+', text.to_vec()),
            Value::Error(text) => Self::Text(b'-', text.to_vec()),
            Value::Bulk(text) => Self::Text(b'$', text.to_vec()),
            Value::BulkError(text) => Self::Text(b'!', text.to_vec()),
            Value::BigNumber(digits) => Self::Text(b'(', digits.to_vec()),
            Value::Verbatim { format, text } => {
                Self::Text(b'=', [&format[..], b":", text].concat())
            }
            Value::Integer(integer) => Self::Integer(*integer),
            Value::Boolean(boolean) => Self::Boolean(*boolean),
            Value::Double(double) => Self::double(*double),
            Value::Null => Self::Null,
            Value::Array(elements) => aggregate(b'*', elements),
            Value::Set(elements) => aggregate(b'~', elements),
            Value::Map(elements) => aggregate(b'%', elements),
            Value::Push(elements) => aggregate(b'>', elements),
            Value::Attribute(elements) => aggregate(b'|', elements),
            // The targets must learn of it.
            other => panic!("a kind of value that the targets do not know: {other:?}"),
        }
    }
}

/// Collects the elements, and checks that there are as many as the value says.
fn aggregate(kind: u8, elements: &Elements<'_>) -> Tree {
    let promised = elements.len();
    let trees: Vec<_> = elements.clone().map(|element| Tree::from(&element)).collect();
    assert_eq!(trees.len(), promised, "elements are missing");
    Tree::Aggregate(kind, trees)
}

impl Tree {
    pub(crate) fn double(double: f64) -> Self {
        Self::Double(if double.is_nan() { f64::NAN } else { double }.to_bits())
    }

    /// Returns whether RESP2 has all types of this value.
    pub(crate) fn is_resp2(&self) -> bool {
        match self {
            Self::Text(kind, _) => matches!(kind, b'+' | b'-' | b'$'),
            Self::Integer(_) | Self::Null => true,
            Self::Boolean(_) | Self::Double(_) => false,
            Self::Aggregate(kind, elements) => *kind == b'*' && elements.iter().all(Self::is_resp2),
        }
    }
}
