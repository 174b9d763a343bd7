//! What the program prints about itself: help, completions, pages of the manual.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output, Stdio};

use crate::support::process::Folder;

const COMMANDS: [&str; 8] =
    ["bench", "check", "exec", "init", "who", "unlock", "completions", "man"];

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
    let words = lines.flat_map(|line| line.split([' ', ',', '=', '[']));
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
        let is_short_help_enough = matches!(command, "completions" | "man");
        assert_eq!(is_long, !is_short_help_enough, "{command}: {short}");
        for option in options(command) {
            let is_there = |end| long.contains(&format!("{option}{end}"));
            assert!([' ', '\n', '['].into_iter().any(is_there), "{command}: {option}");
        }
    }
    for command in ["check", "exec", "init", "bench", "who", "unlock"] {
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
    assert!(error.contains("COMMAND is \"lock\", one of bench, check, exec, init,"), "{error}");
}

/// The columns that `man` leaves for a page, and the indent of a section and of an option.
const PAGE: usize = 78;
const SECTION: usize = 7;
const OPTION: usize = 14;

/// Lines that begin with a space are printed as they are. `man` would go on at the margin with what
/// does not fit.
#[test]
fn a_list_on_a_page_fits_into_eighty_columns() {
    for command in COMMANDS.into_iter().chain([""]) {
        let arguments: Vec<_> =
            ["man", command].into_iter().filter(|word| !word.is_empty()).collect();
        let page = printed(&arguments).replace("\\-", "-");
        let (options, notes) = page.split_once(".SH NOTES").unwrap_or((&page, ""));
        for (text, indent) in [(options, OPTION), (notes, SECTION)] {
            for line in text.lines().filter(|line| line.starts_with(' ')) {
                assert!(line.chars().count() <= PAGE - indent, "{command}: {line}");
            }
        }
    }
}

#[test]
fn a_row_of_a_table_goes_on_below_its_own_column() {
    let folder = Folder::new();
    let path = folder.path().join("redbolt-exec.1");
    fs::write(&path, printed(&["man", "exec"])).expect("the folder is ours");
    let mut groff = Command::new("groff");
    groff.args(["-man", "-Tascii", "-P-cbou", "-rLL=78n"]).arg(&path);
    let Ok(output) = groff.stderr(Stdio::piped()).output() else { return };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let page = String::from_utf8(output.stdout).expect("text");
    let begin = page.find("         quorum_awaited ").expect("the events are on the page");
    let (mut rows, mut others) = (0, 0);
    for line in page[begin..].lines().take_while(|line| !line.is_empty()) {
        assert!(line.len() <= 80, "{line}");
        let (name, text) = line.split_at(SECTION + 2 + 17);
        let is_row = name.starts_with("         ") && name.trim_start().len() + 9 == name.len();
        let is_rest = name.trim().is_empty();
        assert!((is_row || is_rest) && !text.starts_with(' '), "{line}");
        (rows, others) = if is_rest { (rows, others + 1) } else { (rows + 1, others) };
    }
    assert!(rows > 15 && others > 0, "{page}");
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
