//! The storage that the locks protect: one value for each resource, behind a register that keeps
//! the largest number with which anybody came, and refuses smaller ones (`SAFETY.md`).
//!
//! The register is a thread of the test process, which nobody stops or kills. Clients come by TCP,
//! because a file with a lock would be kept locked by a client that is stopped. The register knows
//! nothing of locks and never looks at the version that a client has read: only the numbers keep a
//! late write out.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::log::{Deposit, Log, nanos};

/// The register of a run. Dropped, it lets nobody in any more.
pub(crate) struct Register {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    path: PathBuf,
}

/// What the register has for one resource.
#[derive(Clone, Copy, Default)]
struct Shelf {
    /// The largest number with which anybody came.
    fence: u64,
    /// How often the value was replaced.
    version: u64,
}

type Shelves = Mutex<HashMap<String, Shelf>>;

impl Register {
    /// Starts the register of the run with this log.
    pub(crate) fn start(log: &Arc<Log>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let path = path(log.path());
        fs::write(&path, address.to_string()).expect("there is room for an address");
        let (is_over, log) = (Arc::new(AtomicBool::new(false)), Arc::clone(log));
        let (end, shelves) = (Arc::clone(&is_over), Arc::new(Shelves::default()));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                let (log, shelves) = (Arc::clone(&log), Arc::clone(&shelves));
                // The thread ends with the client.
                thread::spawn(move || serve(&client, &log, &shelves));
            }
        });
        Self { address, is_over, path }
    }
}

impl Drop for Register {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread; one that has ended needs no waking. A file that stays costs little.
        _ = TcpStream::connect(self.address);
        _ = fs::remove_file(&self.path);
    }
}

/// Answers one client until it leaves.
fn serve(client: &TcpStream, log: &Log, shelves: &Shelves) -> Option<()> {
    client.set_nodelay(true).ok()?;
    for line in BufReader::new(client).lines() {
        let answer = answer(&line.ok()?, log, shelves)?;
        writeln!(&mut { client }, "{answer}").ok()?;
    }
    Some(())
}

/// Returns the answer to one line, or `None` for a line that a dead client has not finished.
fn answer(line: &str, log: &Log, shelves: &Shelves) -> Option<u64> {
    // Held until the line of the log is written: the log has the order of the decisions.
    let mut shelves = shelves.lock().expect("no client has made the register panic");
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["read", resource] => Some(shelves.get(resource).map_or(0, |shelf| shelf.version)),
        ["take", client, request, resource, fence, read] => {
            let (client, request) = (client.parse().ok()?, request.parse().ok()?);
            let (resource, fence) = (resource.to_owned(), fence.parse().ok()?);
            let read = read.parse().ok();
            let is_accepted = shelves.entry(resource.clone()).or_default().take(fence, read);
            let at = nanos();
            log.deposit(&Deposit { at, client, request, resource, fence, read, is_accepted });
            Some(u64::from(is_accepted))
        }
        _ => None,
    }
}

impl Shelf {
    /// Takes a mark, or a new value for the version that was read, unless the number is too small.
    /// Equal numbers are the same holder.
    fn take(&mut self, fence: u64, read: Option<u64>) -> bool {
        let is_accepted = fence >= self.fence;
        if is_accepted {
            self.fence = fence;
            self.version += u64::from(read.is_some());
        }
        is_accepted
    }
}

/// A client's connection to the register.
pub(crate) struct Visitor {
    stream: BufReader<TcpStream>,
    client: u32,
}

/// A holder with a number, at the register.
pub(crate) struct Holder {
    request: u64,
    fence: u64,
    /// For each resource the version that the holder has read; `None` if the holder was too late to
    /// leave a mark.
    read: Vec<(String, Option<u64>)>,
}

impl Visitor {
    /// Comes to the register of the run with this log.
    pub(crate) fn of(log: &Path, client: u32) -> Self {
        let address = fs::read_to_string(path(log)).expect("the register is there before clients");
        let stream = TcpStream::connect(address).expect("the register lets everybody in");
        stream.set_nodelay(true).expect("it is a TCP stream");
        Self { stream: BufReader::new(stream), client }
    }

    /// Lets a new holder leave its mark and then read, for each of its resources. In the other
    /// order, a late write of an older holder could come between the two.
    pub(crate) fn mark(&mut self, request: u64, resources: &[String], fence: u64) -> Holder {
        let marked = resources.iter().map(|resource| {
            let is_accepted = self.take(request, resource, fence, None);
            (resource.clone(), is_accepted.then(|| self.ask(&format!("read {resource}"))))
        });
        Holder { request, fence, read: marked.collect() }
    }

    /// Lets a holder replace the values that it has read, in time or late.
    pub(crate) fn write(&mut self, holder: &mut Holder) {
        let Holder { request, fence, ref mut read } = *holder;
        for (resource, read) in read {
            if let Some(version) = *read {
                let is_accepted = self.take(request, resource, fence, *read);
                *read = Some(version + u64::from(is_accepted));
            }
        }
    }

    fn take(&mut self, request: u64, resource: &str, fence: u64, read: Option<u64>) -> bool {
        let read = read.map_or_else(|| "-".to_owned(), |read| read.to_string());
        self.ask(&format!("take {} {request} {resource} {fence} {read}", self.client)) == 1
    }

    fn ask(&mut self, line: &str) -> u64 {
        let mut answer = String::new();
        writeln!(self.stream.get_mut(), "{line}").expect("the register outlives the clients");
        self.stream.read_line(&mut answer).expect("the register outlives the clients");
        answer.trim_end().parse().unwrap_or_else(|_| panic!("{answer:?} to {line}"))
    }
}

fn path(log: &Path) -> PathBuf {
    log.with_extension("register")
}

#[test]
fn a_smaller_number_is_refused_and_an_equal_one_is_the_same_holder() {
    let mut shelf = Shelf::default();
    for (fence, read, is_accepted, version) in [
        (5, None, true, 0),
        (5, Some(0), true, 1),
        (4, Some(1), false, 1),
        (7, None, true, 1),
        (5, Some(1), false, 1),
        // What was read is the client's affair.
        (7, Some(0), true, 2),
    ] {
        assert_eq!(shelf.take(fence, read), is_accepted, "{fence} {read:?}");
        assert_eq!(shelf.version, version, "{fence} {read:?}");
    }
}
