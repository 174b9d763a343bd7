//! The decoders of `redis-protocol`, each in its cheapest form: frames that name ranges of the
//! buffer and copy nothing.

use redis_protocol::resp2;
use redis_protocol::resp3::decode::complete;
use redis_protocol::resp3::types::{RangeAttributes, RangeFrame as Frame3};
use resp2::types::RangeFrame as Frame2;

use crate::reading::{Decoder, mark_double};
use crate::replies::mark;

/// The decoder of RESP2 in `redis-protocol`.
#[derive(Default)]
pub(crate) struct Peer2;

/// The decoder of RESP3 in `redis-protocol`.
#[derive(Default)]
pub(crate) struct Peer3;

impl Decoder for Peer2 {
    #[inline]
    fn decode(&mut self, bytes: &[u8]) -> Option<(u64, usize)> {
        let frame = resp2::decode::decode_range(bytes).expect("the replies are well-formed");
        frame.map(|(frame, len)| (mark2(&frame), len))
    }
}

impl Decoder for Peer3 {
    #[inline]
    fn decode(&mut self, bytes: &[u8]) -> Option<(u64, usize)> {
        let frame = complete::decode_range(bytes).expect("the replies are well-formed");
        frame.map(|(frame, len)| (mark3(&frame), len))
    }
}

fn mark2(frame: &Frame2) -> u64 {
    match frame {
        Frame2::SimpleString(range) => mark_range(b'+', range),
        Frame2::Error(range) => mark_range(b'-', range),
        Frame2::Integer(integer) => mark(b':', *integer as u64),
        Frame2::BulkString(range) => mark_range(b'$', range),
        Frame2::Null => mark(b'_', 0),
        Frame2::Array(frames) => {
            let own = mark(b'*', frames.len() as u64);
            frames.iter().fold(own, |marks, frame| marks.wrapping_add(mark2(frame)))
        }
    }
}

fn mark3(frame: &Frame3) -> u64 {
    let (own, attributes) = match frame {
        Frame3::SimpleString { data, attributes } => (mark_range(b'+', data), attributes),
        Frame3::SimpleError { data, attributes } => (mark_range(b'-', data), attributes),
        Frame3::BlobString { data, attributes } => (mark_range(b'$', data), attributes),
        Frame3::BlobError { data, attributes } => (mark_range(b'!', data), attributes),
        Frame3::BigNumber { data, attributes } => (mark_range(b'(', data), attributes),
        Frame3::VerbatimString { data, attributes, .. } => (mark_range(b'=', data), attributes),
        Frame3::Number { data, attributes } => (mark(b':', *data as u64), attributes),
        Frame3::Boolean { data, attributes } => (mark(b'#', u64::from(*data)), attributes),
        Frame3::Double { data, attributes } => (mark_double(*data), attributes),
        Frame3::Null => (mark(b'_', 0), &None),
        Frame3::Array { data, attributes } => (mark_all(b'*', data.len(), data), attributes),
        Frame3::Set { data, attributes } => (mark_all(b'~', data.len(), data), attributes),
        Frame3::Push { data, attributes } => (mark_all(b'>', data.len(), data), attributes),
        Frame3::Map { data, attributes } => {
            let frames = data.iter().flat_map(|(key, value)| [key, value]);
            (mark_all(b'%', 2 * data.len(), frames), attributes)
        }
        Frame3::Hello { .. } | Frame3::ChunkedString(_) => panic!("no reply is one of these"),
    };
    own.wrapping_add(attributes.as_ref().map_or(0, mark_attributes))
}

fn mark_attributes(attributes: &RangeAttributes) -> u64 {
    let frames = attributes.iter().flat_map(|(key, value)| [key, value]);
    mark_all(b'|', 2 * attributes.len(), frames)
}

fn mark_all<'a>(kind: u8, count: usize, frames: impl IntoIterator<Item = &'a Frame3>) -> u64 {
    let own = mark(kind, count as u64);
    frames.into_iter().fold(own, |marks, frame| marks.wrapping_add(mark3(frame)))
}

fn mark_range(kind: u8, (start, end): &(usize, usize)) -> u64 {
    mark(kind, (end - start) as u64)
}
