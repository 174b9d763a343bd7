//! The keys of a lock: one resource, or several that are taken and released together.

use smallvec::SmallVec;

/// A resource with its prefix, which is the key. A key of up to 48 bytes lies in the slot of its
/// lock.
pub(crate) type Resource = SmallVec<[u8; 48]>;

/// The keys of one lock.
///
/// A single key is stored unchanged. Several keys follow one another, each behind its length, in
/// the order of their bytes and without repetitions: equal sets have equal bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) count: u8,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Names<'a> {
    /// No keys. No lock ever has this value.
    pub(crate) const NONE: Self = Names { count: 0, bytes: &[] };

    pub(crate) fn keys(self) -> Keys<'a> {
        Keys { left: self.count, is_set: self.count > 1, rest: self.bytes }
    }
}

/// Appends the key of a resource to `out`.
#[inline]
pub(crate) fn join(out: &mut Resource, prefix: &[u8], resource: &[u8]) {
    out.extend_from_slice(prefix);
    out.extend_from_slice(resource);
}

/// Appends one of several keys to `out`.
pub(crate) fn append(out: &mut Resource, prefix: &[u8], resource: &[u8]) {
    // The length fits, because MAX_RESOURCE is far below 64 Ki.
    let len = (prefix.len() + resource.len()) as u16;
    out.extend_from_slice(&len.to_be_bytes());
    join(out, prefix, resource);
}

/// An iterator over the keys of one lock.
#[derive(Clone)]
pub(crate) struct Keys<'a> {
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
