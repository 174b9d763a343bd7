//! Small changes of an input, most of them at the beginning of a value, where a parser decides.

use fastrand::Rng;

/// What is put in. Most of it means something to a parser.
const WORDS: [&[u8]; 44] = [
    b"+",
    b"-",
    b":",
    b"$",
    b"*",
    b"_",
    b"#",
    b",",
    b"(",
    b"!",
    b"=",
    b"%",
    b"~",
    b"|",
    b">",
    b"?",
    b".",
    b";",
    b"0",
    b"1",
    b"2",
    b"9",
    b"e",
    b"t",
    b"\r",
    b"\n",
    b"\r\n",
    b"-1",
    b"inf",
    b"nan",
    b"e-400",
    b"9223372036854775808",
    b"536870913",
    b"1048576",
    b"\x00",
    b"\xff",
    b"txt:",
    b"*1\r\n",
    b"*0\r\n",
    b"%1\r\n",
    b"|1\r\n+k\r\n:1\r\n",
    b">1\r\n",
    b"!3\r\nERR\r\n",
    b",1.5\r\n",
];

/// Returns the input with a few changes; `other` is another input, from which a part may come.
pub(crate) fn mutated(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..rng.usize(1..=4) {
        let start = position(rng, &bytes);
        let end = bytes.len().min(start + rng.usize(1..=8));
        let word = WORDS[rng.usize(..WORDS.len())];
        match rng.u8(..8) {
            0 => _ = bytes.splice(start..start, word.iter().copied()),
            1 => _ = bytes.splice(start..end, word.iter().copied()),
            2 => _ = bytes.drain(start..end),
            3 => bytes.truncate(start),
            4 => bytes.extend_from_within(start..),
            5 => {
                bytes.truncate(start);
                bytes.extend_from_slice(&other[position(rng, other)..]);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(start) {
                    *byte = word[0];
                }
            }
        }
    }
    bytes
}

/// Returns a place in the bytes, or their end: half of the time the beginning of a line, or the
/// byte behind, where a length is.
fn position(rng: &mut Rng, bytes: &[u8]) -> usize {
    let anywhere = rng.usize(..=bytes.len());
    let line = bytes[anywhere..].iter().position(|byte| *byte == b'\n');
    match (rng.u8(..4), line) {
        (0, Some(line)) => anywhere + line + 1,
        (1, Some(line)) => bytes.len().min(anywhere + line + 2),
        _ => anywhere,
    }
}
