//! Files with settings: bounded, and private where a password is in them.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use redbolt::Login;

/// The most bytes of a file with settings or nodes. Sixteen nodes with long passwords have some
/// tens of thousands.
pub(super) const LARGEST: usize = 256 * 1024;

/// The permissions of users who neither own a file nor belong to its group.
const OTHERS: u32 = 0o007;

/// A file that has been read.
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
        let (bytes, mode) = read(path, most).map_err(|error| fail(FileErrorKind::Io(error)))?;
        if bytes.len() > most {
            return Err(fail(FileErrorKind::TooLong { most }));
        }
        let text = String::from_utf8(bytes).map_err(|_| fail(FileErrorKind::NotUtf8))?;
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

/// Returns the bytes of a file, but not many more than `most`, and its permissions.
fn read(path: &Path, most: usize) -> io::Result<(Vec<u8>, Option<u32>)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let mode = metadata.is_file().then(|| metadata.mode() & 0o7777);
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes, mode))
}

impl FileError {
    /// Whether there is no such file.
    pub(super) fn is_missing(&self) -> bool {
        matches!(&self.kind, FileErrorKind::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An address in the place of a path could have a login.
        let path = self.path.to_string_lossy();
        let is_address = path.contains("://") || (path.contains('@') && path.contains(':'));
        let path = if is_address { "…" } else { &*path };
        match &self.kind {
            FileErrorKind::Io(error) => write!(f, "cannot read {path}: {error}"),
            FileErrorKind::TooLong { most } => write!(f, "{path} has more than {most} bytes"),
            FileErrorKind::NotUtf8 => write!(f, "{path} is not UTF-8"),
            FileErrorKind::Empty => write!(f, "{path} is empty"),
            FileErrorKind::Lines => write!(f, "{path} has more than one line"),
            FileErrorKind::Open { mode } => write!(
                f,
                "{path} has a password and is open to others (mode {mode:03o}): chmod o= {path}"
            ),
        }
    }
}
