//! What is said of a variable or a file that many write in this way.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use super::run::{Run, exec};
use crate::support::process::Folder;

const SECRET: &str = "tops3cret";

/// A node that is not there: 69 says that all settings could be used.
pub(crate) const NOBODY: &str = "127.0.0.1:1";

/// `redbolt exec` without nodes.
pub(crate) fn bare() -> Command {
    let mut command = exec(&[]);
    command.env_remove("REDBOLT_NODES");
    command
}

/// The exit code and the message of one attempt with these options.
fn attempt(command: &mut Command) -> (Option<i32>, String) {
    let outcome = Run::start(command.args(["--no-wait", "r", "--", "true"])).finish();
    (outcome.status.code(), outcome.err)
}

/// Writes a file that only we may open, and returns its path.
pub(crate) fn write(folder: &Folder, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    // A file of an earlier row may be no text.
    _ = fs::remove_file(&path);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let written = file.and_then(|mut file| file.write_all(content.as_ref()));
    written.expect("the folder is ours");
    path.to_str().expect("the name of a test's folder is text").to_owned()
}

#[test]
fn a_value_without_quotes_in_a_file_is_told_where_they_belong() {
    let folder = Folder::new();
    for (line, message) in [
        ("wait = forever", "wait = forever needs quotes: wait = \"forever\""),
        ("max_ttl = 20s", "max_ttl = 20s needs quotes: max_ttl = \"20s\""),
        ("verbose = True", "verbose = True: true is possible, in small letters"),
        ("password = tops3cret", "password needs quotes, as in password = \"…\""),
        ("nodes = redis://:tops3cret@a,b", "nodes needs quotes, as in nodes = \"…\""),
    ] {
        let file = write(&folder, "f.toml", format!("quorum = 1\n\n{line}\n"));
        let (code, err) = attempt(bare().args(["--config", &file]));
        let expected = format!("redbolt: --config: {file}:3: {message}\n");
        assert_eq!((code, err), (Some(64), expected), "{line}");
    }
}

#[test]
fn nodes_that_something_else_than_commas_separates_are_told_of_commas() {
    const MESSAGE: &str = "commas separate nodes, and neither spaces nor semicolons:";
    let folder = Folder::new();
    for list in [
        "127.0.0.1:1 127.0.0.1:2",
        "127.0.0.1:1;127.0.0.1:2",
        "a b",
        "redis://:tops3cret@a redis://u:tops3cret@b:7000/1",
        "redis://:tops3cret@a;redis://:tops3cret@b",
    ] {
        let text = write(&folder, "text.toml", format!("quorum = 1\nnodes = '{list}'\n"));
        let file = write(&folder, "list", format!("# mine\n\n{list}\n"));
        let at = format!("@{file}");
        for (mut command, place) in [
            (bare(), "--nodes: "),
            (bare(), "REDBOLT_NODES: "),
            (bare(), &*format!("--config: {text}:2: nodes: ")),
            (bare(), &*format!("--nodes: {file}:3: ")),
        ] {
            match place {
                "--nodes: " => command.args(["--nodes", list]),
                "REDBOLT_NODES: " => command.env("REDBOLT_NODES", list),
                place if place.starts_with("--config") => command.args(["--config", &text]),
                _ => command.args(["--nodes", &at]),
            };
            let (code, err) = attempt(&mut command);
            assert_eq!(code, Some(64), "{err}");
            assert!(err.starts_with(&format!("redbolt: {place}{MESSAGE}")), "{place}: {err}");
            assert!(!err.contains(SECRET), "{err}");
        }
        let array = write(&folder, "array.toml", format!("nodes = ['c', '{list}']\n"));
        let (code, err) = attempt(bare().args(["--config", &array]));
        assert_eq!(code, Some(64), "{err}");
        assert!(err.contains(&format!("{array}:1: nodes: text 2 has several nodes: nodes = [")));
        assert!(!err.contains(SECRET), "{err}");
    }
}

#[test]
fn a_file_may_name_the_file_of_its_nodes_which_lies_beside_it() {
    let folder = Folder::new();
    let list = write(&folder, "list", format!("# rack 1\nredis://:{SECRET}@{NOBODY}\n"));
    let file = write(&folder, "f.toml", "nodes = '@list'\n");
    // The command runs in a folder of its own. The file itself has no password, and may be open.
    open_to_others(&file);
    let (code, err) = attempt(bare().args(["--config", &file]));
    assert_eq!(code, Some(69), "{err}");
    assert!(err.contains(NOBODY) && !err.contains(SECRET), "{err}");
    // An option and a variable go before the file, whose list is not read then.
    let absent = write(&folder, "absent.toml", "\nnodes = '@absent'\n");
    let (code, err) = attempt(bare().args(["--config", &absent]));
    assert_eq!(code, Some(64), "{err}");
    let path = folder.path().join("absent");
    let message = format!("redbolt: {absent}:2: nodes: cannot read {}: No such", path.display());
    assert!(err.starts_with(&message), "{err}");
    assert_eq!(attempt(bare().args(["--config", &absent, "--nodes", NOBODY])).0, Some(69));
    let mut command = bare();
    command.args(["--config", &absent]).env("REDBOLT_NODES", NOBODY);
    assert_eq!(attempt(&mut command).0, Some(69));

    for (text, message) in [
        ("nodes = ['a', '@list']", ":1: nodes: a file stands alone: nodes = \"@FILE\"\n"),
        ("nodes = '@'", ":1: nodes: a file is needed behind the @\n"),
        ("nodes = '@-'", ":1: nodes: standard input is not read: name a file, such as"),
    ] {
        let file = write(&folder, "wrong.toml", text);
        let (code, err) = attempt(bare().args(["--config", &file]));
        assert_eq!(code, Some(64), "{err}");
        assert!(err.contains(&format!("{file}{message}")), "{text}: {err}");
    }
    open_to_others(&list);
    let (code, err) = attempt(bare().args(["--config", &file]));
    assert_eq!(code, Some(64), "{err}");
    assert!(err.contains("list has a password and is open to others"), "{err}");
}

fn open_to_others(path: impl AsRef<Path>) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("the file is ours");
}

#[test]
fn an_unknown_variable_is_told_those_of_every_option() {
    let (code, err) = attempt(bare().env("REDBOLT_XYZZYXYZZY", "1"));
    assert_eq!(code, Some(64), "{err}");
    let names = err.trim_end().split_once(" is not a setting, but these are: ");
    let names: Vec<_> = names.expect("the names follow").1.split(", ").collect();
    let help = Command::new(env!("CARGO_BIN_EXE_redbolt")).args(["exec", "--help"]).output();
    let help = String::from_utf8(help.expect("the program runs").stdout).expect("text");
    let words = help.split(|sign: char| !sign.is_ascii_uppercase() && sign != '_');
    // Those that the command is told.
    let of_command = ["REDBOLT_RESOURCE", "REDBOLT_TOKEN", "REDBOLT_FENCE"];
    let named = words.filter(|word| word.len() > "REDBOLT_".len() && word.starts_with("REDBOLT_"));
    let named: Vec<_> = named.filter(|word| !of_command.contains(word)).collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        assert!(names.contains(&name), "{name}: {err}");
    }
}

#[test]
fn the_marks_and_line_ends_of_other_systems_do_not_count() {
    const MARK: &str = "\u{feff}";
    let folder = Folder::new();
    let list = format!("@{}", write(&folder, "list", format!("{MARK}{NOBODY}\r\n# end\r\n")));
    let file = format!("{MARK}nodes = '{NOBODY}'\r\nwait = '0s'\r\n");
    let file = write(&folder, "f.toml", file);
    let long = "x".repeat(16_384);
    let password = write(&folder, "pw", format!("{MARK}{long}\r\n"));
    for options in [
        &["--nodes", &*list][..],
        &["--config", &file],
        &["--nodes", NOBODY, "--password-file", &password],
    ] {
        let (code, err) = attempt(bare().args(options));
        assert_eq!(code, Some(69), "{options:?}: {err}");
    }
    let wide: Vec<_> = "\u{feff}a".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = write(&folder, "wide", wide);
    let empty = write(&folder, "empty", format!("{MARK}\r\n"));
    for (options, message) in [
        (["--config", &wide], format!("--config: {wide} is UTF-16: write it in UTF-8")),
        (["--password-file", &wide], format!("--password-file: {wide} is UTF-16: write it in")),
        (["--password-file", &empty], format!("--password-file: {empty} is empty")),
    ] {
        let (code, err) = attempt(bare().args(options).args(["--nodes", NOBODY]));
        assert_eq!(code, Some(64), "{err}");
        assert!(err.starts_with(&format!("redbolt: {message}")), "{err}");
    }
}

/// What a shell makes of `<(…)`, and a pipe with a name, to which a manager of secrets writes.
#[test]
fn a_pipe_is_read_as_a_file_is() {
    let folder = Folder::new();
    let path = folder.path().join("pipe");
    let script = "\"$0\" exec --nodes 127.0.0.1:1 --password-file <(echo tops3cret) \
                  --config <(echo 'quorum = 1') -n r -- true";
    let mut bash = Command::new("bash");
    bash.args(["-c", script, env!("CARGO_BIN_EXE_redbolt")]);
    if Path::new("/bin/bash").exists() {
        Run::start(&mut bash).finish().assert_code(69);
    }
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .expect("the folder is ours");
    let mut command = bare();
    command.arg("--config").arg(&path).args(["--no-wait", "r", "--", "true"]);
    let run = Run::start(&mut command);
    // The writer waits until the pipe is opened, and the reader waits for what is written.
    let writer = thread::spawn(move || fs::write(path, format!("nodes = '{NOBODY}'\n")));
    run.finish().assert_code(69);
    writer.join().expect("it has written").expect("somebody reads");
}
