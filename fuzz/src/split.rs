//! Bytes in pieces: the parser returns the same values and errors, wherever the bytes are cut.

use redbolt::resp::{Error, Parser, Status};

use super::tree::Tree;

/// The values at the beginning of some bytes, and the way in which they end.
type Reading = (Vec<(Tree, usize)>, Result<usize, Error>);

/// Reads the bytes behind the first one, at once and in pieces. The first byte decides the lengths
/// of the pieces.
///
/// # Panics
///
/// Panics if the pieces make a difference.
pub fn split(data: &[u8]) {
    let Some((&seed, bytes)) = data.split_first() else { return };
    let whole = read(bytes, |_| bytes.len());
    let step = usize::from(seed % 7) + 1;
    assert_eq!(read(bytes, |at| at + step), whole, "in steps of {step}");
    let mut state = u32::from(seed);
    let ragged = read(bytes, |at| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        at + 1 + (state >> 24) as usize % 40
    });
    assert_eq!(ragged, whole, "in ragged steps");
}

/// Hands the bytes over as they arrive: each time from the beginning of the first incomplete value
/// up to the place that `arrive` returns.
fn read(bytes: &[u8], mut arrive: impl FnMut(usize) -> usize) -> Reading {
    let (mut parser, mut values) = (Parser::new(), Vec::new());
    let (mut done, mut there) = (0, 0);
    while there < bytes.len() {
        there = arrive(there).min(bytes.len());
        loop {
            match parser.parse(&bytes[done..there]) {
                Ok(Status::Complete((value, used))) => {
                    done += used;
                    values.push((Tree::from(&value), done));
                }
                Ok(Status::Partial) => break,
                Err(error) => return (values, Err(error)),
            }
        }
    }
    (values, Ok(done))
}
