//! An element with its bytes and its attributes, which a [`Value`] leaves out.

use core::iter::FusedIterator;

use super::token::{Aggregate, Token};
use super::value::{Elements, Value};

/// An element of an aggregate, with what its [`Value`] leaves out. [`Elements::next_element`]
/// returns it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Element<'b> {
    /// The value.
    pub value: Value<'b>,
    /// The bytes of the value, without the attributes before it.
    pub bytes: &'b [u8],
    /// The attributes before the value.
    pub attributes: Attributes<'b>,
}

impl<'b> Elements<'b> {
    /// Takes the next element, with its bytes and its attributes. The element is the one that
    /// [`next`](Iterator::next) would take; `None` is the end, as there.
    ///
    /// ```
    /// use redbolt::resp::{Null, Status, Value, parse};
    ///
    /// let reply = b"*2\r\n|1\r\n+ttl\r\n:60\r\n$1\r\na\r\n*-1\r\n";
    /// let Status::Complete((Value::Array(mut elements), _)) = parse(reply)? else { panic!() };
    ///
    /// let first = elements.next_element().unwrap();
    /// assert_eq!((first.value, first.bytes), (Value::Bulk(b"a"), &b"$1\r\na\r\n"[..]));
    /// let pairs: Vec<_> = first.attributes.flatten().collect();
    /// assert_eq!(pairs, [Value::Simple(b"ttl"), Value::Integer(60)]);
    ///
    /// let second = elements.next_element().unwrap();
    /// assert_eq!((second.value, Null::of(second.bytes)), (Value::Null, Some(Null::Array)));
    /// assert!(elements.next_element().is_none());
    /// # Ok::<(), redbolt::resp::Error>(())
    /// ```
    ///
    /// Costs a pass over the bytes of the element if the element is an aggregate.
    pub fn next_element(&mut self) -> Option<Element<'b>> {
        self.missing = self.missing.checked_sub(1)?;
        let start = self.bytes;
        loop {
            let before = self.bytes;
            let value = match self.token()? {
                Token::Header(Aggregate::Attribute, count) => {
                    self.skip_values(count)?;
                    continue;
                }
                Token::Scalar(value) => value,
                Token::Header(aggregate, count) => aggregate.value(self.take_values(count)?),
            };
            let attributes = Attributes { bytes: &start[..start.len() - before.len()] };
            let bytes = &before[..before.len() - self.bytes.len()];
            return Some(Element { value, bytes, attributes });
        }
    }
}

/// An iterator over the attributes before an element. Each attribute is an iterator over keys and
/// values in turn.
#[derive(Clone, Debug)]
pub struct Attributes<'b> {
    /// Accepted bytes that are attributes and nothing else.
    bytes: &'b [u8],
}

impl<'b> Attributes<'b> {
    /// Returns the bytes of the attributes that have not been read. Empty if there are none.
    #[inline]
    pub fn bytes(&self) -> &'b [u8] {
        self.bytes
    }
}

impl<'b> Iterator for Attributes<'b> {
    type Item = Elements<'b>;

    fn next(&mut self) -> Option<Elements<'b>> {
        // The bytes hold an unknown number of attributes, so the count of 1 means "at least one".
        let mut elements = Elements::accepted(self.bytes, 1);
        let Token::Header(Aggregate::Attribute, count) = elements.token()? else { return None };
        let attribute = elements.take_values(count)?;
        self.bytes = elements.bytes;
        Some(attribute)
    }
}

impl FusedIterator for Attributes<'_> {}

/// The spellings of null, which are all [`Value::Null`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Null {
    /// `_`: the null of RESP3.
    Null,
    /// `$-1`: the null of RESP2 in the place of a bulk string, such as the reply of `GET` for a key
    /// that is not there.
    Bulk,
    /// `*-1`: the null of RESP2 in the place of an array, such as the reply of `EXEC` to an aborted
    /// transaction.
    Array,
}

impl Null {
    /// Returns which null these bytes are, or `None` if they are another value.
    ///
    /// ```
    /// use redbolt::resp::{Null, Status, Value, parse};
    ///
    /// let received = b"*-1\r\n+OK\r\n";
    /// let Status::Complete((value, len)) = parse(received)? else { panic!() };
    /// assert_eq!(value, Value::Null);
    /// assert_eq!(Null::of(&received[..len]), Some(Null::Array));
    /// # Ok::<(), redbolt::resp::Error>(())
    /// ```
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            b"_\r\n" => Some(Self::Null),
            b"$-1\r\n" => Some(Self::Bulk),
            b"*-1\r\n" => Some(Self::Array),
            _ => None,
        }
    }
}
