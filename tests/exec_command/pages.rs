//! What the program prints about itself: help, completions, pages of the manual.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output, Stdio};

use crate::support::process::Folder;

const COMMANDS: [&str; 5] = ["bench", "exec", "init", "completions", "man"];

fn redbolt(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_redbolt")).args(arguments).output();
    output.expect("the program runs")
}

fn printed(arguments: &[&str]) -> String {
    let output = redbolt(arguments);
    assert!(output.status.success(), "{arguments:?}: {:?}", output.status);
    assert_eq!(output.stderr, b"", "{arguments:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The options of a command, as its help names them.
fn options(command: &str) -> BTreeSet<String> {
    let help = printed(&[command, "-h"]);
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| line.split([' ', ',', '=']));
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

#[test]
fn help_is_short_with_h_and_whole_with_help_and_never_wide() {
    for command in COMMANDS {
        let (short, long) = (printed(&[command, "-h"]), printed(&[command, "--help"]));
        for line in short.lines().chain(long.lines()) {
            assert!(line.chars().count() <= 100, "{command}: {line}");
        }
        let is_long = long.lines().count() > 2 * short.lines().count();
        assert_eq!(is_long, matches!(command, "bench" | "exec" | "init"), "{command}: {short}");
        for option in options(command) {
            assert!(long.contains(&format!("{option} ")) || long.contains(&format!("{option}\n")));
        }
    }
    for command in ["exec", "init", "bench"] {
        assert!(printed(&[command, "-h"]).contains("Examples:"), "{command}");
    }
    assert!(options("exec").len() > 15, "{:?}", options("exec"));
}

#[test]
fn every_option_of_exec_that_a_script_sets_has_a_variable() {
    let help = printed(&["exec", "--help"]);
    let only_options = ["--help", "--no-wait"];
    let texts: Vec<_> = help.split("\n\n").collect();
    for option in options("exec").iter().filter(|option| !only_options.contains(&option.as_str())) {
        let begin = |text: &&&str| {
            let first = text.lines().find(|line| line.trim_start().starts_with('-'));
            first.is_some_and(|line| line.split(' ').any(|word| word == option))
        };
        let text = texts.iter().find(begin).unwrap_or_else(|| panic!("{option} has no text"));
        assert!(text.contains("REDBOLT_"), "{option}: {text}");
    }
}

#[test]
fn every_command_has_a_page_that_names_its_options() {
    let folder = Folder::new();
    let dir = folder.path().join("man");
    let dir = dir.to_str().expect("the name of a test's folder is text");
    assert_eq!(printed(&["man", "--dir", dir]), "");
    for command in COMMANDS {
        let page = fs::read_to_string(format!("{dir}/redbolt-{command}.1")).expect("a page");
        assert_eq!(page, printed(&["man", command]));
        for option in options(command) {
            let escaped = option.replace('-', "\\-");
            assert!(page.contains(&escaped), "{command}: {option} is not on the page");
        }
    }
    let page = fs::read_to_string(format!("{dir}/redbolt.1")).expect("a page");
    assert_eq!(page, printed(&["man"]));
    for command in COMMANDS {
        assert!(page.contains(&format!("redbolt\\-{command}(1)")), "{command}: {page}");
    }
    let output = redbolt(&["man", "lock"]);
    assert_eq!(output.status.code(), Some(64));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("COMMAND is \"lock\", one of bench, exec, init,"), "{error}");
}

#[test]
fn every_shell_gets_a_script_that_names_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for word in COMMANDS.iter().chain(&["unavailable-exit-code", "password-file"]) {
            assert!(script.contains(word), "{shell} has no {word}");
        }
        // The shells that are here read their script, and run nothing of it.
        if matches!(shell, "bash" | "fish" | "zsh") {
            let folder = Folder::new();
            let path = folder.path().join("script");
            fs::write(&path, &script).expect("the folder is ours");
            let read = Command::new(shell).arg("-n").arg(&path).stderr(Stdio::piped()).output();
            let Ok(output) = read else { continue };
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && error.is_empty(), "{shell}: {error}");
        }
    }
    let output = redbolt(&["completions", "csh"]);
    assert_eq!(output.status.code(), Some(64));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("one of bash, elvish, fish, powershell, zsh is possible"), "{error}");
}
