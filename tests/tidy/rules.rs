//! The rules about a single file.

use super::source::Source;
use super::{Finding, purity};

const MAX_COLUMNS: usize = 100;
const MAX_FUNCTION_LINES: usize = 70;
const MAX_CORE_FILE_LINES: usize = 400;

/// Forbidden in code, with the reason.
const UNFINISHED: [(&str, &str); 4] = [
    ("todo!", "is unfinished"),
    ("unimplemented!", "is unfinished"),
    ("dbg!", "prints to whoever happens to listen"),
    ("#[ignore", "switches a test off: repair it or delete it"),
];

/// Forbidden in comments too. Written in two pieces, because this is a source as well.
const NOTE_TO_SELF: &str = concat!("FIX", "ME");

/// Everything that is wrong with a file, in the order of its lines.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(long_lines(source));
    findings.extend(long_functions(source));
    findings.extend(long_core_file(source));
    findings.extend(missing_module_docs(source));
    findings.extend(unexplained_panics(source));
    findings.extend(unfinished(source));
    findings.extend(purity::check(source));
    findings.sort_by_key(|finding| finding.line);
    findings
}

fn long_lines(source: &Source) -> Vec<Finding> {
    let columns = source.lines.iter().map(|line| line.chars().count());
    let long = columns.enumerate().filter(|&(_, columns)| columns > MAX_COLUMNS);
    long.map(|(index, columns)| {
        Finding::new(index + 1, format!("{columns} columns, more than {MAX_COLUMNS}"))
    })
    .collect()
}

/// From the line with `fn` to the line with the closing brace, both counted.
fn long_functions(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.code.iter().enumerate() {
        let Some((column, name)) = function_name(line) else {
            continue;
        };
        let lines = body_lines(&source.code[index..], column);
        if lines > MAX_FUNCTION_LINES {
            let what = format!("{name} has {lines} lines, more than {MAX_FUNCTION_LINES}");
            findings.push(Finding::new(index + 1, what));
        }
    }
    findings
}

/// The column of `fn` and the name of the function; `None` for a type such as `fn(u8)`.
fn function_name(line: &str) -> Option<(usize, &str)> {
    let column = if line.starts_with("fn ") { 0 } else { line.find(" fn ")? + 1 };
    let rest = &line[column + 3..];
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!name.is_empty()).then_some((column, name))
}

/// How many lines there are up to the end of the body, or of a declaration without one.
fn body_lines(code: &[String], column: usize) -> usize {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (index, line) in code.iter().enumerate() {
        let start = if index == 0 { column } else { 0 };
        for c in line[start..].chars() {
            match c {
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets = brackets.saturating_sub(1),
                '{' => braces += 1,
                '}' if braces <= 1 => return index + 1,
                '}' => braces -= 1,
                ';' if braces == 0 && brackets == 0 => return index + 1,
                _ => {}
            }
        }
    }
    code.len()
}

/// The tests inside a file are counted, files of tests are not looked at.
fn long_core_file(source: &Source) -> Option<Finding> {
    let lines = source.lines.len();
    let is_core = purity::core_layer(&source.path).is_some() && !source.is_test();
    (is_core && lines > MAX_CORE_FILE_LINES).then(|| {
        let what = format!("a file of the core has {lines} lines, more than {MAX_CORE_FILE_LINES}");
        Finding::new(MAX_CORE_FILE_LINES + 1, what)
    })
}

fn missing_module_docs(source: &Source) -> Option<Finding> {
    let is_folder = source.path.ends_with("/mod.rs");
    let has_docs = source.lines.first().is_some_and(|line| line.starts_with("//!"));
    (is_folder && !has_docs).then(|| {
        Finding::new(1, "a folder opens with `//!`: what it knows, what it must never know")
    })
}

/// Only of the library and its programs: in a test a panic is how it fails.
fn unexplained_panics(source: &Source) -> Vec<Finding> {
    if !source.path.starts_with("src/") || source.is_test() {
        return Vec::new();
    }
    let code = &source.code[..source.end_of_code()];
    let panics = code.iter().enumerate().filter(|(index, line)| {
        (line.contains(".unwrap()") || line.contains(".expect(")) && !is_explained(source, *index)
    });
    let what = "may panic and no comment beside or above the statement says why it cannot";
    panics.map(|(index, _)| Finding::new(index + 1, what)).collect()
}

/// Whether there is a comment on the line, inside its statement before it, or right above that.
fn is_explained(source: &Source, index: usize) -> bool {
    if is_commented(source, index) {
        return true;
    }
    for above in (0..index).rev() {
        let code = source.code[above].trim_end();
        if is_commented(source, above) {
            return true;
        }
        if code.is_empty() || code.ends_with([';', '{', '}']) {
            return false;
        }
    }
    false
}

/// Whether the line carries an ordinary comment; documentation explains the item, not this line.
fn is_commented(source: &Source, index: usize) -> bool {
    let (line, code) = (&source.lines[index], &source.code[index]);
    // Comments are blanked out, so a comment is what has vanished from its `//` to the end.
    line.match_indices("//").any(|(at, _)| {
        let column = line[..at].chars().count();
        let vanished = code.chars().skip(column).all(|c| c == ' ');
        let is_doc = line[at..].starts_with("///") || line[at..].starts_with("//!");
        vanished && !is_doc && line[at + 2..].trim().len() > 1
    })
}

fn unfinished(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, (line, code)) in source.lines.iter().zip(&source.code).enumerate() {
        if line.contains(NOTE_TO_SELF) {
            findings.push(Finding::new(index + 1, format!("{NOTE_TO_SELF} is unfinished")));
        }
        let broken = UNFINISHED.iter().filter(|(word, _)| code.contains(word));
        findings.extend(broken.map(|(w, why)| Finding::new(index + 1, format!("{w} {why}"))));
    }
    findings
}
