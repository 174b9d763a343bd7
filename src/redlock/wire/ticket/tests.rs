use core::time::Duration;

use super::*;

#[test]
fn a_ticket_stands_behind_the_prefix_and_is_written_where_there_is_none() {
    let mut out = BytesMut::new();
    draw(&mut out, b"p:", b"p:r", 0x12_3456_789a_bcde, Millis::of(Duration::from_secs(7)));
    assert_eq!(
        String::from_utf8_lossy(&out).replace("\r\n", " "),
        "*6 $3 SET $33 p:redbolt:next:00123456789abcde:r $20 ticket: ticket: tick $2 NX $2 PX \
         $4 7000 "
    );
}
