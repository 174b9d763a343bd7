//! How many times as long as our parser the reader of hiredis takes. `fuzz/hiredis.sh ratios` runs
//! this.
//!
//! A program of its own: beside other callers of the parser, the compiler inlines less of it.

#[expect(dead_code, reason = "no reply of the cases has a format")]
mod hiredis;

#[path = "../../../benches/parse/cases.rs"]
#[expect(dead_code, reason = "the benches promise a ratio for locks")]
mod cases;
#[path = "../../../benches/parse/inputs.rs"]
#[expect(dead_code, reason = "the benches have more inputs")]
mod inputs;
#[path = "../../../benches/parse/reading.rs"]
mod reading;
#[path = "../../../benches/common/replies.rs"]
mod replies;

use cases::{Case, ROUNDS, median, time};
use hiredis::{Content, RawReply};
use reading::{Reader, Redbolt, RedboltTokens, mark_double};
use replies::mark;

/// The most that a piece has: hiredis reads so many bytes from a socket at once, and moves all that
/// a reader still holds after each kilobyte of replies.
const SOCKET: usize = 16 * 1024;

/// The limit of the elements of an aggregate, more than any reply has.
const ELEMENTS: usize = 1024 * 1024;

fn main() {
    println!("times as long as redbolt, medians of {ROUNDS} rounds:");
    println!("{:<20} hiredis elements tokens", "");
    for Case { name, replies, piece, by_tokens, .. } in cases::all() {
        let piece = piece.min(SOCKET);
        let mut ratios = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            let ours = [time::<Redbolt>(&replies, piece), time::<RedboltTokens>(&replies, piece)];
            let times = [time::<Hiredis>(&replies, piece), ours[0], ours[1]];
            let ours = ours[usize::from(by_tokens)];
            for (ratios, time) in ratios.iter_mut().zip(times) {
                ratios.push(time.as_secs_f64() / ours.as_secs_f64());
            }
        }
        let [hiredis, elements, tokens] = ratios.map(median);
        println!("{name:<20} {hiredis:>7.1} {elements:>8.2} {tokens:>6.2}");
    }
}

struct Hiredis;

impl Reader for Hiredis {
    fn read(bytes: &[u8], piece: usize) -> u64 {
        let mut reader = hiredis::Reader::new(ELEMENTS);
        let mut marks = 0_u64;
        for piece in bytes.chunks(piece) {
            reader.feed(piece);
            while let Some(reply) = reader.reply().expect("the replies are well-formed") {
                marks = marks.wrapping_add(mark_of(&reply.content()));
            }
        }
        assert_eq!(reader.position(), bytes.len(), "the last reply is whole");
        marks
    }
}

fn mark_of(content: &Content<'_>) -> u64 {
    match content {
        Content::Text(kind, text) => mark(*kind, text.len() as u64),
        Content::Verbatim(_, text) => mark(b'=', text.len() as u64),
        Content::Integer(integer) => mark(b':', *integer as u64),
        Content::Double(double) => mark_double(*double),
        Content::Boolean(boolean) => mark(b'#', u64::from(*boolean)),
        Content::Null => mark(b'_', 0),
        Content::Aggregate(kind, elements) => {
            let own = mark(*kind, elements.len() as u64);
            let of = |reply: &&RawReply| mark_of(&reply.content());
            elements.iter().map(of).fold(own, u64::wrapping_add)
        }
    }
}
