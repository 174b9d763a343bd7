//! The commands of an inquiry, and what their replies mean.

use core::time::Duration;

use super::*;
use crate::redlock::millis::Millis;

const LOOK: Look<'_> = Look {
    prefix: b"",
    database: 0,
    wall: 1,
    max_ttl: Millis::ZERO,
    nodes: 3,
    gap: Duration::from_secs(60),
};

/// Returns the number of commands of an inquiry, and their bytes.
fn text(inquiry: &Inquiry, login: &Login) -> (usize, String) {
    let mut out = BytesMut::new();
    let len = inquiry.encode(login, &LOOK, &mut out);
    (len, String::from_utf8_lossy(&out).into_owned())
}

fn handshake(login: &Login, guard: RestartGuard) -> (usize, String) {
    let (len, text) = text(&Inquiry::handshake(login, guard), login);
    assert_eq!(text.matches("*2\r\n$4\r\nINFO").count(), SECTIONS.len());
    (len, text)
}

#[test]
fn login_comes_first_and_only_where_it_is_needed() {
    let commands = |login: &Login| handshake(login, RestartGuard::Off);
    assert_eq!(commands(&Login::default()).0, 15);
    let mut login = Login { password: Some("p".into()), database: 3, ..Login::default() };
    let (len, text) = commands(&login);
    assert_eq!(len, 17);
    assert!(text.starts_with("*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"));
    login.username = Some("u".into());
    assert!(commands(&login).1.starts_with("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n"));
    login.password = None;
    assert!(commands(&login).1.starts_with("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$0\r\n\r\n"));
}

#[test]
fn the_witness_comes_last_and_is_left_alone_where_no_guard_is_wanted() {
    for (guard, len, has_witness) in [
        (RestartGuard::Off, 15, false),
        (RestartGuard::On, 16, true),
        (RestartGuard::Strict, 16, true),
        (RestartGuard::Durable, 18, true),
    ] {
        let (found, text) = handshake(&Login::default(), guard);
        assert_eq!(found, len, "{guard:?}");
        let last = text.rsplit("\r\n*").next().unwrap_or_default();
        assert_eq!(last.contains("redbolt:witness"), has_witness, "{guard:?}");
    }
}

#[test]
fn a_wrong_type_or_a_reply_too_many_fails() {
    let mut handshake = Inquiry::handshake(&Login::default(), RestartGuard::On);
    let progress = handshake.handle_reply(&Value::Simple(b"OK"));
    assert_eq!(progress, Progress::Failed(NodeError::UnexpectedReply));
    handshake.answered = handshake.steps.len() - 1;
    let progress = handshake.handle_reply(&Value::Integer(1));
    assert_eq!(progress, Progress::Failed(NodeError::UnexpectedReply));
    handshake.answered = handshake.steps.len();
    let progress = handshake.handle_reply(&Value::Simple(b"OK"));
    assert_eq!(progress, Progress::Failed(NodeError::UnsolicitedReply));
}

#[test]
fn an_error_to_a_look_is_no_reason_to_end_the_session_unless_the_node_is_no_master() {
    let unanswered = |is_denied| Progress::Unanswered { is_denied };
    let failed = |error| Progress::Failed(NodeError::Server(error));
    let rows: [(&[u8], Progress); 8] = [
        (b"NOSCRIPT No matching script", Progress::Again),
        (b"NOPERM this user has no permissions to access one of the keys", unanswered(true)),
        (b"ERR The user executing the script can't run this command", unanswered(true)),
        (b"WRONGTYPE Operation against a key", unanswered(true)),
        (b"OOM command not allowed", unanswered(false)),
        (b"BUSY Redis is busy", unanswered(false)),
        (b"READONLY You can't write", failed(ServerError::NotServing)),
        (b"MOVED 1 host:1", failed(ServerError::Cluster)),
    ];
    for (text, expected) in rows {
        let mut look = Inquiry::look(Means::Witness, RestartGuard::On);
        let progress = look.handle_reply(&Value::Error(text));
        assert_eq!(progress, expected, "{}", text.escape_ascii());
    }
}

#[test]
fn a_script_that_was_forgotten_is_sent_once_more_and_no_more() {
    let mut look = Inquiry::look(Means::Witness, RestartGuard::On);
    let login = Login::default();
    assert!(text(&look, &login).1.starts_with("*10\r\n$7\r\nEVALSHA"));
    let forgotten = Value::Error(b"NOSCRIPT No matching script");
    assert_eq!(look.handle_reply(&forgotten), Progress::Again);
    let (len, again) = text(&look, &login);
    assert!(len == 1 && again.starts_with("*10\r\n$4\r\nEVAL\r\n"));
    assert_eq!(look.handle_reply(&forgotten), Progress::Unanswered { is_denied: true });
}
