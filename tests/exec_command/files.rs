//! Nodes, settings and passwords from files: what is read, who can see it, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::run::{Run, exec};
use crate::support::process::Folder;
use crate::support::servers::Cluster;

const SECRET: &str = "tops3cret";

/// The command: it says who it is, and stays until it is told to go.
const STAY: &str = "echo $$ >pid; while [ -e out ] && [ ! -e go ]; do :; done";

/// Writes a file with these permissions, and returns its path.
fn write(folder: &Folder, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("the folder is ours");
    set_mode(&path, mode);
    path
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the file is ours");
}

fn text(path: impl AsRef<Path>) -> String {
    path.as_ref().to_str().expect("the name of a test's folder is text").to_owned()
}

/// `redbolt exec` without nodes.
fn bare() -> Command {
    let mut command = exec(&[]);
    command.env_remove("REDBOLT_NODES");
    command
}

/// Whether the arguments or the environment of a process have the password.
fn shows_secret(pid: u32) -> bool {
    ["cmdline", "environ"].iter().any(|name| {
        let bytes = fs::read(format!("/proc/{pid}/{name}")).expect("the process is ours");
        assert!(!bytes.is_empty(), "nothing was looked at");
        bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes())
    })
}

/// Runs the command under a lock, which proves that the login was right. Returns whether redbolt
/// or the command shows the password.
fn runs_and_shows(command: &mut Command) -> [bool; 2] {
    let run = Run::start(command.args(["r", "--", "sh", "-c", STAY]));
    let pid = run.process("pid");
    let shown = [run.pid().as_raw_nonzero().get().unsigned_abs(), pid].map(shows_secret);
    run.create("go");
    let outcome = run.finish();
    outcome.assert_code(0);
    assert_eq!(outcome.err, "");
    shown
}

#[cfg(target_os = "linux")]
#[test]
fn a_password_of_a_file_is_in_no_argument_and_no_environment() {
    let cluster = Cluster::start_with(3, &["--requirepass", SECRET]);
    let (addrs, folder) = (cluster.addrs(), Folder::new());
    let file = |name: &str, content: &str| text(write(&folder, name, content, 0o600));
    let urls: Vec<_> = addrs.iter().map(|node| format!("redis://:{SECRET}@{node}")).collect();
    let nodes = addrs.join(",");

    let list = file("list", &format!("# the nodes\n{}\n", urls.join("\n")));
    assert_eq!(runs_and_shows(bare().arg("--nodes").arg(format!("@{list}"))), [false; 2]);
    assert_eq!(runs_and_shows(bare().env("REDBOLT_NODES", format!("@{list}"))), [false; 2]);

    let password = file("password", &format!("{SECRET}\n"));
    let with_file = ["--nodes", &nodes, "--password-file", &password];
    assert_eq!(runs_and_shows(bare().args(with_file)), [false; 2]);
    let variable = ("REDBOLT_PASSWORD_FILE", &password);
    assert_eq!(runs_and_shows(exec(&addrs).env(variable.0, variable.1)), [false; 2]);

    let quoted: Vec<_> = addrs.iter().map(|node| format!("'{node}'")).collect();
    let quoted = quoted.join(", ");
    for (name, text) in [
        ("urls.toml", format!("nodes = {urls:?}\n")),
        ("login.toml", format!("nodes = [{quoted}]\npassword = '{SECRET}'\n")),
        ("file.toml", format!("nodes = '{nodes}'\npassword_file = 'password'\n")),
    ] {
        let config = file(name, &text);
        assert_eq!(runs_and_shows(bare().args(["--config", &config])), [false; 2], "{name}");
        assert_eq!(runs_and_shows(bare().env("REDBOLT_CONFIG", &config)), [false; 2], "{name}");
    }

    // What systemd does with `LoadCredential=redbolt.password:…`.
    write(&folder, "redbolt.password", SECRET, 0o400);
    let mut unit = exec(&addrs);
    unit.env("CREDENTIALS_DIRECTORY", folder.path());
    assert_eq!(runs_and_shows(&mut unit), [false; 2]);

    // The other ways, to see that the look finds something.
    let shown = runs_and_shows(bare().args(["--nodes", &urls.join(",")]));
    assert_eq!(shown, [true, false]);
    assert_eq!(runs_and_shows(exec(&addrs).env("REDBOLT_PASSWORD", SECRET)), [true; 2]);
}

/// The exit code and the message, on nodes that are not there: 69 where all settings can be used.
fn attempt(command: &mut Command) -> (Option<i32>, String) {
    let outcome = Run::start(command.args(["--no-wait", "r", "--", "true"])).finish();
    (outcome.status.code(), outcome.err)
}

#[test]
fn a_file_with_a_password_is_refused_where_others_may_open_it() {
    let folder = Folder::new();
    let login = format!("redis://:{SECRET}@127.0.0.1:1");
    let rows = [
        ("password", SECRET.to_owned(), true),
        ("list", login.clone(), true),
        ("list", "127.0.0.1:1".to_owned(), false),
        ("config", format!("nodes = '{login}'"), true),
        ("config", format!("nodes = '127.0.0.1:1'\npassword = '{SECRET}'"), true),
        ("config", "nodes = '127.0.0.1:1'".to_owned(), false),
    ];
    for (kind, content, has_password) in rows {
        let path = write(&folder, "file", &content, 0o600);
        let command = || {
            let mut command = bare();
            match kind {
                "password" => {
                    command.args(["--nodes", "127.0.0.1:1", "--password-file"]).arg(&path)
                }
                "list" => command.arg(format!("--nodes=@{}", text(&path))),
                _ => command.arg("--config").arg(&path),
            };
            command
        };
        for (mode, is_open) in [(0o400, false), (0o640, false), (0o644, true), (0o602, true)] {
            set_mode(&path, mode);
            let (code, err) = attempt(&mut command());
            assert!(!err.contains(SECRET), "{kind} {mode:o}: {err}");
            let expected = if is_open && has_password { 64 } else { 69 };
            assert_eq!(code, Some(expected), "{kind} {mode:o}: {err}");
            if expected == 64 {
                let why = format!("file has a password and is open to others (mode {mode:o})");
                assert!(err.contains(&why) && err.lines().count() == 1, "{err}");
            }
        }
        set_mode(&path, 0o600);
    }
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_limit() {
    const MOST: usize = 16_384;
    let folder = Folder::new();
    let path = |name: &str| text(folder.path().join(name));
    let of_password = |content: &[u8]| {
        fs::write(path("pw"), content).expect("the folder is ours");
        set_mode(Path::new(&path("pw")), 0o600);
        attempt(bare().args(["--nodes", "127.0.0.1:1", "--password-file", &path("pw")]))
    };
    // As long as is possible, with one line end that does not count.
    for content in ["x".repeat(MOST), "x".repeat(MOST) + "\n", "x".repeat(MOST) + "\r\n"] {
        let (code, err) = of_password(content.as_bytes());
        assert_eq!(code, Some(69), "{err}");
    }
    let rows: [(&[u8], String); 6] = [
        (b"", "is empty".to_owned()),
        (b"\n", "is empty".to_owned()),
        (b"tops3cret\ntops3cret\n", "has more than one line".to_owned()),
        (b"tops3cret\xff", "is not UTF-8".to_owned()),
        (&[b'x'; MOST + 1], format!("has more than {MOST} bytes")),
        (&[b'x'; 2 * MOST], format!("has more than {MOST} bytes")),
    ];
    for (content, why) in rows {
        let (code, err) = of_password(content);
        let expected = format!("redbolt: --password-file: {} {why}\n", path("pw"));
        assert_eq!((code, err), (Some(64), expected));
    }

    let large = write(&folder, "large", &"# x\n".repeat(65_537), 0o600);
    let commented = write(&folder, "commented", "# no node\n\n", 0o600);
    let wrong = write(&folder, "wrong", "127.0.0.1:1,\n\n# rack 2\na, b:tops3cret\n", 0o600);
    let [large, commented, wrong, folder] = [&large, &commented, &wrong, folder.path()].map(text);
    let missing = format!("{folder}/missing");
    let rows: [(&[&str], String); 12] = [
        (&["--nodes", &format!("@{missing}")], format!("--nodes: cannot read {missing}: No such")),
        (&["--nodes", &format!("@{folder}")], format!("--nodes: cannot read {folder}: Is a dir")),
        (&["--nodes", &format!("@{large}")], format!("--nodes: {large} has more than 262144")),
        (&["--nodes", &format!("@{commented}")], format!("--nodes: {commented} has no nodes")),
        (
            &["--nodes", &format!("@{wrong}")],
            format!("--nodes: {wrong}:4: address 3 of the list, \"b:…\", has a port"),
        ),
        (&["--nodes", "@"], "--nodes: a file is needed behind the @".to_owned()),
        (&["--nodes", "@-"], "--nodes: standard input is not read: name a file".to_owned()),
        (&["--config", &missing], format!("--config: cannot read {missing}: No such")),
        (&["--config", &large], format!("--config: {large} has more than 262144 bytes")),
        (&["--config", &wrong], format!("--config: {wrong}:1: ")),
        (&["--config", ""], "--config is empty".to_owned()),
        (&["--nodes", "a", "--password-file", ""], "--password-file is empty".to_owned()),
    ];
    for (options, message) in rows {
        let (code, err) = attempt(bare().args(options));
        assert_eq!((code, err.lines().count()), (Some(64), 1), "{options:?}: {err}");
        assert!(err.starts_with(&format!("redbolt: {message}")), "{options:?}: {err}");
        assert!(!err.contains(SECRET), "{options:?}: {err}");
    }
}

#[test]
fn a_login_has_one_password_and_one_place() {
    let folder = Folder::new();
    let password = text(write(&folder, "password", SECRET, 0o600));
    let both = format!("nodes = 'a'\npassword = '{SECRET}'\npassword_file = 'password'\n");
    let both = text(write(&folder, "both.toml", &both, 0o600));
    let user = text(write(&folder, "user.toml", "nodes = '127.0.0.1:1'\nuser = 'app'\n", 0o644));
    type Row<'r> = (&'r [&'r str], &'r [(&'r str, &'r str)], i32, String);
    let rows: [Row<'_>; 6] = [
        (
            &["--nodes", "a"],
            &[("REDBOLT_PASSWORD", SECRET), ("REDBOLT_PASSWORD_FILE", &password)],
            64,
            "REDBOLT_PASSWORD and REDBOLT_PASSWORD_FILE are both given: one is possible".to_owned(),
        ),
        (
            &["--config", &both],
            &[],
            64,
            format!("{both}:2: password and {both}:3: password_file are both given: one is"),
        ),
        (
            &["--nodes", "a", "--user", "app"],
            &[],
            64,
            "--user is given, but no password:".to_owned(),
        ),
        (&["--config", &user], &[], 64, format!("{user}:2: user is given, but no password:")),
        // The user may stand where everybody reads, and the password elsewhere.
        (&["--config", &user, "--password-file", &password], &[], 69, "no quorum".to_owned()),
        (&["--config", &user], &[("REDBOLT_PASSWORD", SECRET)], 69, "no quorum".to_owned()),
    ];
    for (options, variables, code, message) in rows {
        let (found, err) = attempt(bare().args(options).envs(variables.iter().copied()));
        assert_eq!(found, Some(code), "{options:?}: {err}");
        assert!(err.starts_with(&format!("redbolt: {message}")), "{options:?}: {err}");
        assert!(!err.contains(SECRET), "{options:?}: {err}");
    }
}
