//! Files with settings: bounded, and private where a password is in them.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use redbolt::Login;

use super::input;

/// The most bytes of a file with settings or nodes. Sixteen nodes with long passwords have some
/// tens of thousands.
pub(super) const LARGEST: usize = 256 * 1024;

/// The permissions of users who neither own a file nor belong to its group.
const OTHERS: u32 = 0o007;

/// What some editors write ahead of a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a text in UTF-16 begins with.
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// A file that has been read, without a byte order mark.
pub(super) struct Text {
    pub(super) text: String,
    path: PathBuf,
    /// The permissions; `None` for what is no regular file, such as a pipe, whose other end decides
    /// who reads.
    mode: Option<u32>,
}

/// Why a file cannot be used.
pub(super) struct FileError {
    path: PathBuf,
    kind: FileErrorKind,
}

enum FileErrorKind {
    Io(io::Error),
    TooLong {
        most: usize,
    },
    NotUtf8,
    Utf16,
    Empty,
    /// A password of more than one line.
    Lines,
    /// A file with a password that others may open.
    Open {
        mode: u32,
    },
}

impl Text {
    /// Reads a file of at most `most` bytes.
    pub(super) fn read(path: &Path, most: usize) -> Result<Self, FileError> {
        let fail = |kind| FileError { path: path.to_owned(), kind };
        let read = input::read(path, most + BYTE_ORDER_MARK.len());
        let (bytes, metadata) = read.map_err(|error| fail(FileErrorKind::Io(error)))?;
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
        if bytes.len() > most {
            return Err(fail(FileErrorKind::TooLong { most }));
        }
        let is_utf_16 = UTF_16.iter().any(|mark| bytes.starts_with(mark));
        let not_utf8 = if is_utf_16 { FileErrorKind::Utf16 } else { FileErrorKind::NotUtf8 };
        let text = std::str::from_utf8(bytes).map_err(|_| fail(not_utf8))?.to_owned();
        let mode = metadata.is_file().then(|| metadata.mode() & 0o7777);
        Ok(Self { text, path: path.to_owned(), mode })
    }

    /// Checks that others may not open this file, as `ssh` does for its keys.
    pub(super) fn check_private(&self) -> Result<(), FileError> {
        match self.mode {
            Some(mode) if mode & OTHERS != 0 => Err(self.fail(FileErrorKind::Open { mode })),
            _ => Ok(()),
        }
    }

    fn fail(&self, kind: FileErrorKind) -> FileError {
        FileError { path: self.path.clone(), kind }
    }
}

/// Reads the password that is alone in a file. One line end behind the password does not count.
pub(super) fn password(path: &Path) -> Result<String, FileError> {
    let most = Login::MAX_LEN;
    let line_end = "\r\n".len();
    let too_long = |error: FileError| match error.kind {
        FileErrorKind::TooLong { .. } => {
            FileError { kind: FileErrorKind::TooLong { most }, ..error }
        }
        _ => error,
    };
    let file = Text::read(path, most + line_end).map_err(too_long)?;
    file.check_private()?;
    let text = file.text.strip_suffix('\n').unwrap_or(&file.text);
    let password = text.strip_suffix('\r').unwrap_or(text);
    match password {
        "" => Err(file.fail(FileErrorKind::Empty)),
        lines if lines.contains(['\n', '\r']) => Err(file.fail(FileErrorKind::Lines)),
        long if long.len() > most => Err(file.fail(FileErrorKind::TooLong { most })),
        password => Ok(password.to_owned()),
    }
}

impl FileError {
    /// Whether there is no such file.
    pub(super) fn is_missing(&self) -> bool {
        matches!(&self.kind, FileErrorKind::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

/// Returns a path as a message may show it: an address in its place could have a login.
pub(super) fn shown(path: &Path) -> Cow<'_, str> {
    let path = path.to_string_lossy();
    let is_address = path.contains("://") || (path.contains('@') && path.contains(':'));
    if is_address { "…".into() } else { path }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path);
        match &self.kind {
            FileErrorKind::Io(error) => write!(f, "cannot read {path}: {error}"),
            FileErrorKind::TooLong { most } => write!(f, "{path} has more than {most} bytes"),
            FileErrorKind::NotUtf8 => write!(f, "{path} is not UTF-8"),
            FileErrorKind::Utf16 => write!(f, "{path} is UTF-16: write it in UTF-8"),
            FileErrorKind::Empty => write!(f, "{path} is empty"),
            FileErrorKind::Lines => write!(f, "{path} has more than one line"),
            FileErrorKind::Open { mode } => write!(
                f,
                "{path} has a password and is open to others (mode {mode:03o}): chmod o= {path}"
            ),
        }
    }
}
