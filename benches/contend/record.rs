//! What a contender notes of one lock, and how that travels from process to process.
//!
//! All times are of one clock of the machine, in nanoseconds, so that those of several processes
//! can be compared.

use std::fmt;
use std::str::FromStr;

/// One lock that somebody wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) process: u32,
    /// The thread or task, counted within its process.
    pub(crate) thread: u32,
    /// Before the request.
    pub(crate) asked: u64,
    /// After the request had reached the line of its client.
    pub(crate) queued: u64,
    /// When the guard was there, or when the wait was given up.
    pub(crate) ended: u64,
    /// Before the drop of the guard; 0 if there was none.
    pub(crate) released: u64,
}

impl Record {
    pub(crate) fn is_granted(&self) -> bool {
        self.released > 0
    }

    pub(crate) fn wait(&self) -> u64 {
        self.ended.saturating_sub(self.asked)
    }
}

/// A line without the process, which whoever reads the line knows better.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, asked, queued, ended, released, .. } = self;
        write!(f, "{thread} {asked} {queued} {ended} {released}")
    }
}

impl FromStr for Record {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let numbers: Option<Vec<u64>> = line.split(' ').map(|word| word.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[thread, asked, queued, ended, released]) => {
                let thread = u32::try_from(thread).map_err(|error| error.to_string())?;
                Ok(Self { process: 0, thread, asked, queued, ended, released })
            }
            _ => Err(format!("{line:?} is no record")),
        }
    }
}
