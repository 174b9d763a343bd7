//! The bytes of a turn, and the bytes that must come back.

use redbolt::redlock::RELEASE_MANY;

/// The keys that one call releases at most, as in the engine.
const GROUP: usize = 64;

/// As long as the tokens of the engine. The same for all locks, which costs the servers a little
/// less than different ones.
const TOKEN: &[u8; 20] = b"twenty bytes, canned";

/// Bytes for one node.
#[derive(Default)]
pub(crate) struct Prepared {
    pub(crate) request: Vec<u8>,
    pub(crate) reply: Vec<u8>,
}

/// Returns what acquires a lock on each of these keys.
pub(crate) fn acquire(keys: &[Vec<u8>], ttl_ms: u128) -> Prepared {
    let ttl = ttl_ms.to_string();
    let mut prepared = Prepared::default();
    for key in keys {
        let words: [&[u8]; 6] = [b"SET", key, TOKEN, b"NX", b"PX", ttl.as_bytes()];
        command(&mut prepared.request, &words);
        prepared.reply.extend(b"+OK\r\n");
    }
    prepared
}

/// Returns what releases the locks on these keys.
pub(crate) fn release(keys: &[Vec<u8>]) -> Prepared {
    let mut prepared = Prepared::default();
    for group in keys.chunks(GROUP) {
        let count = group.len().to_string();
        let mut words: Vec<&[u8]> = vec![b"EVALSHA", RELEASE_MANY.sha.as_bytes(), count.as_bytes()];
        words.extend(group.iter().map(|key| &key[..]));
        words.extend(group.iter().map(|_| &TOKEN[..]));
        command(&mut prepared.request, &words);
        prepared.reply.extend(format!(":{count}\r\n").bytes());
    }
    prepared
}

fn command(to: &mut Vec<u8>, words: &[&[u8]]) {
    to.extend(format!("*{}\r\n", words.len()).bytes());
    for word in words {
        to.extend(format!("${}\r\n", word.len()).bytes());
        to.extend(*word);
        to.extend(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_a_set_and_releases_go_by_sixty_four() {
        let keys: Vec<_> = (0..70_u8).map(|number| vec![b'k', number]).collect();
        let one = acquire(&keys[..1], 30_000);
        let expected = b"*6\r\n$3\r\nSET\r\n$2\r\nk\0\r\n$20\r\ntwenty bytes, canned\r\n\
                         $2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n";
        assert_eq!((&one.request[..], &one.reply[..]), (&expected[..], &b"+OK\r\n"[..]));
        let all = release(&keys);
        let calls = String::from_utf8_lossy(&all.request).matches("EVALSHA").count();
        assert_eq!(calls, 2);
        assert_eq!(all.reply, b":64\r\n:6\r\n");
    }
}
