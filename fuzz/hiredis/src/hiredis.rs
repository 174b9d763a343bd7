//! The reader of hiredis, behind a safe interface. No other module has `unsafe`.
//!
//! The declarations are those of hiredis 1.x, as far as they are needed.

#![expect(unsafe_code, reason = "hiredis is written in C")]

use std::ffi::{CStr, c_char, c_double, c_int, c_longlong, c_void};
use std::ptr::{self, NonNull};
use std::slice;

/// The limit of the elements of an aggregate in a new reader.
const ELEMENTS: c_longlong = (1 << 32) - 1;

/// The limit of the unused buffer in a new reader.
const UNUSED: usize = 16 * 1024;

/// The beginning of a `redisReader`.
#[repr(C)]
struct RawReader {
    err: c_int,
    errstr: [c_char; 128],
    buf: *mut c_char,
    pos: usize,
    len: usize,
    maxbuf: usize,
    maxelements: c_longlong,
}

/// A `redisReply`.
#[repr(C)]
pub(crate) struct RawReply {
    kind: c_int,
    integer: c_longlong,
    dval: c_double,
    len: usize,
    str: *const c_char,
    vtype: [u8; 4],
    elements: usize,
    element: *const *const Self,
}

unsafe extern "C" {
    fn redisReaderCreate() -> *mut RawReader;
    fn redisReaderFree(reader: *mut RawReader);
    fn redisReaderFeed(reader: *mut RawReader, buf: *const c_char, len: usize) -> c_int;
    fn redisReaderGetReply(reader: *mut RawReader, reply: *mut *mut c_void) -> c_int;
    fn freeReplyObject(reply: *mut c_void);
}

/// A reader with the default reply objects.
pub(crate) struct Reader {
    raw: NonNull<RawReader>,
    /// How many bytes the reader was fed.
    fed: usize,
}

impl Reader {
    /// Creates a reader that accepts so many elements in an aggregate.
    ///
    /// # Panics
    ///
    /// Panics if the reader is not laid out as declared here.
    pub(crate) fn new(elements: usize) -> Self {
        // SAFETY: the function has no preconditions.
        let raw = unsafe { redisReaderCreate() };
        let mut raw = NonNull::new(raw).expect("there is memory for a reader");
        // SAFETY: hiredis has just created the reader, and nobody else knows of it. A version with
        // another layout is found out before anything is written.
        let fields = unsafe { raw.as_mut() };
        let is_known = (fields.maxbuf, fields.maxelements) == (UNUSED, ELEMENTS);
        assert!(is_known, "this hiredis has another reader than hiredis 1.x");
        fields.maxelements = c_longlong::try_from(elements).expect("a limit is small");
        Self { raw, fed: 0 }
    }

    /// Hands over bytes, which the reader copies.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        // SAFETY: the reader lives, and the bytes are there until the call returns.
        unsafe { redisReaderFeed(self.raw.as_ptr(), bytes.as_ptr().cast(), bytes.len()) };
        self.fed += bytes.len();
    }

    /// Reads the next reply. Returns `None` if its end has not come.
    ///
    /// # Errors
    ///
    /// Returns what hiredis says about bytes that it refuses.
    pub(crate) fn reply(&mut self) -> Result<Option<Reply>, String> {
        let mut reply = ptr::null_mut();
        // SAFETY: the reader lives, and `reply` is a place for a pointer.
        let status = unsafe { redisReaderGetReply(self.raw.as_ptr(), &raw mut reply) };
        if status == 0 {
            return Ok(NonNull::new(reply).map(|raw| Reply(raw.cast())));
        }
        let text = &self.fields().errstr;
        // SAFETY: the text of an error is in the reader and ends with a zero.
        Err(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// Returns how many bytes have been read, which is the end of the reply just returned.
    pub(crate) fn position(&self) -> usize {
        let fields = self.fields();
        self.fed - (fields.len - fields.pos)
    }

    fn fields(&self) -> &RawReader {
        // SAFETY: the reader lives as long as `self`, and is written to by `&mut self` alone.
        unsafe { self.raw.as_ref() }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: the reader lives, and is not used again.
        unsafe { redisReaderFree(self.raw.as_ptr()) };
    }
}

/// A reply object of its own.
pub(crate) struct Reply(NonNull<RawReply>);

/// What a reply is. Texts and aggregates have their type byte.
pub(crate) enum Content<'r> {
    Text(u8, &'r [u8]),
    Verbatim([u8; 3], &'r [u8]),
    Integer(i64),
    Double(f64),
    Boolean(bool),
    Null,
    /// The elements; of maps and attributes keys and values in turn.
    Aggregate(u8, &'r [&'r RawReply]),
}

impl Reply {
    pub(crate) fn content(&self) -> Content<'_> {
        // SAFETY: hiredis has made the reply and leaves it alone from then on.
        unsafe { self.0.as_ref() }.content()
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        // SAFETY: the reply is the root of a whole one, and is not used again.
        unsafe { freeReplyObject(self.0.as_ptr().cast()) };
    }
}

impl RawReply {
    /// Returns what the reply is. Only hiredis makes replies, so the fields fit to the type.
    pub(crate) fn content(&self) -> Content<'_> {
        match self.kind {
            1 => Content::Text(b'$', self.text()),
            2 => Content::Aggregate(b'*', self.all()),
            3 => Content::Integer(self.integer),
            4 => Content::Null,
            5 => Content::Text(b'+', self.text()),
            6 => Content::Text(b'-', self.text()),
            7 => Content::Double(self.dval),
            8 => Content::Boolean(self.integer != 0),
            9 => Content::Aggregate(b'%', self.all()),
            10 => Content::Aggregate(b'~', self.all()),
            11 => Content::Aggregate(b'|', self.all()),
            12 => Content::Aggregate(b'>', self.all()),
            13 => Content::Text(b'(', self.text()),
            14 => {
                let [a, b, c, _] = self.vtype;
                Content::Verbatim([a, b, c], self.text())
            }
            other => panic!("a type that hiredis 1.x does not have: {other}"),
        }
    }

    fn text(&self) -> &[u8] {
        // SAFETY: replies of the types that ask for it have so many bytes there, and a zero.
        unsafe { slice::from_raw_parts(self.str.cast(), self.len) }
    }

    fn all(&self) -> &[&Self] {
        if self.elements == 0 {
            return &[];
        }
        // SAFETY: an aggregate that is part of a whole reply has so many elements there, each a
        // pointer to a reply that lives as long as the root.
        unsafe { slice::from_raw_parts(self.element.cast(), self.elements) }
    }
}
