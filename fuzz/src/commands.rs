//! Commands, as the servers of the targets read them.

use redbolt::redlock::LOOK;
use redbolt::resp::{self, Status, Value};

/// Reads the first command and its length; `None` if the command is incomplete.
pub(crate) fn command(bytes: &[u8]) -> Option<(Vec<&[u8]>, usize)> {
    let status = resp::parse(bytes).expect("what is sent is RESP");
    let Status::Complete((value, used)) = status else { return None };
    let Value::Array(words) = value else { panic!("what is sent is no command") };
    let word = |word| match word {
        Value::Bulk(word) => word,
        other => panic!("{other:?} is no word"),
    };
    Some((words.map(word).collect(), used))
}

/// Returns the index of the first look among whole commands.
pub(crate) fn look(commands: &[u8]) -> Option<usize> {
    let (mut done, mut count) = (0, 0);
    while let Some((words, used)) = command(&commands[done..]) {
        let names = [LOOK.sha.as_bytes(), LOOK.text.as_bytes()];
        if words.get(1).is_some_and(|called| names.contains(called)) {
            return Some(count);
        }
        (done, count) = (done + used, count + 1);
    }
    None
}

/// What a server that speaks RESP3 pushes when all its keys are gone.
pub(crate) const FLUSHED: &[u8] = b">2\r\n$10\r\ninvalidate\r\n_\r\n";

/// Returns the answer to the commands of RESP3, which the embedded masters do not know; `None` for
/// all other commands.
pub(crate) fn resp3(words: &[&[u8]]) -> Option<&'static [u8]> {
    match words {
        [b"HELLO", ..] => Some(b"%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n"),
        [b"CLIENT", b"TRACKING" | b"CACHING", ..] => Some(b"+OK\r\n"),
        _ => None,
    }
}
