//! What shells complete, by the scripts that the program prints and the shells that are here.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::process::Folder;

const REDBOLT: &str = env!("CARGO_BIN_EXE_redbolt");

/// What bash does when TAB is pressed behind these words, the last of which may be empty. The
/// function that `complete` names is looked up, as bash does it.
const BASH: &str = r#"
source ./script
COMP_WORDS=("$@") COMP_CWORD=$(( $# - 1 ))
[[ $(complete -p redbolt) =~ -F\ ([^ ]+) ]]
"${BASH_REMATCH[1]}" redbolt "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
"#;

const FISH: &str = "source ./script; complete -C \"$argv[1]\" | string replace -r '\\t.*' ''";

/// Whether a shell is here.
fn is_here(shell: &str) -> bool {
    let status = Command::new(shell).arg("-c").arg("true").stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// A folder with the script for a shell, and with files to complete.
fn folder(shell: &str) -> Folder {
    let folder = Folder::new();
    let output = Command::new(REDBOLT).args(["completions", shell]).output();
    let script = output.expect("the program runs").stdout;
    for (name, text) in [("script", &script[..]), ("file.toml", b""), ("other", b"")] {
        fs::write(folder.path().join(name), text).expect("the folder is ours");
    }
    folder
}

fn lines(command: &mut Command, folder: &Path) -> Vec<String> {
    let output = command.current_dir(folder).stderr(Stdio::inherit()).output();
    let text = String::from_utf8(output.expect("the shell is here").stdout).expect("text");
    let mut lines: Vec<_> =
        text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// What is possible for the last of these words in bash.
fn in_bash(folder: &Folder, words: &[&str]) -> Vec<String> {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-c", BASH, "bash", "redbolt"]).args(words);
    lines(&mut bash, folder.path())
}

#[test]
fn bash_completes_values_files_and_the_command() {
    if !is_here("bash") {
        return;
    }
    let folder = folder("bash");
    let rows: [(&[&str], &[&str]); 14] = [
        (&["exec", "--log", ""], &["json", "text"]),
        (&["exec", "--log", "j"], &["json"]),
        // The words into which bash takes `--log=j` apart.
        (&["exec", "--log", "=", "j"], &["json"]),
        (&["exec", "--restart-guard", ""], &["durable", "off", "on", "strict"]),
        (&["init", "--restart-guard", "d"], &["durable"]),
        (&["bench", "--restart-guard", "=", "s"], &["strict"]),
        (&["exec", "--expiring-signal", "USR"], &["USR1", "USR2"]),
        (&["exec", "--wait", "f"], &["forever"]),
        (&["exec", "-w", "f"], &["forever"]),
        (&["exec", "--config", "file"], &["file.toml"]),
        (&["exec", "--password-file", "ot"], &["other"]),
        // A duration is no file.
        (&["exec", "--ttl", "file"], &["file"]),
        (&["exec", "r", "--wait-g"], &["--wait-group"]),
        (&["man", "be"], &["bench"]),
    ];
    for (words, expected) in rows {
        assert_eq!(in_bash(&folder, words), expected, "{words:?}");
    }
    for words in [&["exec", "r", "--", "mktem"][..], &["exec", "--log", "json", "r", "--", "mktem"]]
    {
        assert!(in_bash(&folder, words).contains(&"mktemp".to_owned()), "{words:?}");
    }
    // What follows the command is left to bash, which completes files, and is no option of ours.
    assert_eq!(in_bash(&folder, &["exec", "r", "--", "cat", "--wait-g"]), [""; 0]);
}

#[test]
fn bash_leaves_the_command_to_the_completions_that_are_loaded() {
    if !is_here("bash") {
        return;
    }
    let folder = folder("bash");
    for name in ["_command_offset", "_comp_command_offset"] {
        let before = format!("{name}() {{ COMPREPLY=(\"offset $1\"); }}\n{BASH}");
        let mut bash = Command::new("bash");
        bash.args(["--norc", "--noprofile", "-c", &before, "bash", "redbolt"]);
        bash.args(["exec", "-n", "r", "--", "git", "st"]);
        assert_eq!(lines(&mut bash, folder.path()), ["offset 5"], "{name}");
    }
}

#[test]
fn fish_completes_values_files_and_the_command() {
    if !is_here("fish") {
        return;
    }
    let folder = folder("fish");
    let rows: [(&str, &[&str]); 5] = [
        ("exec --log ", &["json", "text"]),
        ("exec --restart-guard d", &["durable"]),
        ("exec --config file", &["file.toml"]),
        ("exec r -- mktem", &["mktemp"]),
        ("exec r -- cat oth", &["other"]),
    ];
    for (line, expected) in rows {
        let mut fish = Command::new("fish");
        fish.args(["-c", FISH]).arg(format!("redbolt {line}"));
        assert_eq!(lines(&mut fish, folder.path()), expected, "{line}");
    }
}

/// zsh completes at a terminal only. What its script says of values is looked at instead.
#[test]
fn the_script_for_zsh_names_values_files_and_the_command() {
    let script = fs::read_to_string(folder("zsh").path().join("script")).expect("text");
    for text in [
        ":FORM:(text json)'",
        ":WHEN:(on strict durable off)'",
        "'--config=[A file with settings, in TOML]:FILE:_files'",
        // Three colons leave the resource out of the words of the command.
        "'*:::command -- What to run, with its arguments:_cmdambivalent'",
    ] {
        assert!(script.contains(text), "{text}: {script}");
    }
}
