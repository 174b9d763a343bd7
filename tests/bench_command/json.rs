//! What `--json` prints: its figures, and its shape, in which the order of the keys counts too.

use std::process::Output;

use serde_json::Value;

use crate::run::text;

/// The one line of JSON of a run that went well, and had nobody to tell anything but that.
pub(crate) fn json(output: Output) -> String {
    let (stdout, stderr) = text(output, 0);
    assert_eq!(beside_announcement(&stderr), "");
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

/// The number at the end of this path of keys.
pub(crate) fn number(json: &str, keys: &[&str]) -> f64 {
    let object: Value = serde_json::from_str(json).expect("it prints JSON");
    let value = keys.iter().fold(&object, |value, key| &value[*key]);
    value.as_f64().unwrap_or_else(|| panic!("no number at {keys:?}: {json}"))
}

/// What a run has said, without the announcement of its load and its nodes.
pub(crate) fn beside_announcement(said: &str) -> String {
    let is_announced = |line: &&str| !line.contains(" on ") && !line.starts_with("  ");
    said.lines().filter(is_announced).map(|line| format!("{line}\n")).collect()
}
