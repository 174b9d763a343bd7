use core::time::Duration;

use super::*;

fn text(append: impl Fn(&mut BytesMut)) -> String {
    let mut out = BytesMut::new();
    append(&mut out);
    String::from_utf8_lossy(&out).replace("\r\n", " ")
}

#[test]
fn a_mark_stands_behind_the_prefix_and_is_taken_by_its_value() {
    let ttl = Millis::of(Duration::from_secs(1));
    assert_eq!(
        text(|out| leave(out, b"p:", b"p:orders", ttl)),
        "*5 $3 SET $23 p:redbolt:wanted:orders $20 wanted: wanted: want $2 PX $4 1000 "
    );
    assert_eq!(
        text(|out| take(out, Some(Native::DelIfEq), b"", b"orders")),
        "*3 $7 DELIFEQ $21 redbolt:wanted:orders $20 wanted: wanted: want "
    );
    let by_script = text(|out| take(out, None, b"p:", b"p:orders"));
    assert!(by_script.starts_with("*5 $7 EVALSHA $40 "), "{by_script}");
    assert!(by_script.ends_with(" $1 1 $23 p:redbolt:wanted:orders $20 wanted: wanted: want "));
}
