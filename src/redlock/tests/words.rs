//! Commands as words that a test can compare.

use super::*;

/// The scripts, and how they are called here. A script that goes by its text has `-text` behind its
/// name.
const SCRIPTS: [(Script, &str); 15] = [
    (RELEASE, "release"),
    (RELEASE_MANY, "release-many"),
    (RELEASE_SET, "release-set"),
    (EXTEND, "extend"),
    (EXTEND_MANY, "extend-many"),
    (EXTEND_SET, "extend-set"),
    (ACQUIRE_SET, "acquire-set"),
    (HOLDER, "holder"),
    (ACQUIRE_FENCED, "acquire-fenced"),
    (ACQUIRE_FENCED_MANY, "acquire-fenced-many"),
    (ACQUIRE_FENCED_SET, "acquire-fenced-set"),
    (DRAW, "draw"),
    (DRAW_SET, "draw-set"),
    (RAISE, "raise"),
    (RAISE_SET, "raise-set"),
];

/// Shortens the script of a look, which is told by its words before.
pub(super) fn short(word: &str) -> &str {
    match word {
        word if word == LOOK.sha => "look",
        word if word == LOOK.text => "look-text",
        word => word,
    }
}

/// Returns a word of a command: a token by the serial of its attempt, a script by its name.
pub(super) fn word(part: &Value<'_>) -> String {
    let Value::Bulk(bytes) = part else { panic!("a command has only bulk strings") };
    if let Some(serial) = bytes.strip_prefix(&NONCE) {
        let serial = serial.try_into().expect("a token has twenty bytes");
        return format!("#{}", u64::from_be_bytes(serial));
    }
    let text = String::from_utf8_lossy(bytes);
    named(&text).unwrap_or_else(|| text.into_owned())
}

/// Returns the SHA-1 of the script that this command loads.
pub(super) fn loaded(command: &str) -> Option<&'static str> {
    let text = command.strip_prefix("SCRIPT LOAD ")?;
    let script = wire::script::ALL
        .iter()
        .find(|script| named(script.text).as_deref().unwrap_or(script.text) == text);
    script.map(|script| script.sha)
}

/// Returns the name of a script that is given by its SHA-1 or its text.
fn named(script: &str) -> Option<String> {
    SCRIPTS.iter().find_map(|(known, name)| match script {
        sha if sha == known.sha => Some((*name).to_owned()),
        text if text == known.text => Some(format!("{name}-text")),
        _ => None,
    })
}
