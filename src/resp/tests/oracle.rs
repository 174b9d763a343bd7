//! A second reader of the grammar, as naive as possible: recursive, copying, searching byte by
//! byte. This reader and the parser share only the limits and the errors.

use super::super::{Error, MAX_DEPTH, MAX_ELEMENTS, MAX_LENGTH, MAX_LINE};
use super::Outcome;
use super::tree::Tree;

pub(super) fn parse(bytes: &[u8]) -> Outcome {
    Oracle { bytes, at: 0, values: 0 }.outcome()
}

struct Oracle<'b> {
    bytes: &'b [u8],
    at: usize,
    values: usize,
}

/// The reason for no value: an error, or the end of the bytes.
enum Stop {
    Error(Error),
    End,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Oracle<'_> {
    fn outcome(mut self) -> Outcome {
        match self.value(0) {
            Ok(tree) => Ok(Some((tree, self.at))),
            Err(Stop::End) => Ok(None),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        let byte = *self.bytes.get(self.at).ok_or(Stop::End)?;
        self.at += 1;
        Ok(byte)
    }

    fn line(&mut self, longest: usize, too_long: Error) -> Result<String, Stop> {
        let mut line = Vec::new();
        loop {
            match self.byte()? {
                b'\r' => break,
                b'\n' => return Err(Error::Line.into()),
                _ if line.len() == longest => return Err(too_long.into()),
                byte => line.push(byte),
            }
        }
        match self.byte()? {
            // Latin-1, so that the text has a character for every byte.
            b'\n' => Ok(line.into_iter().map(char::from).collect()),
            _ => Err(Error::Line.into()),
        }
    }

    fn length(&mut self) -> Result<i64, Stop> {
        let text = self.line(20, Error::Length)?;
        if text == "?" {
            return Err(Error::Streamed.into());
        }
        Ok(canonical(&text).ok_or(Error::Length)?)
    }

    /// The bytes of a bulk string; `None` for null.
    fn bulk(&mut self, shortest: usize) -> Result<Option<Vec<u8>>, Stop> {
        let nullable = shortest == 0 && self.bytes[self.at - 1] == b'$';
        let len = match self.length()? {
            -1 if nullable => return Ok(None),
            len => usize::try_from(len).map_err(|_| Error::Length)?,
        };
        if len > MAX_LENGTH {
            return Err(Error::TooLong.into());
        }
        if len < shortest {
            return Err(Error::Verbatim.into());
        }
        if self.bytes.len() - self.at < len + 2 {
            return Err(Stop::End);
        }
        let payload = self.bytes[self.at..self.at + len].to_vec();
        self.at += len;
        match (self.byte()?, self.byte()?) {
            (b'\r', b'\n') => Ok(Some(payload)),
            _ => Err(Error::Terminator.into()),
        }
    }

    /// The elements of an aggregate; `None` for null.
    fn elements(&mut self, kind: u8, depth: usize) -> Result<Option<Vec<Tree>>, Stop> {
        let pairs = kind == b'%' || kind == b'|';
        let count = match self.length()? {
            -1 if kind == b'*' => return Ok(None),
            len => u128::try_from(len).map_err(|_| Error::Length)? * if pairs { 2 } else { 1 },
        };
        let attribute_inside = u128::from(kind == b'|' && depth > 0);
        if self.values as u128 + count + attribute_inside > MAX_ELEMENTS as u128 {
            return Err(Error::TooManyElements.into());
        }
        self.values += (count + attribute_inside) as usize;
        if kind == b'>' && depth > 0 {
            return Err(Error::Push.into());
        }
        if depth == MAX_DEPTH {
            return Err(Error::TooDeep.into());
        }
        let mut elements = Vec::new();
        for _ in 0..count {
            while self.bytes.get(self.at) == Some(&b'|') {
                self.value(depth + 1)?;
            }
            elements.push(self.value(depth + 1)?);
        }
        Ok(Some(elements))
    }

    fn value(&mut self, depth: usize) -> Result<Tree, Stop> {
        let kind = self.byte()?;
        let bytes = |text: String| text.chars().map(|c| c as u8).collect::<Vec<_>>();
        Ok(match kind {
            b'+' => Tree::Simple(bytes(self.line(MAX_LINE, Error::TooLong)?)),
            b'-' => Tree::Error(bytes(self.line(MAX_LINE, Error::TooLong)?)),
            b':' => {
                let text = self.line(20, Error::Integer)?;
                Tree::Integer(canonical(&text).ok_or(Error::Integer)?)
            }
            b'_' => self.line(0, Error::Null).map(|_| Tree::Null)?,
            b'#' => match &*self.line(1, Error::Boolean)? {
                "t" => Tree::Boolean(true),
                "f" => Tree::Boolean(false),
                _ => return Err(Error::Boolean.into()),
            },
            b',' => {
                let text = self.line(MAX_LINE, Error::TooLong)?;
                Tree::double(double(&text).ok_or(Error::Double)?)
            }
            b'(' => {
                let text = self.line(MAX_LINE, Error::TooLong)?;
                if !is_digits(text.strip_prefix(['+', '-']).unwrap_or(&text)) {
                    return Err(Error::BigNumber.into());
                }
                Tree::BigNumber(bytes(text))
            }
            b'$' => self.bulk(0)?.map_or(Tree::Null, Tree::Bulk),
            b'!' => Tree::BulkError(self.bulk(0)?.unwrap_or_default()),
            b'=' => {
                let bytes = self.bulk(4)?.unwrap_or_default();
                if bytes[3] != b':' {
                    return Err(Error::Verbatim.into());
                }
                Tree::Verbatim([bytes[0], bytes[1], bytes[2]], bytes[4..].to_vec())
            }
            b'*' | b'~' | b'%' | b'>' | b'|' => match (kind, self.elements(kind, depth)?) {
                (_, None) => Tree::Null,
                (b'*', Some(elements)) => Tree::Array(elements),
                (b'~', Some(elements)) => Tree::Set(elements),
                (b'%', Some(elements)) => Tree::Map(elements),
                (b'>', Some(elements)) => Tree::Push(elements),
                (_, Some(elements)) => Tree::Attribute(elements),
            },
            b';' | b'.' => return Err(Error::Streamed.into()),
            _ => return Err(Error::Type.into()),
        })
    }
}

/// Parses an integer. A text is canonical if its value prints as the same text.
fn canonical(text: &str) -> Option<i64> {
    text.parse().ok().filter(|integer: &i64| integer.to_string() == text)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

fn is_whole(text: &str) -> bool {
    is_digits(text) && (text == "0" || !text.starts_with('0'))
}

fn double(text: &str) -> Option<f64> {
    if ["inf", "-inf", "nan", "-nan"].contains(&text) {
        return text.parse().ok();
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (integral, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let valid = is_whole(integral) && is_digits(fraction) && is_digits(exponent);
    text.parse().ok().filter(|double: &f64| valid && double.is_finite())
}
