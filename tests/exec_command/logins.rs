//! What is said of logins and rights that the servers refuse.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::run::{Run, exec};
use crate::support::process::Folder;
use crate::support::servers::Cluster;

const WRONG: &str = "not-the-password";

/// Runs `true` with a wrong password, and checks what is said of each node.
fn assert_told(command: &mut Command, place: &str) {
    let outcome = Run::start(command.args(["-n", "r", "--", "true"])).finish();
    outcome.assert_code(69);
    let said = format!("; the password is from {place}\n");
    assert_eq!(outcome.err.matches(&said).count(), 3, "{}", outcome.err);
    assert!(!outcome.err.contains(WRONG), "{}", outcome.err);
}

#[test]
fn a_wrong_password_is_told_with_the_place_that_it_comes_from() {
    let cluster = Cluster::start_with(3, &["--requirepass", "the-password"]);
    let exec = || exec(&cluster.addrs());
    assert_told(exec().env("REDBOLT_PASSWORD", WRONG), "REDBOLT_PASSWORD");

    let folder = Folder::new();
    let file = folder.path().join("redbolt.password");
    fs::write(&file, WRONG).expect("the folder is ours");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("the file is ours");
    let path = file.display();
    assert_told(exec().arg("--password-file").arg(&file), &format!("--password-file ({path})"));
    let place = format!("REDBOLT_PASSWORD_FILE ({path})");
    assert_told(exec().env("REDBOLT_PASSWORD_FILE", &file), &place);
    let credential = "the credential redbolt.password";
    assert_told(exec().env("CREDENTIALS_DIRECTORY", folder.path()), credential);

    let toml = folder.path().join("f.toml");
    fs::write(&toml, format!("password_file = '{path}'\n")).expect("the folder is ours");
    let place = format!("{}:1: password_file ({path})", toml.display());
    assert_told(exec().arg("--config").arg(&toml), &place);
}

#[test]
fn a_wrong_password_is_told_with_its_user() {
    let cluster = Cluster::start_with(3, &["--requirepass", "the-password"]);
    let mut command = exec(&cluster.addrs());
    command.env("REDBOLT_USER", "app").env("REDBOLT_PASSWORD", WRONG);
    let outcome = Run::start(command.args(["-n", "r", "--", "true"])).finish();
    outcome.assert_code(69);
    let said = "; the user is app, the password is from REDBOLT_PASSWORD\n";
    assert_eq!(outcome.err.matches(said).count(), 3, "{}", outcome.err);
    assert!(!outcome.err.contains(WRONG), "{}", outcome.err);
}

#[test]
fn a_wrong_password_of_an_address_is_told_as_one() {
    let cluster = Cluster::start_with(3, &["--requirepass", "the-password"]);
    let nodes: Vec<_> =
        cluster.addrs().iter().map(|node| format!("redis://:{WRONG}@{node}")).collect();
    // The other password would have been right.
    assert_told(exec(&nodes).env("REDBOLT_PASSWORD", "the-password"), "its address");
}

#[test]
fn a_user_who_may_not_keep_the_witness_is_told_the_rule_with_the_prefix() {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        let user: [&[u8]; 7] =
            [b"ACL", b"SETUSER", b"app", b"on", b">the-password", b"~x:jobs:*", b"+@all"];
        node.command(&user);
    }
    let mut command = exec(&cluster.addrs());
    command.env("REDBOLT_USER", "app").env("REDBOLT_PASSWORD", "the-password");
    command.env("REDBOLT_RESTART_GUARD", "on");
    let options = ["--prefix", "x:", "--wait", "5s", "jobs:1", "--", "true"];
    let outcome = Run::start(command.args(options)).finish();
    outcome.assert_code(69);
    let said = "; the witness needs the ACL rule ~x:redbolt:*\n";
    assert_eq!(outcome.err.matches(said).count(), 3, "{}", outcome.err);

    // That rule is enough.
    for node in cluster.iter() {
        node.command(&[b"ACL", b"SETUSER", b"app", b"~x:redbolt:*"]);
    }
    let mut command = exec(&cluster.addrs());
    command.env("REDBOLT_USER", "app").env("REDBOLT_PASSWORD", "the-password");
    command.env("REDBOLT_RESTART_GUARD", "on");
    let outcome = Run::start(command.args(options)).finish();
    // Without an earlier run that could have kept a witness, the nodes wait all the same.
    outcome.assert_code(69);
    assert!(!outcome.err.contains("no right to keep a witness"), "{}", outcome.err);
}
