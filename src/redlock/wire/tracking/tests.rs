use super::*;
use crate::resp::Status;

fn text(encode: impl FnOnce(&mut BytesMut)) -> String {
    let mut out = BytesMut::new();
    encode(&mut out);
    String::from_utf8_lossy(&out).replace("\r\n", " ")
}

#[test]
fn the_witness_is_tracked_by_its_whole_name() {
    assert_eq!(text(hello), "*2 $5 HELLO $1 3 ");
    assert_eq!(text(track), "*4 $6 CLIENT $8 TRACKING $2 ON $5 OPTIN ");
    assert_eq!(text(opt_in), "*3 $6 CLIENT $7 CACHING $3 YES ");
    assert_eq!(text(|out| read_witness(out, b"p:")), "*2 $3 GET $17 p:redbolt:witness ");
}

#[test]
fn a_push_is_about_keys_or_about_all_keys_or_about_nothing_of_ours() {
    const ALL: Option<&[Touched<'_>]> = Some(&[Touched::AllKeys]);
    let rows: [(&[u8], Option<&[Touched<'_>]>); 15] = [
        (b">2\r\n$10\r\ninvalidate\r\n_\r\n", ALL),
        (b">2\r\n+invalidate\r\n_\r\n", ALL),
        (b">2\r\n$10\r\ninvalidate\r\n*-1\r\n", ALL),
        (b">1\r\n$10\r\ninvalidate\r\n", ALL),
        (b">2\r\n$10\r\ninvalidate\r\n:1\r\n", ALL),
        (b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\n\0\r\n", ALL),
        (
            b">2\r\n$10\r\ninvalidate\r\n*1\r\n$17\r\np:redbolt:witness\r\n",
            Some(&[Touched::Witness]),
        ),
        (
            b">2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$17\r\np:redbolt:witness\r\n",
            Some(&[Touched::Lock(b"a"), Touched::Witness]),
        ),
        (b">2\r\n$10\r\ninvalidate\r\n*1\r\n:1\r\n", ALL),
        (
            b">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nredbolt:witness\r\n",
            Some(&[Touched::Lock(b"redbolt:witness")]),
        ),
        (
            b">2\r\n$10\r\ninvalidate\r\n*1\r\n$18\r\np:redbolt:witness2\r\n",
            Some(&[Touched::Lock(b"p:redbolt:witness2")]),
        ),
        (b">2\r\n$10\r\ninvalidate\r\n*1\r\n$0\r\n\r\n", Some(&[Touched::Lock(b"")])),
        (b">2\r\n$10\r\ninvalidate\r\n*0\r\n", Some(&[])),
        (b">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n_\r\n", None),
        (b">0\r\n", None),
    ];
    for (bytes, expected) in rows {
        let Ok(Status::Complete((Value::Push(elements), _))) = resp::parse(bytes) else {
            panic!("no push: {}", bytes.escape_ascii())
        };
        let found = match Push::read(elements) {
            Push::AllKeys => Some(vec![Touched::AllKeys]),
            Push::Keys(keys) => Some(keys.map(|key| Touched::read(&key, b"p:")).collect()),
            Push::Other => None,
        };
        assert_eq!(found.as_deref(), expected, "{}", bytes.escape_ascii());
    }
}
