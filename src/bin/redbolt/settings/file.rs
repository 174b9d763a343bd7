//! Files with settings: bounded, and private where a password is in them.

use std::borrow::Cow;
use std::fmt;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use redbolt::Login;
use redbolt::redlock::StoredValue;

use super::input;

/// The most bytes of a file with settings or nodes. Sixteen nodes with long passwords have some
/// tens of thousands.
pub(super) const LARGEST: usize = 256 * 1024;

/// The permissions of users who neither own a file nor belong to its group.
const OTHERS: u32 = 0o007;

/// The most bytes that end a line.
const LINE_END: usize = "\r\n".len();

/// What messages call standard input.
const STDIN: &str = "standard input";

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
pub(crate) struct FileError {
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
    /// A secret of more than one line.
    Lines,
    /// A file with a secret that others may open.
    Open {
        mode: u32,
        secret: &'static str,
    },
}

impl Text {
    /// Reads a file of at most `most` bytes.
    pub(super) fn read(path: &Path, most: usize) -> Result<Self, FileError> {
        Self::of(path, most, |most| input::read(path, most))
    }

    /// Reads at most `most` bytes of what messages call `path`.
    fn of(
        path: &Path,
        most: usize,
        read: impl FnOnce(usize) -> io::Result<(Vec<u8>, Metadata)>,
    ) -> Result<Self, FileError> {
        let fail = |kind| FileError { path: path.to_owned(), kind };
        let read = read(most + BYTE_ORDER_MARK.len());
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
    pub(super) fn check_private(&self, secret: &'static str) -> Result<(), FileError> {
        match self.mode {
            Some(mode) if mode & OTHERS != 0 => {
                Err(self.fail(FileErrorKind::Open { mode, secret }))
            }
            _ => Ok(()),
        }
    }

    /// Returns the secret that is alone in this file. One line end behind the secret does not
    /// count.
    fn secret(&self, secret: &'static str, most: usize) -> Result<String, FileError> {
        self.check_private(secret)?;
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        match text.strip_suffix('\r').unwrap_or(text) {
            "" => Err(self.fail(FileErrorKind::Empty)),
            lines if lines.contains(['\n', '\r']) => Err(self.fail(FileErrorKind::Lines)),
            long if long.len() > most => Err(self.fail(FileErrorKind::TooLong { most })),
            line => Ok(line.to_owned()),
        }
    }

    fn fail(&self, kind: FileErrorKind) -> FileError {
        FileError { path: self.path.clone(), kind }
    }
}

/// Reads the password that is alone in a file.
pub(super) fn password(path: &Path) -> Result<String, FileError> {
    let most = Login::MAX_LEN;
    let file = Text::read(path, most + LINE_END).map_err(|error| error.with_most(most))?;
    file.secret("a password", most)
}

/// Reads the hex digits of a token that are alone in a file, or on standard input where no file is
/// given.
pub(crate) fn token(path: Option<&Path>) -> Result<String, FileError> {
    let most = 2 * StoredValue::MAX_LEN;
    let file = match path {
        Some(path) => Text::read(path, most + LINE_END),
        None => Text::of(Path::new(STDIN), most + LINE_END, input::read_stdin),
    };
    file.map_err(|error| error.with_most(most))?.secret("a token", most)
}

impl FileError {
    /// What is told of a secret that is too long does not count its line end.
    fn with_most(self, most: usize) -> Self {
        let kind = match self.kind {
            FileErrorKind::TooLong { .. } => FileErrorKind::TooLong { most },
            kind => kind,
        };
        Self { kind, ..self }
    }

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
            FileErrorKind::Open { mode, secret } => write!(
                f,
                "{path} has {secret} and is open to others (mode {mode:03o}): chmod o= {path}"
            ),
        }
    }
}
