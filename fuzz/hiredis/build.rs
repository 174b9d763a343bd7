//! Compiles hiredis from the sources that `fuzz/hiredis.sh` has fetched.

use std::path::PathBuf;

/// The folder with the sources.
const VARIABLE: &str = "REDBOLT_HIREDIS";

/// The reader, and what the file with the default reply objects is linked to.
const FILES: [&str; 6] = ["alloc.c", "async.c", "hiredis.c", "net.c", "read.c", "sds.c"];

fn main() {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let folder = PathBuf::from(std::env::var_os(VARIABLE).unwrap_or_default());
    let files = FILES.map(|file| folder.join(file));
    if let Some(absent) = files.iter().find(|file| !file.is_file()) {
        println!(
            "cargo::error={VARIABLE} must name the folder with the sources of hiredis, but there \
             is no {absent:?}; fuzz/hiredis.sh fetches them and sets the variable"
        );
        return;
    }
    // The optimisation is that of the profile: -O3, as in the Makefile of hiredis.
    cc::Build::new().files(&files).std("c99").compile("hiredis");
}
