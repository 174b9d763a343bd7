//! The bytes of a file or of a pipe, bounded in size and in time.
//!
//! `--password-file <(…)` names a pipe, and so does what a secrets manager writes into. A pipe to
//! which nobody writes would be waited for without a word and without an end.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;

/// How many bytes are read at once.
const PIECE: usize = 4096;

/// How many seconds the other end of a pipe may be silent: time to unlock a vault by hand.
const PATIENCE: i64 = 30;

/// Reads a file or a pipe, but not many more bytes than `most`.
pub(super) fn read(path: &Path, most: usize) -> io::Result<(Vec<u8>, Metadata)> {
    // The opening of a pipe must not wait for a writer: this is done below. A terminal must not
    // become the one of this process.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    read_file(OpenOptions::new().read(true).custom_flags(flags).open(path)?, most)
}

/// Reads standard input in the same way.
pub(super) fn read_stdin(most: usize) -> io::Result<(Vec<u8>, Metadata)> {
    read_file(io::stdin().as_fd().try_clone_to_owned()?.into(), most)
}

fn read_file(file: File, most: usize) -> io::Result<(Vec<u8>, Metadata)> {
    if file.is_terminal() {
        return Err(io::Error::other("it is a terminal, and a file or a pipe is possible"));
    }
    let metadata = file.metadata()?;
    let limit = Timespec { tv_sec: PATIENCE, tv_nsec: 0 };
    read_within(&file, most, limit).map(|bytes| (bytes, metadata))
}

/// Reads to the end, waiting for each piece no longer than `limit`.
fn read_within(mut file: &File, most: usize, limit: Timespec) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut piece = [0; PIECE];
    while bytes.len() <= most {
        // A pipe that no writer has opened yet looks like one at its end, except here.
        match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&limit)) {
            Ok(0) => {
                let seconds = limit.tv_sec;
                let what = format!("it is a pipe to which nothing was written for {seconds} s");
                return Err(io::Error::new(ErrorKind::TimedOut, what));
            }
            Err(Errno::INTR) => continue,
            ready => ready?,
        };
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::thread;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    const SHORT: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    const LONG: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };

    fn pipe() -> (File, File) {
        let (read, write) = rustix::pipe::pipe().expect("a pipe can be made");
        (read.into(), write.into())
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let (read, mut write) = pipe();
        let writer = thread::spawn(move || {
            for _ in 0..3 {
                write.write_all(&[b'x'; PIECE]).expect("somebody reads");
            }
        });
        assert_eq!(read_within(&read, 1 << 20, LONG).expect("bytes").len(), 3 * PIECE);
        writer.join().expect("it has written");
    }

    #[test]
    fn a_pipe_that_nobody_writes_to_is_given_up() {
        let (read, mut write) = pipe();
        let error = |read: &File| read_within(read, 9, SHORT).expect_err("it goes on").kind();
        assert_eq!(error(&read), ErrorKind::TimedOut);
        write.write_all(b"secret").expect("there is room");
        assert_eq!(error(&read), ErrorKind::TimedOut);
        drop(write);
        assert_eq!(read_within(&read, 9, SHORT).expect("the end"), b"");
    }

    #[test]
    fn a_terminal_is_refused_and_not_waited_for() {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let terminal = openpt(flags).expect("a terminal can be made");
        grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("the terminal is ours");
        let path = ptsname(&terminal, Vec::new()).expect("the terminal has a name");
        let path = path.to_str().expect("the name is text");
        let error = read(Path::new(path), 10).expect_err("a terminal").to_string();
        assert!(error.starts_with("it is a terminal"), "{error}");
    }

    #[test]
    fn no_more_is_read_than_is_needed_to_see_that_it_is_too_much() {
        let (bytes, metadata) = read(Path::new("/dev/zero"), 10).expect("zeros");
        assert!(bytes.len() == PIECE && !metadata.is_file());
        assert_eq!(read(Path::new("/dev/null"), 10).expect("nothing").0, b"");
    }
}
