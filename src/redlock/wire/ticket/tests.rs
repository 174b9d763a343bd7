use core::time::Duration;

use super::*;

fn text(append: impl Fn(&mut BytesMut)) -> String {
    let mut out = BytesMut::new();
    append(&mut out);
    String::from_utf8_lossy(&out).replace("\r\n", " ")
}

#[test]
fn a_ticket_stands_behind_the_prefix_and_is_written_where_there_is_none() {
    let name = name(b"p:", b"p:r", 0x12_3456_789a_bcde);
    assert_eq!(
        text(|out| draw(out, &name, Millis::of(Duration::from_secs(7)))),
        "*6 $3 SET $33 p:redbolt:next:00123456789abcde:r $20 ticket: ticket: tick $2 NX $2 PX \
         $4 7000 "
    );
}

#[test]
fn a_ticket_is_given_back_by_its_value() {
    let name = name(b"", b"r", 1);
    assert_eq!(
        text(|out| give_back(out, Some(Native::DelIfEq), &name)),
        "*3 $7 DELIFEQ $31 redbolt:next:0000000000000001:r $20 ticket: ticket: tick "
    );
    let by_script = text(|out| give_back(out, None, &name));
    assert!(by_script.starts_with("*5 $7 EVALSHA $40 "), "{by_script}");
}
