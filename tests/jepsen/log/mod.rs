//! The log that all processes of a run write.
//!
//! One line per record, one `write` per line, appended: lines of different processes never mix, and
//! a killed process loses nothing that it has written. Every line begins with the time at which its
//! author learned the content, in nanoseconds since boot, on the one clock that all processes of a
//! machine share:
//!
//! ```text
//! 8123456789012 3 17 wanted r2 1000 0 0 - true
//! 8123456888888 wire 4 grants 0a…ff 1000 8123456800000
//! 8123456888888 wire 4 draws 0a…ff 1795292495501414
//! 8123456999999 3 17 held 0a…ff 8124446789012 1795292495501414
//! 8123457011111 register takes 3 17 r2 1795292495501414 -
//! 8123499999999 nemesis kills node 4
//! ```
//!
//! The second field is the client, or 0 for the process in which the links are, and the third its
//! request. A line of the *wire* comes from the link to a node and not from a client: the checker
//! believes no client that the wire does not bear out. A line of the *register* says whom the
//! storage has let in. A line of the *weather* says whether the nemesis leaves a node alone, for
//! rules about what must work while nothing is wrong.

mod record;
mod text;

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::path::{Path, PathBuf};

pub(crate) use self::record::{Accepted, Deposit, Empty, Entry, Record, Vote, Weather, What};
use self::text::{NEMESIS, parse};
use crate::support::now;

/// The number of the process in which the links are, where clients have theirs.
pub(crate) const LINKS: u32 = 0;

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
        self.line(record);
    }

    pub(crate) fn vote(&self, vote: &Vote) {
        self.line(vote);
    }

    pub(crate) fn empty(&self, empty: &Empty) {
        self.line(empty);
    }

    pub(crate) fn accepted(&self, accepted: &Accepted) {
        self.line(accepted);
    }

    pub(crate) fn deposit(&self, deposit: &Deposit) {
        self.line(deposit);
    }

    pub(crate) fn weather(&self, weather: Weather) {
        self.line(&weather);
    }

    /// Writes a line for the reader of a failure. The checker skips it.
    pub(crate) fn nemesis(&self, deed: &str) {
        self.line(&format_args!("{} {NEMESIS} {deed}", nanos()));
    }

    fn line(&self, line: &dyn fmt::Display) {
        let line = format!("{line}\n");
        (&self.file).write_all(line.as_bytes()).expect("there is room for the log");
    }

    /// Tells all clients to leave.
    pub(crate) fn close(&self) {
        fs::write(closing(&self.path), "").expect("there is room for an empty file");
    }

    pub(crate) fn is_closed(&self) -> bool {
        closing(&self.path).exists()
    }

    /// Asks all clients to shut down soon and begin anew, until [`Self::let_be`].
    pub(crate) fn hurry(&self) {
        fs::write(hurrying(&self.path), "").expect("there is room for an empty file");
    }

    pub(crate) fn let_be(&self) {
        fs::remove_file(hurrying(&self.path)).expect("the file is there");
    }

    pub(crate) fn is_in_a_hurry(&self) -> bool {
        hurrying(&self.path).exists()
    }

    /// Asks all clients to want one and the same lock, until [`Self::disperse`].
    pub(crate) fn gather(&self) {
        fs::write(gathering(&self.path), "").expect("there is room for an empty file");
    }

    pub(crate) fn disperse(&self) {
        fs::remove_file(gathering(&self.path)).expect("the file is there");
    }

    pub(crate) fn is_gathering(&self) -> bool {
        gathering(&self.path).exists()
    }

    /// Removes the files of a run without a finding.
    pub(crate) fn remove(&self) {
        // Files that stay cost a little disk.
        _ = fs::remove_file(closing(&self.path));
        _ = fs::remove_file(&self.path);
    }
}

fn closing(log: &Path) -> PathBuf {
    log.with_extension("closing")
}

fn hurrying(log: &Path) -> PathBuf {
    log.with_extension("hurrying")
}

fn gathering(log: &Path) -> PathBuf {
    log.with_extension("gathering")
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

    /// Returns the entries since the last call.
    pub(crate) fn read(&mut self) -> Vec<Entry> {
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
