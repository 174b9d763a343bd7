//! The nodes of a run: the given nodes, or five masters that live as long as the run.

use std::ffi::OsStr;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, io};

use redbolt::embedded::Server;

use crate::bench::nodes::process::{Process, StartError};

/// The number of masters that Redis' page on Redlock assumes: so many are started.
pub(crate) const MASTERS: usize = 5;

/// The server programs, looked for on the `PATH` in this order.
const PROGRAMS: [&str; 2] = ["valkey-server", "redis-server"];

/// How many times to start again after another process has taken one of the ports meanwhile.
const ATTEMPTS: usize = 5;

pub(crate) enum Masters {
    Given,
    Started { kind: String, processes: Vec<Process> },
    Embedded(Vec<Server>),
}

impl Masters {
    /// Starts five masters of the best kind that this machine has. The masters end when the
    /// returned value is dropped.
    pub(crate) fn start() -> io::Result<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        match PROGRAMS.iter().find_map(|name| find_program(name, &path)) {
            Some(program) => start_processes(&program),
            None => {
                (0..MASTERS).map(|_| Server::start()).collect::<Result<_, _>>().map(Self::Embedded)
            }
        }
    }

    pub(crate) fn kind(&self) -> &str {
        match self {
            Self::Given => "given",
            Self::Started { kind, .. } => kind,
            Self::Embedded(_) => "embedded",
        }
    }

    /// The addresses of the masters that were started here.
    pub(crate) fn addresses(&self) -> Vec<String> {
        match self {
            Self::Given => Vec::new(),
            Self::Started { processes, .. } => {
                processes.iter().map(|process| local(process.port()).to_string()).collect()
            }
            Self::Embedded(servers) => servers.iter().map(|s| s.addr().to_string()).collect(),
        }
    }
}

/// Writes what was started, for the person at the terminal.
impl fmt::Display for Masters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addresses = self.addresses().join(" ");
        match self {
            Self::Given => write!(f, "given"),
            Self::Started { kind, .. } => write!(f, "{kind}: {addresses}"),
            Self::Embedded(_) => {
                let [first, second] = PROGRAMS;
                write!(f, "no {first} and no {second} on the PATH, so five masters run inside ")?;
                write!(f, "this process and take their share of it: {addresses}")
            }
        }
    }
}

/// Returns the first executable file of this name on the search path.
fn find_program(name: &str, search_path: &OsStr) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        let metadata = path.metadata();
        metadata.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(search_path).map(|folder| folder.join(name)).find(is_program)
}

fn start_processes(program: &Path) -> io::Result<Masters> {
    for _ in 0..ATTEMPTS {
        match try_processes(program) {
            Ok(processes) => {
                let name = program.file_name().unwrap_or_default().to_string_lossy();
                let version = processes.first().map_or("", Process::version);
                let kind = format!("{name} {version} started for this run");
                return Ok(Masters::Started { kind, processes });
            }
            Err(StartError::PortTaken) => {}
            Err(StartError::Io(error)) => return Err(error),
        }
    }
    Err(io::Error::other("others take every free port of this machine"))
}

/// Starts all processes, and then waits for each to be ready.
fn try_processes(program: &Path) -> Result<Vec<Process>, StartError> {
    let ports = free_ports()?;
    let spawn = |port| Process::spawn(program, port);
    let mut processes = ports.into_iter().map(spawn).collect::<io::Result<Vec<_>>>()?;
    for process in &mut processes {
        process.wait_until_ready()?;
    }
    Ok(processes)
}

/// Returns ports on which nobody listens right now. All are bound at once, so that they differ.
fn free_ports() -> io::Result<Vec<u16>> {
    let bind = |_| TcpListener::bind(local(0));
    let listeners = (0..MASTERS).map(bind).collect::<io::Result<Vec<_>>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}
