//! What a connection says of itself to the operators of a server, who see that in `CLIENT LIST`.
//!
//! No lock needs any of this, so no answer counts: `CLIENT SETINFO` is known from Redis 7.2 on, and
//! a user may have the right to neither command.

use bytes::BytesMut;

use crate::resp;

/// The name and the version of this library.
const LIBRARY: [[&[u8]; 2]; 2] =
    [[b"LIB-NAME", b"redbolt"], [b"LIB-VER", env!("CARGO_PKG_VERSION").as_bytes()]];

/// The number of requests of [`introduce`].
pub(crate) const REQUESTS: usize = 1 + LIBRARY.len();

/// Appends the request with this index: the name, or a fact of the library.
pub(crate) fn introduce(out: &mut BytesMut, index: usize, name: &[u8]) {
    match index.checked_sub(1).and_then(|index| LIBRARY.get(index)) {
        Some([what, value]) => resp::command(out, &[b"CLIENT", b"SETINFO", what, value]),
        None => resp::command(out, &[b"CLIENT", b"SETNAME", name]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_tells_its_name_and_the_library() {
        let mut out = BytesMut::new();
        (0..REQUESTS).for_each(|index| introduce(&mut out, index, b"billing"));
        let text = String::from_utf8_lossy(&out).replace("\r\n", " ");
        let version = env!("CARGO_PKG_VERSION");
        let expected = format!(
            "*3 $6 CLIENT $7 SETNAME $7 billing *4 $6 CLIENT $7 SETINFO $8 LIB-NAME $7 redbolt \
             *4 $6 CLIENT $7 SETINFO $7 LIB-VER ${} {version} ",
            version.len()
        );
        assert_eq!(text, expected);
    }
}
