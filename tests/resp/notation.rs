//! How a table of vectors writes bytes: with escapes, and `<text*3>` for three times the text.
//! `fuzz/hiredis` reads the table, too.

/// Returns the bytes that a column stands for.
pub(crate) fn bytes(column: &str) -> Vec<u8> {
    let Some((text, times, rest)) = repeated(column) else { return unescaped(column) };
    let (before, _) = column.split_once('<').expect("it begins with one");
    [unescaped(before), unescaped(text).repeat(times), unescaped(rest)].concat()
}

/// Splits `before<text*3>rest` into text, number and rest.
fn repeated(column: &str) -> Option<(&str, usize, &str)> {
    let (_, inside) = column.split_once('<')?;
    let (inside, rest) = inside.split_once('>')?;
    let (text, times) = inside.rsplit_once('*')?;
    Some((text, times.parse().ok()?, rest))
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        let (byte, len) = match escaped.as_bytes()[0] {
            b'r' => (b'\r', 1),
            b'n' => (b'\n', 1),
            b'x' => (u8::from_str_radix(&escaped[1..3], 16).expect("two digits"), 3),
            other => panic!("an unknown escape: {}", char::from(other)),
        };
        bytes.push(byte);
        rest = &escaped[len..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
