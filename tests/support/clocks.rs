//! Wall clocks that can be stepped, one for each master.
//!
//! `clock_shim.c` is preloaded into the server and adds an offset to the time that the kernel
//! returns. The shim must be compiled. Without a C compiler the clocks stay as they are, and a line
//! on stderr says so.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::flavours::leave_out;
use super::process::Folder;
use super::program::find_server;
use super::servers::Node;

/// A script that becomes the server, with the shim and the offset of this server. So a node needs
/// no knowledge of its clock, not even for a restart.
const SERVER: &str = r#"#!/bin/sh
dir=${0%/*}
export CLOCK_SHIM_FILE="$0.offset" LD_PRELOAD="$dir/clock_shim.so"
exec "$dir/server" "$@"
"#;

/// The clocks of some masters.
pub(crate) struct Clocks {
    folder: Folder,
    offsets: Vec<File>,
}

impl Clocks {
    /// Returns that many clocks, all of them right, or `None` if clocks cannot be stepped here.
    pub(crate) fn new(count: usize) -> Option<Self> {
        let folder = Folder::new();
        if let Err(why) = compile(folder.path()) {
            leave_out("clock steps", &why);
            return None;
        }
        let server = find_server(env::var_os("REDBOLT_TEST_SERVER"), env::var_os("PATH"));
        let server = fs::canonicalize(server.unwrap_or_else(|why| panic!("{why}")));
        let server = server.expect("the program has a path");
        // The name of the program must not change, because some servers behave differently by their
        // name.
        std::os::unix::fs::symlink(server, folder.path().join("server")).expect("a fresh folder");
        let offsets = (0..count).map(|node| write_script(&script(&folder, node))).collect();
        Some(Self { folder, offsets })
    }

    /// Starts a master on this clock.
    pub(crate) fn start(&self, node: usize) -> Node {
        self.start_with(node, &[])
    }

    /// Starts a master with more arguments on this clock, which several masters may share.
    pub(crate) fn start_with(&self, node: usize, args: &[&str]) -> Node {
        Node::start_program(&script(&self.folder, node), args)
    }

    /// Starts as many masters as there are clocks.
    pub(crate) fn start_all(&self) -> Vec<Node> {
        (0..self.offsets.len()).map(|node| self.start(node)).collect()
    }

    /// Puts another program on this clock.
    pub(crate) fn preload(&self, clock: usize, command: &mut Command) {
        let offset = script(&self.folder, clock).with_extension("offset");
        command.env("CLOCK_SHIM_FILE", offset);
        command.env("LD_PRELOAD", self.folder.path().join("clock_shim.so"));
    }

    /// Sets the clock ahead of the right time, from now on.
    pub(crate) fn set(&self, node: usize, ahead: Duration) {
        let micros = i64::try_from(ahead.as_micros()).expect("tests step by less than centuries");
        let written = self.offsets[node].write_all_at(&micros.to_ne_bytes(), 0);
        written.expect("the bytes are there already");
    }
}

fn script(folder: &Folder, node: usize) -> PathBuf {
    folder.path().join(format!("node-{node}"))
}

/// Writes the script and, beside it, the offset.
fn write_script(path: &Path) -> File {
    fs::write(path, SERVER).expect("a fresh folder");
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("it is ours");
    let offset = path.with_extension("offset");
    fs::write(&offset, 0_i64.to_ne_bytes()).expect("a fresh folder");
    OpenOptions::new().write(true).open(offset).expect("it is there")
}

fn compile(folder: &Path) -> Result<(), String> {
    let compiler = env::var_os("CC").unwrap_or_else(|| OsStr::new("cc").to_owned());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/clock_shim.c");
    let output = Command::new(&compiler)
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .arg(folder.join("clock_shim.so"))
        .arg(source)
        .output()
        .map_err(|error| format!("cannot run {compiler:?}: {error}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(words.into_owned()) }
}
