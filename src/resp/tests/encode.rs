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

#[test]
fn the_types_of_resp3_are_written_byte_for_byte() {
    let replies = written(|out| {
        resp::null3(out);
        resp::null_array(out);
        resp::boolean(out, true);
        resp::boolean(out, false);
        resp::set_header(out, 1);
        resp::push_header(out, 2);
        resp::attribute_header(out, 3);
        resp::bulk_error(out, b"ERR \r\n");
        resp::verbatim(out, *b"txt", b"a");
        assert_eq!(resp::big_number(out, "+007"), Ok(()));
    });
    let expected =
        b"_\r\n*-1\r\n#t\r\n#f\r\n~1\r\n>2\r\n|3\r\n!6\r\nERR \r\n\r\n=5\r\ntxt:a\r\n(+007\r\n";
    assert_eq!(replies, expected);
}

#[test]
fn what_is_no_big_number_is_not_written() {
    for digits in ["", "-", "+", "1e5", "1.5", "0x1", " 1", "1\r\n:1"] {
        let mut out = BytesMut::new();
        assert_eq!(resp::big_number(&mut out, digits), Err(resp::Error::BigNumber));
        assert!(out.is_empty());
    }
}

#[test]
fn doubles_are_read_back_to_the_bit() {
    let doubles = [
        (0.0, ",0\r\n"),
        (-0.0, ",-0\r\n"),
        (0.1, ",0.1\r\n"),
        (1e16, ",10000000000000000\r\n"),
        (1e17, ",1e17\r\n"),
        (1.5e-7, ",1.5e-7\r\n"),
        (f64::MAX, ",1.7976931348623157e308\r\n"),
        (f64::MIN_POSITIVE / 4.0, ",5.562684646268003e-309\r\n"),
        (f64::INFINITY, ",inf\r\n"),
        (f64::NEG_INFINITY, ",-inf\r\n"),
        (-f64::NAN, ",nan\r\n"),
    ];
    for (double, expected) in doubles {
        let bytes = written(|out| resp::double(out, double));
        assert_eq!(bytes.escape_ascii().to_string(), expected.escape_default().to_string());
        let Ok(Status::Complete((Value::Double(read), _))) = parse(&bytes) else { panic!() };
        assert!(read.to_bits() == double.to_bits() || read.is_nan() && double.is_nan());
    }
}
