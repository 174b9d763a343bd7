//! The log that all processes of a run write.
//!
//! One line per record, one `write` per line, appended: lines of different processes never mix, and
//! a killed process loses nothing that it has written. Every line begins with the time at which its
//! author learned the content, in nanoseconds since boot, on the one clock that all processes of a
//! machine share:
//!
//! ```text
//! 8123456789012 3 17 wanted r2
//! 8123456999999 3 17 held 0a…ff 8124446789012
//! 8123499999999 nemesis kills node 4
//! ```
//!
//! The second field is the client, the third its request.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::{FromStr, SplitWhitespace};
use std::{fmt, mem};

use crate::support::now;

/// The name of the nemesis in the second field.
const NEMESIS: &str = "nemesis";

/// One line of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Nanoseconds since boot.
    pub(crate) at: u64,
    pub(crate) client: u32,
    /// The client's number for this lock; 0 in a record that concerns no lock.
    pub(crate) request: u64,
    pub(crate) what: What,
}

/// Something that a client did, saw, or was told. Times are nanoseconds since boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The client is about to ask for a lock.
    Wanted { resource: String },
    /// The client was told that it does not get the lock.
    Failed { why: String },
    /// The client was told that it holds the lock until then.
    Held { token: String, until: u64 },
    /// The client is about to ask for an extension.
    Extending,
    /// The client was told that it now holds the lock until then.
    Extended { until: u64 },
    /// The client was told that the lock is not extended.
    NotExtended { why: String },
    /// The client no longer believes in the lock and is about to release it. `seen` is the last
    /// time at which the client asked whether it holds the lock and was told yes; 0 if never.
    Releasing { seen: u64 },
    /// The client was told that the lock is released.
    Released,
    /// The client was told that it lost the lock.
    Lost { why: String, seen: u64 },
    /// The client leaves and waits for nothing.
    Left,
}

/// The log, opened by one process.
pub(crate) struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Creates an empty log at this path.
    pub(crate) fn create(path: PathBuf) -> Self {
        fs::write(&path, "").unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::open(path)
    }

    /// Opens a log that another process has created.
    pub(crate) fn open(path: PathBuf) -> Self {
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, file }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn write(&self, record: &Record) {
        self.line(&format!("{record}\n"));
    }

    /// Writes a line for the reader of a failure. The checker skips it.
    pub(crate) fn nemesis(&self, deed: &str) {
        self.line(&format!("{} {NEMESIS} {deed}\n", nanos()));
    }

    fn line(&self, line: &str) {
        (&self.file).write_all(line.as_bytes()).expect("there is room for the log");
    }

    /// Tells all clients to leave.
    pub(crate) fn close(&self) {
        fs::write(closing(&self.path), "").expect("there is room for an empty file");
    }

    pub(crate) fn is_closed(&self) -> bool {
        closing(&self.path).exists()
    }

    /// Removes the files of a run without a finding.
    pub(crate) fn remove(self) {
        // Files that stay cost a little disk.
        _ = fs::remove_file(closing(&self.path));
        _ = fs::remove_file(&self.path);
    }
}

fn closing(log: &Path) -> PathBuf {
    log.with_extension("closing")
}

/// Returns the current time, as the log has it.
pub(crate) fn nanos() -> u64 {
    u64::try_from(now().as_nanos()).expect("the machine has not run for centuries")
}

/// A reader of a log that is being written.
pub(crate) struct Tail {
    file: File,
    /// The beginning of an incomplete line.
    rest: String,
}

impl Tail {
    pub(crate) fn of(log: &Log) -> Self {
        let file = File::open(log.path()).expect("the log is there");
        Self { file, rest: String::new() }
    }

    /// Returns the records since the last call.
    pub(crate) fn read(&mut self) -> Vec<Record> {
        self.file.read_to_string(&mut self.rest).expect("the log can be read");
        let complete = self.rest.rfind('\n').map_or(0, |end| end + 1);
        let rest = self.rest.split_off(complete);
        let lines = mem::replace(&mut self.rest, rest);
        let records = lines.lines().map(|line| parse(line).unwrap_or_else(|| panic!("{line:?}")));
        records.flatten().collect()
    }
}

/// Returns all lines from `from` to `to`, including those of the nemesis.
pub(crate) fn excerpt(log: &Log, from: u64, to: u64) -> io::Result<Vec<String>> {
    let mut file = File::open(log.path())?;
    file.seek(SeekFrom::Start(0))?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let at = |line: &str| line.split(' ').next().and_then(|at| at.parse::<u64>().ok());
    let wanted = |line: &&str| at(line).is_some_and(|at| (from..=to).contains(&at));
    let mut lines: Vec<_> = text.lines().filter(wanted).map(str::to_owned).collect();
    lines.sort_by_key(|line| at(line));
    Ok(lines)
}

/// Reads a line: `None` if it is no line of a log, `Some(None)` for a line of the nemesis.
fn parse(line: &str) -> Option<Option<Record>> {
    let mut words = line.split_whitespace();
    let at = number(&mut words)?;
    let client = words.next()?;
    if client == NEMESIS {
        return Some(None);
    }
    let (client, request) = (client.parse().ok()?, number(&mut words)?);
    let what = match words.next()? {
        "wanted" => What::Wanted { resource: words.next()?.to_owned() },
        "failed" => What::Failed { why: the_rest(&mut words) },
        "held" => What::Held { token: words.next()?.to_owned(), until: number(&mut words)? },
        "extending" => What::Extending,
        "extended" => What::Extended { until: number(&mut words)? },
        "not-extended" => What::NotExtended { why: the_rest(&mut words) },
        "releasing" => What::Releasing { seen: number(&mut words)? },
        "released" => What::Released,
        "lost" => What::Lost { seen: number(&mut words)?, why: the_rest(&mut words) },
        "left" => What::Left,
        _ => return None,
    };
    words.next().is_none().then_some(Some(Record { at, client, request, what }))
}

fn number<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

fn the_rest(words: &mut SplitWhitespace<'_>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.at, self.client, self.request, self.what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wanted { resource } => write!(f, "wanted {resource}"),
            Self::Failed { why } => write!(f, "failed {why}"),
            Self::Held { token, until } => write!(f, "held {token} {until}"),
            Self::Extending => write!(f, "extending"),
            Self::Extended { until } => write!(f, "extended {until}"),
            Self::NotExtended { why } => write!(f, "not-extended {why}"),
            Self::Releasing { seen } => write!(f, "releasing {seen}"),
            Self::Released => write!(f, "released"),
            Self::Lost { why, seen } => write!(f, "lost {seen} {why}"),
            Self::Left => write!(f, "left"),
        }
    }
}

#[test]
fn a_record_reads_as_it_was_written() {
    let text = || "two words".to_owned();
    let whats = [
        What::Wanted { resource: "r0".to_owned() },
        What::Failed { why: text() },
        What::Held { token: "ab".to_owned(), until: u64::MAX },
        What::Extending,
        What::Extended { until: 5 },
        What::NotExtended { why: text() },
        What::Releasing { seen: 0 },
        What::Released,
        What::Lost { why: text(), seen: 4 },
        What::Left,
    ];
    for what in whats {
        let record = Record { at: 3, client: 1, request: 2, what };
        assert_eq!(parse(&record.to_string()), Some(Some(record)));
    }
    assert_eq!(parse("7 nemesis kills node 4"), Some(None));
    for line in ["", "7", "x 1 2 left", "7 1 2 left over", "7 1 2 held token", "7 1 2 gone"] {
        assert_eq!(parse(line), None, "{line:?}");
    }
}
