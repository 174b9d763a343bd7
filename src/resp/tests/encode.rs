//! The output of the encoder, byte for byte. The parser reads all of this output back.

use bytes::BytesMut;

use crate::resp::{self, Status, Value, parse};

fn written(write: impl FnOnce(&mut BytesMut)) -> Vec<u8> {
    let mut out = BytesMut::new();
    write(&mut out);
    out.to_vec()
}

#[test]
fn a_command_is_an_array_of_bulk_strings() {
    let command = written(|out| resp::command(out, &[b"SET", b"a\r\nb", b""]));
    assert_eq!(command, b"*3\r\n$3\r\nSET\r\n$4\r\na\r\nb\r\n$0\r\n\r\n");
    assert_eq!(written(|out| resp::command(out, &[])), b"*0\r\n");
}

#[test]
fn replies_are_appended_one_after_the_other() {
    let replies = written(|out| {
        resp::simple(out, "OK");
        resp::error(out, b"ERR no");
        resp::null(out);
        resp::integer(out, -7);
        resp::bulk(out, b"x");
        resp::map_header(out, 1);
        resp::array_header(out, 0);
        resp::bulk_integer(out, -10);
    });
    let expected = b"+OK\r\n-ERR no\r\n$-1\r\n:-7\r\n$1\r\nx\r\n%1\r\n*0\r\n$3\r\n-10\r\n";
    assert_eq!(replies, expected);
}

#[test]
fn a_line_cannot_be_broken_from_inside() {
    let lines = written(|out| {
        resp::simple(out, "a\r\n+OK\r\n");
        resp::error(out, "\nERR\r");
    });
    assert_eq!(lines, b"+a  +OK  \r\n- ERR \r\n");
}

#[test]
fn integers_of_every_length_are_read_back() {
    let powers = (0..19).map(|exponent| 10_i64.pow(exponent));
    let around = powers.flat_map(|power| [power - 1, power, power + 1]);
    let positive: Vec<i64> = around.chain([i64::MAX - 1, i64::MAX]).collect();
    let negative = positive.iter().map(|integer| -integer - 1);
    for integer in negative.chain(positive.iter().copied()) {
        let bytes = written(|out| resp::integer(out, integer));
        assert_eq!(bytes, format!(":{integer}\r\n").as_bytes());
        assert_eq!(parse(&bytes), Ok(Status::Complete((Value::Integer(integer), bytes.len()))));

        let text = integer.to_string();
        let bytes = written(|out| resp::bulk_integer(out, integer));
        assert_eq!(bytes, format!("${}\r\n{text}\r\n", text.len()).as_bytes());
    }
}

#[test]
fn the_largest_lengths_fit() {
    let header = written(|out| resp::array_header(out, usize::MAX));
    assert_eq!(header, format!("*{}\r\n", usize::MAX).as_bytes());
}
