//! Where `unlock` reads the token, and what it says of one that cannot be used.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::run::{Outcome, hex, redbolt, redbolt_reads, unlock};
use crate::support::process::Folder;
use crate::support::servers::Cluster;
use crate::who::{MINUTE, OF_REDLOCK_PY};

fn locked() -> Cluster {
    let cluster = Cluster::start(3);
    for node in cluster.iter() {
        node.set_px(b"r", OF_REDLOCK_PY, MINUTE);
    }
    cluster
}

#[test]
fn a_token_comes_from_standard_input() {
    let cluster = locked();
    let input = hex(OF_REDLOCK_PY) + "\n";
    let arguments = ["r", "--token", "-"];
    let outcome = redbolt_reads("unlock", &cluster.addrs(), &arguments, input.as_bytes());
    outcome.assert(0, &["deleted on 3 of 3 nodes"]);
}

#[test]
fn a_token_comes_from_a_file_that_is_private() {
    let cluster = locked();
    let folder = Folder::new();
    let path = folder.path().join("token");
    fs::write(&path, hex(OF_REDLOCK_PY).to_uppercase() + "\n").expect("the folder is ours");
    let mode = |mode| fs::set_permissions(&path, Permissions::from_mode(mode));
    let given = format!("@{}", path.display());
    mode(0o644).expect("the file is ours");
    let outcome = unlock(&cluster.addrs(), "r", &given);
    assert_eq!(outcome.code, Some(64), "{}", outcome.err);
    assert!(outcome.err.contains("has a token and is open to others"), "{}", outcome.err);
    mode(0o600).expect("the file is ours");
    unlock(&cluster.addrs(), "r", &given).assert(0, &["deleted on 3 of 3 nodes"]);
}

#[test]
fn what_is_no_token_is_refused_before_a_node_is_visited_and_not_shown() {
    let nowhere = ["127.0.0.1:1".to_owned()];
    let no_hex = "is not hex digits, two for each byte";
    let rows = [
        ("", "--token is empty"),
        ("@", "a file is needed behind the @"),
        ("@/nowhere/at-all", "cannot read /nowhere/at-all"),
        ("7c9", no_hex),
        ("7c9e6679-7425-40de-944b-e07fc1f90ae7", no_hex),
        (" 7c9e", no_hex),
        (&"7c".repeat(1_025), "has more than 1024 bytes"),
    ];
    for (token, said) in rows {
        let outcome = unlock(&nowhere, "r", token);
        assert_eq!(outcome.code, Some(64), "{token}: {}", outcome.err);
        assert!(outcome.err.contains(said), "{token}: {}", outcome.err);
        assert!(!outcome.err.contains("7c9"), "{}", outcome.err);
    }
    let empty: [&[u8]; 4] = [b"", b"\n", b"7c\n9e\n", b"\xff\n"];
    for input in empty {
        let outcome: Outcome = redbolt_reads("unlock", &nowhere, &["r", "--token", "-"], input);
        outcome.assert(64, &["--token: standard input"]);
    }
    // What `jq` prints where nobody holds the lock.
    for input in [&b"null\n"[..], b"null"] {
        let outcome = redbolt_reads("unlock", &nowhere, &["r", "--token", "-"], input);
        outcome.assert(64, &["--token is null: redbolt who has named no holder"]);
    }
    redbolt("unlock", &nowhere, &["r"]).assert(64, &["--token"]);
    unlock(&nowhere, "redbolt:witness", "00").assert(64, &["which is reserved"]);
    unlock(&[], "r", "00").assert(64, &["no nodes given"]);
}
