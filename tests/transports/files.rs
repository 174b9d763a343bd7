//! The files of TLS: what cannot be read is told with its path, and nobody waits for a pipe.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use redbolt::redlock::{NodeError, TlsError, TlsFileError};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::certificates::{Authority, LOCAL};
use super::secure::Secure;
use super::{PATIENCE, client, redbolt, redbolt_with};
use crate::support::process::Folder;
use crate::support::until;

/// Asserts that a client, and each command that talks to nodes, says why this file cannot be used.
#[track_caller]
fn assert_told(url: &str, error: TlsError, path: &str) {
    let nodes = [url.to_owned()];
    let client = client(&nodes);
    let state = || client.nodes().blocking_wait().expect("the client runs").remove(0);
    let is_told = || state().error == Some(NodeError::Tls(error));
    assert!(until(PATIENCE, is_told), "{url}: {:?}, not {error:?}", state());
    let (why, path) = (error.to_string(), format!("({path}"));
    let runs: [&[&str]; 5] = [
        &["check"],
        &["init", "--fresh"],
        &["who", "a"],
        &["unlock", "a", "--token", "00"],
        &["exec", "--wait", "1s", "a", "--", "true"],
    ];
    for arguments in runs {
        let said = redbolt(&nodes, arguments).expect(69).text();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&why) && said.contains(&path), "{arguments:?}: {said}");
    }
    let who = redbolt(&nodes, &["who", "--json", "a"]).expect(69).out;
    assert!(who.contains(&why) && who.contains(&path), "{who}");
}

#[test]
fn every_command_names_the_file_that_cannot_be_read() {
    let (authority, folder) = (Authority::new(), Folder::new());
    let node = Secure::start(&authority, &authority.sign("server", &LOCAL), "no");
    let ours = authority.sign("ours", &LOCAL);
    let gone = folder.path().join("gone").display().to_string();
    let missing = TlsFileError::Io(ErrorKind::NotFound);
    let trusting = node.url(&authority);
    let rows = [
        (format!("rediss://{}?ca={gone}", node.addr()), TlsError::CaFile(missing)),
        (format!("{trusting}&cert={gone}&key={}", ours.key), TlsError::CertFile(missing)),
        (format!("{trusting}&cert={}&key={gone}", ours.cert), TlsError::KeyFile(missing)),
    ];
    for (url, error) in rows {
        assert_told(&url, error, &gone);
    }
}

/// A pipe blocks whoever opens it, and a device can have no end.
#[test]
fn what_is_no_regular_file_is_told_and_not_waited_for() {
    let (authority, folder) = (Authority::new(), Folder::new());
    let node = Secure::start(&authority, &authority.sign("server", &LOCAL), "no");
    let ours = authority.sign("ours", &LOCAL);
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("the folder is ours");
    let pipe = pipe.display().to_string();
    let (socket, unfit) = (node.node.unix().replace("unix://", ""), TlsFileError::NotAFile);
    let (trusting, addr) = (node.url(&authority), node.addr());
    let ca = |path: &str| (format!("rediss://{addr}?ca={path}"), TlsError::CaFile(unfit));
    let folder = folder.path().display().to_string();
    let rows = [
        (ca(&pipe), &*pipe),
        (ca(&folder), &*folder),
        (ca("/dev/zero"), "/dev/zero"),
        (ca(&socket), &*socket),
        ((format!("{trusting}&cert={pipe}&key={}", ours.key), TlsError::CertFile(unfit)), &*pipe),
        ((format!("{trusting}&cert={}&key={pipe}", ours.cert), TlsError::KeyFile(unfit)), &*pipe),
    ];
    for ((url, error), path) in rows {
        assert_told(&url, error, path);
    }
}

/// Where no CA is given, the file is that of the system, which a variable may name.
#[test]
fn what_is_no_regular_file_in_a_variable_is_told_and_not_waited_for() {
    let (authority, folder) = (Authority::new(), Folder::new());
    let node = Secure::start(&authority, &authority.sign("server", &LOCAL), "no");
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("the folder is ours");
    let pipe = pipe.display().to_string();
    let nodes = [format!("rediss://{}", node.addr())];
    let ca = PathBuf::from(authority.ca());
    let trusted = ca.parent().expect("a folder").display().to_string();
    for path in [&*pipe, "/dev/zero"] {
        let variables = |folder| [("SSL_CERT_FILE", path), ("SSL_CERT_DIR", folder)];
        let told = redbolt_with(&nodes, &["check"], &variables("")).expect(69).text();
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&format!("({path}: from SSL_CERT_FILE)")), "{told}");
        // The folders that are named as well are enough.
        redbolt_with(&nodes, &["init", "--fresh"], &variables(&trusted)).expect(0);
    }
}

#[test]
fn a_file_of_the_largest_length_is_read_and_a_longer_one_is_told() {
    let (authority, folder) = (Authority::new(), Folder::new());
    let node = Secure::start(&authority, &authority.sign("server", &LOCAL), "no");
    let path = folder.path().join("ca.pem");
    let pem = fs::read(authority.ca()).expect("the folder is ours");
    let length = usize::try_from(TlsFileError::MAX_LEN).expect("some megabytes");
    let mut padded = pem.clone();
    padded.resize(length, b'\n');
    fs::write(&path, padded).expect("the folder is ours");
    let shown = path.display().to_string();
    let url = format!("rediss://{}?ca={shown}", node.addr());
    redbolt(std::slice::from_ref(&url), &["init", "--fresh"]).expect(0);

    let mut file = OpenOptions::new().append(true).open(&path).expect("the file is ours");
    file.write_all(b"\n").expect("the file is ours");
    let len = TlsFileError::MAX_LEN + 1;
    let error = TlsError::CaFile(TlsFileError::TooLong { len });
    assert!(error.to_string().contains("8388609 bytes, at most 8388608"), "{error}");
    assert_told(&url, error, &shown);

    // One with a hole costs no disk, and no memory.
    let len = 1 << 40;
    File::create(&path).and_then(|file| file.set_len(len)).expect("the folder is ours");
    assert_told(&url, TlsError::CaFile(TlsFileError::TooLong { len }), &shown);
}
