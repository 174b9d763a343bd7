//! The choice of the server that the tests run.
//!
//! The environment variable `REDBOLT_TEST_SERVER` names the server, by name or by path. Without the
//! variable the server is `redis-server`, or else `valkey-server`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Returns the server to run: the chosen one, or the first known one on the search path.
///
/// The error is a message for the person at the terminal.
pub(crate) fn find_server(
    chosen: Option<OsString>,
    search_path: Option<OsString>,
) -> Result<PathBuf, String> {
    let search_path = search_path.unwrap_or_default();
    let names = chosen.map_or_else(
        || vec![OsString::from("redis-server"), OsString::from("valkey-server")],
        |chosen| vec![chosen],
    );
    names.iter().find_map(|name| find_program(name, &search_path)).ok_or_else(|| {
        let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
        format!("no {} on the PATH: tests/run.sh installs a server", names.join(" or "))
    })
}

fn find_program(name: &OsStr, search_path: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    env::split_paths(search_path).map(|dir| dir.join(name)).find(|path| path.is_file())
}
