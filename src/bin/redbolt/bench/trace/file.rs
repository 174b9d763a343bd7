//! A trace as text: a transaction on each line, the names of its locks with one space between them.
//! Empty lines, and those that begin with `#`, say nothing.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::kind::Kind;
use super::transactions::{MOST_BYTES, Refusal, Transactions};
use crate::number::grouped;

/// The most transactions of a trace.
pub(super) const MOST_TRANSACTIONS: usize = 4_000_000;

/// The longest line: names of 16 KiB with spaces between them, and some room to say what is wrong.
const LONGEST_LINE: usize = 64 << 10;

/// Why a file is no trace.
#[derive(Debug)]
pub(super) enum ReadError {
    Io(io::Error),
    Line { number: usize, what: LineError },
    Empty,
}

#[derive(Debug)]
pub(super) enum LineError {
    TooLong,
    TooMany,
    Refused(Refusal),
}

/// Reads the file. The error is for the person who has named the file.
pub(super) fn read(path: &Path) -> Result<Transactions, String> {
    let open = || File::open(path).map_err(ReadError::Io);
    let trace = open().and_then(|file| parse(BufReader::new(file)));
    trace.map_err(|error| format!("--trace: {}: {error}", path.display()))
}

fn parse(mut input: impl BufRead) -> Result<Transactions, ReadError> {
    let mut trace = Transactions::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let limit = LONGEST_LINE as u64 + 1;
        let read = input.by_ref().take(limit).read_until(b'\n', &mut line);
        if read.map_err(ReadError::Io)? == 0 {
            break;
        }
        let bad = |what| ReadError::Line { number, what };
        if line.len() > LONGEST_LINE {
            return Err(bad(LineError::TooLong));
        }
        let text = line.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        if trace.len() == MOST_TRANSACTIONS {
            return Err(bad(LineError::TooMany));
        }
        let names = text.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty());
        let pushed = trace.push(names.collect());
        pushed.map_err(|refusal| bad(LineError::Refused(refusal)))?;
    }
    if trace.len() == 0 { Err(ReadError::Empty) } else { Ok(trace) }
}

/// Returns the text of a trace, which [`read`] reads, and which says what it is: of its first
/// `count` transactions, or of all if there are less.
pub(super) fn write(kind: &Kind, trace: &Transactions, count: usize) -> String {
    let count = count.min(trace.len());
    let mut text = format!("# {kind}, {count} transactions\n");
    for number in 0..count {
        for (index, name) in trace.names(number).enumerate() {
            if index > 0 {
                text.push(' ');
            }
            // Names of a generator are ASCII, and those of a file have been printed by somebody.
            text.push_str(&String::from_utf8_lossy(name));
        }
        text.push('\n');
    }
    text
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Line { number, what: LineError::Refused(Refusal::Full) } => {
                let most = grouped(MOST_BYTES as u64);
                write!(
                    f,
                    "line {number}: the names have too many bytes together, at most {most} "
                )?;
                f.write_str("are possible")
            }
            Self::Line { number, what } => write!(f, "line {number} has {what}"),
            Self::Empty => f.write_str("the file has no transaction"),
        }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => {
                let most = grouped(LONGEST_LINE as u64);
                write!(f, "more than {most} bytes")
            }
            Self::TooMany => {
                let most = grouped(MOST_TRANSACTIONS as u64);
                write!(f, "one transaction too many, at most {most} are possible")
            }
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: impl AsRef<[u8]>) -> Result<Vec<Vec<String>>, String> {
        let trace = parse(text.as_ref()).map_err(|error| error.to_string())?;
        let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        Ok((0..trace.len()).map(|number| trace.names(number).map(name).collect()).collect())
    }

    #[test]
    fn a_line_is_a_transaction_with_its_names_in_order() {
        let text = "# a trace\n\nb a\r\n  c\td  \nlast";
        let expected = [vec!["a", "b"], vec!["c", "d"], vec!["last"]];
        assert_eq!(parsed(text).expect("a trace"), expected);
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_line() {
        let many = "x ".repeat(40_000);
        let rows = [
            ("", "the file has no transaction".to_owned()),
            ("# nothing\n \n", "the file has no transaction".to_owned()),
            ("a\nb b\n", "line 2 has the lock \"b\" twice, once is possible".to_owned()),
            (&format!("a\n\n{many}"), "line 3 has more than 65,536 bytes".to_owned()),
        ];
        for (text, expected) in rows {
            assert_eq!(parsed(text), Err(expected));
        }
        let names = (0..65).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let expected = "line 1 has 65 locks, between 1 and 64 are possible";
        assert_eq!(parsed(names), Err(expected.to_owned()));
    }

    #[test]
    fn what_is_written_reads_the_same() {
        for text in ["uniform:50", "zipf:50", "tpcc:2", "tatp:9"] {
            let kind = Kind::parse(text).expect("a trace");
            let trace = kind.generate(4, 1, 100).expect("all are in bounds");
            let written = write(&kind, &trace, 100);
            let names = |number| trace.names(number).map(|n| String::from_utf8_lossy(n).into());
            let expected: Vec<Vec<String>> =
                (0..trace.len()).map(|number| names(number).collect()).collect();
            assert_eq!(parsed(&written).expect("a trace"), expected);
            assert!(written.starts_with(&format!("# {kind}, 100 transactions\n")), "{written}");
        }
    }
}
