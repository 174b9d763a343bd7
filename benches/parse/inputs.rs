//! One reply of every kind, from 1 byte to 4 KB, nested ones, and one made to hurt our parser.

use redbolt::resp::MAX_DEPTH;

use crate::reading::mark_double;
use crate::replies::{Replies, mark};

/// Lengths of texts, in bytes.
const TEXTS: [usize; 4] = [1, 16, 256, 4096];

/// Numbers of elements of aggregates. The last is about 4 KB of elements.
const ELEMENTS: [usize; 3] = [1, 64, 700];

pub(crate) struct Input {
    pub(crate) kind: &'static str,
    pub(crate) replies: Replies,
    /// Whether the reply exists in RESP3 only.
    pub(crate) resp3: bool,
}

impl Input {
    /// Returns whether `redis-rs` takes part: its values of errors and of RESP3 keep too little for
    /// a mark.
    pub(crate) fn is_for_redis_rs(&self) -> bool {
        !self.resp3 && self.kind != "error"
    }
}

pub(crate) fn all() -> Vec<Input> {
    let mut inputs = Vec::new();
    for len in TEXTS {
        let text = "x".repeat(len);
        let resp2 = [("simple", b'+'), ("error", b'-')];
        inputs.extend(resp2.map(|(kind, byte)| line(kind, byte, &text, mark(byte, len as u64))));
        let digits = line("big number", b'(', &"7".repeat(len), mark(b'(', len as u64));
        inputs.extend([payload("bulk", b'$', "", &text), digits.resp3()]);
        inputs.push(payload("bulk error", b'!', "", &text).resp3());
        inputs.push(payload("verbatim", b'=', "txt:", &text).resp3());
    }
    inputs.push(line("integer", b':', "1", mark(b':', 1)));
    let least = i64::MIN;
    inputs.push(line("integer", b':', &least.to_string(), mark(b':', least as u64)));
    inputs.push(line("null bulk", b'$', "-1", mark(b'_', 0)));
    inputs.push(line("null array", b'*', "-1", mark(b'_', 0)));
    inputs.push(line("null", b'_', "", mark(b'_', 0)).resp3());
    inputs.push(line("boolean", b'#', "t", mark(b'#', 1)).resp3());
    inputs.push(line("double", b',', "1.5", mark_double(1.5)).resp3());
    for count in ELEMENTS {
        inputs.push(aggregate("array", b'*', count, count));
        inputs.push(aggregate("set", b'~', count, count).resp3());
        inputs.push(aggregate("push", b'>', count, count).resp3());
        inputs.push(aggregate("map", b'%', count, 2 * count).resp3());
        let mut attribute = aggregate("attribute", b'|', count, 2 * count);
        // An attribute belongs to the reply that follows.
        attribute.replies.push(b"+OK\r\n", mark(b'+', 2));
        inputs.push(attribute.resp3());
    }
    inputs.extend([bulks(500), nested_last(), nested_first(), table(50)]);
    inputs.push(made_to_hurt());
    inputs
}

/// Returns a flat array of so many bulk strings, as the reply to an `MGET` is.
pub(crate) fn bulks(count: usize) -> Input {
    let row: Vec<_> = (0..count).map(|index| format!("value:{index:06}")).collect();
    let mut input = Input::new("bulks", String::new(), 0);
    input.replies.push(&array_of_bulks(&row), mark_of_bulks(&row));
    input
}

/// Returns 100 integers, nested 16 deep. The inner array is the only element of the outer one.
pub(crate) fn nested_last() -> Input {
    nested("nested last", "*1\r\n", "")
}

/// Returns 100 integers, nested 16 deep. An integer follows each inner array.
pub(crate) fn nested_first() -> Input {
    nested("nested first", "*2\r\n", ":1\r\n")
}

fn nested(kind: &'static str, before: &str, after: &str) -> Input {
    let levels = MAX_DEPTH - 1;
    let mut input = aggregate(kind, b'*', 100, 100);
    let elements = 1 + u64::from(!after.is_empty());
    let own = mark(b'*', elements).wrapping_add(if elements > 1 { mark(b':', 1) } else { 0 });
    input.replies.bytes.splice(..0, before.repeat(levels).into_bytes());
    input.replies.bytes.extend_from_slice(after.repeat(levels).as_bytes());
    input.replies.mark = input.replies.mark.wrapping_add(own.wrapping_mul(levels as u64));
    input
}

/// Returns an array of so many arrays of ten bulk strings, as a stream or a table has.
pub(crate) fn table(rows: usize) -> Input {
    let mut bytes = format!("*{rows}\r\n").into_bytes();
    let mut marks = mark(b'*', rows as u64);
    for row in 0..rows {
        let row: Vec<_> = (0..10).map(|column| format!("v{row}:{column}")).collect();
        bytes.extend(array_of_bulks(&row));
        marks = marks.wrapping_add(mark_of_bulks(&row));
    }
    let mut input = Input::new("table", String::new(), 0);
    input.replies.push(&bytes, marks);
    input
}

fn array_of_bulks(texts: &[String]) -> Vec<u8> {
    let bulks = texts.iter().map(|text| format!("${}\r\n{text}\r\n", text.len()));
    format!("*{}\r\n{}", texts.len(), bulks.collect::<String>()).into_bytes()
}

fn mark_of_bulks(texts: &[String]) -> u64 {
    let own = mark(b'*', texts.len() as u64);
    texts.iter().fold(own, |marks, text| marks.wrapping_add(mark(b'$', text.len() as u64)))
}

/// Nesting to the allowed depth, with many elements at the bottom. Our parser allocates nothing. A
/// reader that meets an element that is an aggregate pays once more to find the end of that
/// element, here at every level. A decoder that builds a tree has the levels in the tree.
fn made_to_hurt() -> Input {
    let depth = MAX_DEPTH as u64 - 1;
    let mut input = aggregate("made to hurt", b'*', 700, 700);
    let levels = b"*1\r\n".repeat(depth as usize);
    input.replies.bytes.splice(..0, levels);
    input.replies.mark = input.replies.mark.wrapping_add(mark(b'*', 1).wrapping_mul(depth));
    input
}

fn line(kind: &'static str, byte: u8, text: &str, mark: u64) -> Input {
    Input::new(kind, format!("{}{text}\r\n", char::from(byte)), mark)
}

fn payload(kind: &'static str, byte: u8, head: &str, text: &str) -> Input {
    let len = head.len() + text.len();
    let bytes = format!("{}{len}\r\n{head}{text}\r\n", char::from(byte));
    Input::new(kind, bytes, mark(byte, text.len() as u64))
}

/// Returns elements that all differ, as those of sets and the keys of maps do.
fn aggregate(kind: &'static str, byte: u8, header: usize, count: usize) -> Input {
    let mut bytes = format!("{}{header}\r\n", char::from(byte));
    let mut sum = mark(byte, count as u64);
    for element in 0..count {
        bytes += &format!(":{element}\r\n");
        sum = sum.wrapping_add(mark(b':', element as u64));
    }
    Input::new(kind, bytes, sum)
}

impl Input {
    fn new(kind: &'static str, bytes: String, mark: u64) -> Self {
        let mut replies = Replies::new();
        if !bytes.is_empty() {
            replies.push(bytes.as_bytes(), mark);
        }
        Self { kind, replies, resp3: false }
    }

    fn resp3(mut self) -> Self {
        self.resp3 = true;
        self
    }
}
