//! What `--json` prints, looked at without a parser.

use std::process::Output;

use crate::run::text;

/// The one line of JSON of a run that went well, and had nobody to tell anything but that.
pub(crate) fn json(output: Output) -> String {
    let (stdout, stderr) = text(output, 0);
    assert_eq!(stderr, "");
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    stdout.trim_end().to_owned()
}

/// The text with every number outside of strings replaced by `#`.
pub(crate) fn shape(json: &str) -> String {
    let mut shape = String::new();
    let mut in_string = false;
    for c in json.chars() {
        in_string ^= c == '"';
        if in_string || !(c.is_ascii_digit() || c == '.') {
            shape.push(c);
        } else if !shape.ends_with('#') {
            shape.push('#');
        }
    }
    shape
}

/// The number behind the last of these keys, each looked for behind the one before.
pub(crate) fn number(json: &str, keys: &[&str]) -> f64 {
    let behind = |rest, key: &&str| {
        let (_, rest) = str::split_once(rest, &format!("\"{key}\":")).expect("the key is there");
        rest
    };
    let rest = keys.iter().fold(json, behind);
    let end = rest.find([',', '}']).expect("a number ends");
    rest[..end].parse().expect("a number")
}
