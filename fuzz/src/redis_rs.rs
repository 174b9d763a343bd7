//! Our parser and that of redis-rs ("theirs"), which has nothing in common with ours, nor with that
//! of `redis-protocol`.
//!
//! What ours reads, theirs must read as the same value; the reasons why not are in [`is_theirs`].
//! What ours refuses or waits for, theirs may read only if no server writes it so ([`spell`]).
//! Theirs keeps the order of sets and maps, where `redis-protocol` has hash tables.

use redbolt::resp::{self, Status, Value};
use redis::{Value as Theirs, VerbatimFormat};

/// Their parser recurses, and refuses at this depth; ours refuses earlier.
const DEPTH_THEY_STAND: usize = 100;

/// Reads value after value with both parsers.
///
/// # Panics
///
/// Panics if the parsers disagree.
pub fn redis_rs(data: &[u8]) {
    let mut rest = data;
    loop {
        let status = resp::parse(rest);
        if let Ok(Status::Complete((value, used))) = status {
            match redis::parse_redis_value(&rest[..used]) {
                Ok(theirs) => assert!(same(&value, &theirs), "{value:?} or {theirs:?}"),
                Err(error) => {
                    // Ours does not look at the texts in the attributes that it skips.
                    let is_theirs = is_theirs(&value) && !rest[..used].contains(&b'|');
                    assert!(!is_theirs, "they cannot read {value:?}: {error}");
                }
            }
            rest = &rest[used..];
        } else {
            let aggregates = rest.iter().filter(|byte| matches!(byte, b'*' | b'~' | b'%' | b'>'));
            if aggregates.count() < DEPTH_THEY_STAND && !is_too_deep(&status) {
                refused(&format!("{status:?}"), rest);
            }
            return;
        }
    }
}

fn is_too_deep(status: &Result<Status<(Value<'_>, usize)>, resp::Error>) -> bool {
    matches!(status, Err(resp::Error::TooDeep))
}

/// Checks bytes that ours does not read, for this reason.
fn refused(reason: &str, rest: &[u8]) {
    let Ok(theirs) = redis::parse_redis_value(rest) else { return };
    let mut spelled = Vec::new();
    let is_ours = spell(&theirs, &mut spelled) && rest.starts_with(&spelled);
    assert!(!is_ours, "{reason}, but servers write {}", rest.escape_ascii());
}

/// Returns whether theirs can read a value of ours. Theirs wants UTF-8 in lines, a value behind an
/// attribute, and a text at the beginning of a push.
fn is_theirs(value: &Value<'_>) -> bool {
    match value {
        Value::Simple(line) | Value::Error(line) => std::str::from_utf8(line).is_ok(),
        Value::Array(elements) | Value::Set(elements) | Value::Map(elements) => {
            elements.clone().all(|element| is_theirs(&element))
        }
        Value::Push(elements) => {
            let first = elements.clone().next();
            let kind = match first {
                None => true,
                // Theirs has a value of its own for this text, which is no text any more.
                Some(Value::Simple(b"OK")) => false,
                Some(Value::Simple(text) | Value::Bulk(text)) => std::str::from_utf8(text).is_ok(),
                Some(_) => false,
            };
            kind && elements.clone().all(|element| is_theirs(&element))
        }
        Value::Attribute(_) => false,
        _ => true,
    }
}

fn same(ours: &Value<'_>, theirs: &Theirs) -> bool {
    let all = |elements: &resp::Elements<'_>, theirs: &[Theirs]| {
        elements.len() == theirs.len()
            && elements.clone().zip(theirs).all(|(ours, theirs)| same(&ours, theirs))
    };
    match (ours, theirs) {
        // Ours skips attributes inside of a value.
        (_, Theirs::Attribute { data, .. }) => same(ours, data),
        (Value::Simple(text), Theirs::Okay) => *text == b"OK",
        (Value::Simple(text), Theirs::SimpleString(theirs)) => *text == theirs.as_bytes(),
        (Value::Bulk(bytes), Theirs::BulkString(theirs)) => bytes == theirs,
        (Value::Integer(ours), Theirs::Int(theirs)) => ours == theirs,
        (Value::Null, Theirs::Nil) => true,
        (Value::Boolean(ours), Theirs::Boolean(theirs)) => ours == theirs,
        (Value::Double(ours), Theirs::Double(theirs)) => {
            ours == theirs || ours.is_nan() && theirs.is_nan()
        }
        (Value::BigNumber(digits), Theirs::BigNumber(theirs)) => digits == theirs,
        // Theirs ends the format at the first colon, and repairs what is not UTF-8.
        (Value::Verbatim { format, .. }, Theirs::VerbatimString { .. })
            if format.contains(&b':') =>
        {
            true
        }
        (Value::Verbatim { text, .. }, Theirs::VerbatimString { text: theirs, .. }) => {
            String::from_utf8_lossy(text) == theirs.as_str()
        }
        (Value::Error(text) | Value::BulkError(text), Theirs::ServerError(error)) => {
            let text = String::from_utf8_lossy(text);
            text.split_once(' ').map(|(_, details)| details) == error.details()
        }
        (Value::Array(ours), Theirs::Array(theirs)) => all(ours, theirs),
        (Value::Set(ours), Theirs::Set(theirs)) => all(ours, theirs),
        (Value::Map(ours), Theirs::Map(theirs)) => {
            let flat = theirs.iter().flat_map(|(key, value)| [key.clone(), value.clone()]);
            all(ours, &flat.collect::<Vec<_>>())
        }
        (Value::Push(ours), Theirs::Push { data, .. }) => {
            let mut ours = ours.clone();
            let count = ours.len().saturating_sub(1);
            ours.next();
            count == data.len() && ours.zip(data).all(|(ours, theirs)| same(&ours, theirs))
        }
        _ => false,
    }
}

/// Writes a value as servers do. Returns `false` for what no server writes, and for what theirs
/// does not keep as it came: errors, pushes, attributes.
fn spell(value: &Theirs, out: &mut Vec<u8>) -> bool {
    let line = |text: &str| !text.contains(['\r', '\n']);
    match value {
        Theirs::Okay => out.extend(b"+OK\r\n"),
        Theirs::SimpleString(text) => {
            out.extend(format!("+{text}\r\n").bytes());
            return line(text);
        }
        Theirs::BulkString(bytes) => {
            out.extend(format!("${}\r\n", bytes.len()).bytes());
            out.extend([&bytes[..], b"\r\n"].concat());
        }
        Theirs::Int(integer) => out.extend(format!(":{integer}\r\n").bytes()),
        Theirs::Nil => out.extend(b"_\r\n"),
        Theirs::Boolean(boolean) => out.extend(if *boolean { b"#t\r\n" } else { b"#f\r\n" }),
        Theirs::Double(double) if double.is_nan() => out.extend(b",nan\r\n"),
        Theirs::Double(double) => out.extend(format!(",{double}\r\n").bytes()),
        Theirs::VerbatimString { format, text } => {
            let format = match format {
                VerbatimFormat::Text => "txt",
                VerbatimFormat::Markdown => "mkd",
                _ => return false,
            };
            out.extend(format!("={}\r\n{format}:{text}\r\n", text.len() + 4).bytes());
        }
        Theirs::Array(elements) => return spell_all(b'*', elements.len(), elements, out),
        Theirs::Set(elements) => return spell_all(b'~', elements.len(), elements, out),
        Theirs::Map(pairs) => {
            let flat = pairs.iter().flat_map(|(key, value)| [key, value]);
            return spell_all(b'%', pairs.len(), flat, out);
        }
        _ => return false,
    }
    true
}

fn spell_all<'v>(
    kind: u8,
    count: usize,
    elements: impl IntoIterator<Item = &'v Theirs>,
    out: &mut Vec<u8>,
) -> bool {
    out.push(kind);
    out.extend(format!("{count}\r\n").bytes());
    elements.into_iter().all(|element| spell(element, out))
}
