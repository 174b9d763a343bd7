//! Values that own their content, and the encoding of such values in RESP3: by a second encoder,
//! and by that of the library.

use bytes::BytesMut;

use super::super::{self as resp, Value};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Simple(Vec<u8>),
    Error(Vec<u8>),
    Integer(i64),
    Bulk(Vec<u8>),
    Null,
    Boolean(bool),
    /// The bits of a double, so that NaN equals NaN and -0 does not equal 0.
    Double(u64),
    BigNumber(Vec<u8>),
    BulkError(Vec<u8>),
    Verbatim([u8; 3], Vec<u8>),
    Array(Vec<Self>),
    Set(Vec<Self>),
    Map(Vec<Self>),
    Push(Vec<Self>),
    Attribute(Vec<Self>),
    /// An element with an attribute in front. No parser returns such a value.
    Annotated(Vec<Self>, Box<Self>),
}

impl From<Value<'_>> for Tree {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Simple(text) => Self::Simple(text.to_vec()),
            Value::Error(text) => Self::Error(text.to_vec()),
            Value::Integer(integer) => Self::Integer(integer),
            Value::Bulk(bytes) => Self::Bulk(bytes.to_vec()),
            Value::Null => Self::Null,
            Value::Boolean(boolean) => Self::Boolean(boolean),
            Value::Double(double) => Self::double(double),
            Value::BigNumber(digits) => Self::BigNumber(digits.to_vec()),
            Value::BulkError(text) => Self::BulkError(text.to_vec()),
            Value::Verbatim { format, text } => Self::Verbatim(format, text.to_vec()),
            Value::Array(elements) => Self::Array(collect(elements)),
            Value::Set(elements) => Self::Set(collect(elements)),
            Value::Map(elements) => Self::Map(collect(elements)),
            Value::Push(elements) => Self::Push(collect(elements)),
            Value::Attribute(elements) => Self::Attribute(collect(elements)),
        }
    }
}

/// Collects elements, and checks that `len` is exact at every step.
fn collect(mut elements: super::super::Elements<'_>) -> Vec<Tree> {
    let mut trees = Vec::new();
    for left in (0..elements.len()).rev() {
        trees.push(Tree::from(elements.next().expect("as many elements as promised")));
        assert_eq!(elements.len(), left);
    }
    assert_eq!(elements.next(), None);
    trees
}

impl Tree {
    pub(super) fn double(double: f64) -> Self {
        Self::Double(if double.is_nan() { f64::NAN } else { double }.to_bits())
    }

    pub(super) fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Simple(text) => line(out, '+', text),
            Self::Error(text) => line(out, '-', text),
            Self::Integer(integer) => line(out, ':', integer.to_string().as_bytes()),
            Self::Bulk(bytes) => bulk(out, '$', bytes),
            Self::Null => line(out, '_', b""),
            Self::Boolean(boolean) => line(out, '#', if *boolean { b"t" } else { b"f" }),
            Self::Double(bits) => {
                let double = f64::from_bits(*bits);
                let text = if double.is_nan() { "nan".into() } else { format!("{double:e}") };
                line(out, ',', text.as_bytes());
            }
            Self::BigNumber(digits) => line(out, '(', digits),
            Self::BulkError(text) => bulk(out, '!', text),
            Self::Verbatim(format, text) => {
                bulk(out, '=', &[format, &b":"[..], text].concat());
            }
            Self::Array(elements) => aggregate(out, '*', elements.len(), elements),
            Self::Set(elements) => aggregate(out, '~', elements.len(), elements),
            Self::Map(elements) => aggregate(out, '%', elements.len() / 2, elements),
            Self::Push(elements) => aggregate(out, '>', elements.len(), elements),
            Self::Attribute(elements) => aggregate(out, '|', elements.len() / 2, elements),
            Self::Annotated(attribute, element) => {
                aggregate(out, '|', attribute.len() / 2, attribute);
                element.encode(out);
            }
        }
    }

    /// Appends the tree with the encoder of the library.
    pub(super) fn write(&self, out: &mut BytesMut) {
        let elements = match self {
            Self::Simple(text) => return resp::simple(out, text),
            Self::Error(text) => return resp::error(out, text),
            Self::Integer(integer) => return resp::integer(out, *integer),
            Self::Bulk(bytes) => return resp::bulk(out, bytes),
            Self::Null => return resp::null3(out),
            Self::Boolean(boolean) => return resp::boolean(out, *boolean),
            Self::Double(bits) => return resp::double(out, f64::from_bits(*bits)),
            Self::BigNumber(digits) => return resp::big_number(out, digits).unwrap(),
            Self::BulkError(text) => return resp::bulk_error(out, text),
            Self::Verbatim(format, text) => return resp::verbatim(out, *format, text),
            Self::Array(elements) => {
                resp::array_header(out, elements.len());
                elements
            }
            Self::Set(elements) => {
                resp::set_header(out, elements.len());
                elements
            }
            Self::Map(elements) => {
                resp::map_header(out, elements.len() / 2);
                elements
            }
            Self::Push(elements) => {
                resp::push_header(out, elements.len());
                elements
            }
            Self::Attribute(elements) | Self::Annotated(elements, _) => {
                resp::attribute_header(out, elements.len() / 2);
                elements
            }
        };
        elements.iter().for_each(|element| element.write(out));
        if let Self::Annotated(_, element) = self {
            element.write(out);
        }
    }

    /// The tree as a parser returns it: without the attributes of elements.
    pub(super) fn without_attributes(self) -> Self {
        let strip = |elements: Vec<Self>| elements.into_iter().map(Self::without_attributes);
        match self {
            Self::Array(elements) => Self::Array(strip(elements).collect()),
            Self::Set(elements) => Self::Set(strip(elements).collect()),
            Self::Map(elements) => Self::Map(strip(elements).collect()),
            Self::Push(elements) => Self::Push(strip(elements).collect()),
            Self::Attribute(elements) => Self::Attribute(strip(elements).collect()),
            Self::Annotated(_, element) => element.without_attributes(),
            scalar => scalar,
        }
    }
}

fn line(out: &mut Vec<u8>, kind: char, text: &[u8]) {
    out.push(kind as u8);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

fn bulk(out: &mut Vec<u8>, kind: char, bytes: &[u8]) {
    line(out, kind, bytes.len().to_string().as_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

fn aggregate(out: &mut Vec<u8>, kind: char, count: usize, elements: &[Tree]) {
    line(out, kind, count.to_string().as_bytes());
    for element in elements {
        element.encode(out);
    }
}
