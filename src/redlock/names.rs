//! What a lock is about: one resource, or several that are taken and given back together.

use super::lock::Resource;

/// The most resources that one lock can have: as many keys as one script call takes.
pub const MAX_SET: usize = 64;

/// The most bytes that the names of one lock can have together, with their prefixes.
pub const MAX_SET_BYTES: usize = 16 * 1024;

/// The keys of one lock. One is stored as it stands. Several follow one another, each behind its
/// length, in their order by bytes and without repetitions, so that equal sets look the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Names<'a> {
    pub(super) count: u8,
    pub(super) bytes: &'a [u8],
}

impl<'a> Names<'a> {
    pub(super) fn keys(self) -> Keys<'a> {
        Keys { left: self.count, is_set: self.count > 1, rest: self.bytes }
    }
}

/// Appends one key of several.
pub(super) fn append(out: &mut Resource, prefix: &[u8], resource: &[u8]) {
    // MAX_RESOURCE is far below 64 Ki.
    let len = (prefix.len() + resource.len()) as u16;
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(prefix);
    out.extend_from_slice(resource);
}

#[derive(Clone)]
pub(super) struct Keys<'a> {
    left: u8,
    is_set: bool,
    rest: &'a [u8],
}

impl<'a> Iterator for Keys<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        if !self.is_set {
            return Some(self.rest);
        }
        let (len, rest) = self.rest.split_first_chunk()?;
        let (key, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
        self.rest = rest;
        Some(key)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl ExactSizeIterator for Keys<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_appended_is_read_in_order() {
        let mut bytes = Resource::new();
        for key in [&b"a"[..], b"\0\0", b"a longer name than the others"] {
            append(&mut bytes, b"p:", key);
        }
        let keys: Vec<_> = Names { count: 3, bytes: &bytes }.keys().collect();
        assert_eq!(keys, [&b"p:a"[..], b"p:\0\0", b"p:a longer name than the others"]);
    }

    #[test]
    fn one_key_is_what_it_is() {
        let names = Names { count: 1, bytes: b"\0\x01a" };
        assert_eq!(names.keys().collect::<Vec<_>>(), [b"\0\x01a"]);
    }
}
