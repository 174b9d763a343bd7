//! The parser of `redis-rs`, which reads from a `Read` and keeps what is incomplete.

use std::io;

use redis::{Parser, Value};

use crate::reading::Reader;
use crate::replies::mark;

pub(crate) struct RedisRs;

impl Reader for RedisRs {
    fn read(bytes: &[u8], piece: usize) -> u64 {
        let mut socket = Socket { bytes, piece };
        let mut parser = Parser::new();
        let mut marks = 0_u64;
        // The end of the bytes is an error.
        while let Ok(value) = parser.parse_value(&mut socket) {
            marks = marks.wrapping_add(mark_of(&value));
        }
        assert!(socket.bytes.is_empty(), "the replies are well-formed");
        marks
    }
}

/// A source that has one piece for each call.
struct Socket<'b> {
    bytes: &'b [u8],
    piece: usize,
}

impl io::Read for Socket<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.piece.min(self.bytes.len()).min(buffer.len());
        let (now, later) = self.bytes.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.bytes = later;
        Ok(len)
    }
}

fn mark_of(value: &Value) -> u64 {
    match value {
        Value::Nil => mark(b'_', 0),
        Value::Okay => mark(b'+', 2),
        Value::SimpleString(text) => mark(b'+', text.len() as u64),
        Value::Int(integer) => mark(b':', *integer as u64),
        Value::BulkString(bytes) => mark(b'$', bytes.len() as u64),
        Value::Array(values) => {
            let own = mark(b'*', values.len() as u64);
            values.iter().fold(own, |marks, value| marks.wrapping_add(mark_of(value)))
        }
        other => unreachable!("{other:?} is no reply that it is asked to read"),
    }
}
