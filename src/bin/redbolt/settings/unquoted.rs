//! The usual mistake in a file of TOML: a text without quotes.
//!
//! The parser of TOML takes `forever` for a `false` that is misspelt, and quotes the whole line,
//! which may have a password. The message here shows a value only if the line is a setting that is
//! no secret, and the value looks like no address.

use toml::Table;

use super::names;

/// The signs with which a value begins that is no bare word.
const BEGINNINGS: [char; 4] = ['"', '\'', '[', '{'];

/// The most characters of a value that are shown.
const MOST_SHOWN: usize = 32;

/// Returns what is wrong with a line, counted from 1, that is no TOML: its value lacks quotes.
/// `None` where the line has another mistake.
pub(super) fn what_is_wrong(text: &str, line: usize) -> Option<String> {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    // Where the lines before are whole, this line does not go on with a value of theirs, such as a
    // password of several lines.
    text[..start].parse::<Table>().ok()?;
    let (name, value) = text[start..].lines().next()?.split_once('=')?;
    let (name, value) = (name.trim(), value.split('#').next()?.trim());
    if name == "nodes" && has_bare_items(value) {
        return Some("nodes needs quotes, as in nodes = [\"…\", \"…\"]".to_owned());
    }
    if !names::known().iter().any(|known| known == name) || value.starts_with(BEGINNINGS) {
        return None;
    }
    if value.is_empty() {
        return Some(format!("{name} has no value"));
    }
    let small = value.to_ascii_lowercase();
    if matches!(&*small, "true" | "false") {
        return Some(format!("{name} = {value}: {small} is possible, in small letters"));
    }
    Some(match may_be_shown(name, value) {
        true => format!("{name} = {value} needs quotes: {name} = \"{value}\""),
        false => format!("{name} needs quotes, as in {name} = \"…\""),
    })
}

/// Whether a value is a list that has items, and no quotes.
fn has_bare_items(value: &str) -> bool {
    let Some(items) = value.strip_prefix('[') else { return false };
    let is_item = |c: char| !matches!(c, ',' | ']') && !c.is_whitespace();
    items.contains(is_item) && !items.contains(['"', '\''])
}

/// Whether a value can be no secret: that of a setting which has none, and nothing like an address.
fn may_be_shown(name: &str, value: &str) -> bool {
    let is_plain =
        |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, ' ' | '.' | '_' | '-');
    let is_secret = matches!(name, "nodes" | "user" | "password" | "password_file" | "prefix");
    !is_secret && value.len() <= MOST_SHOWN && value.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_without_quotes_is_told_where_they_belong() {
        let rows = [
            ("wait = forever", "wait = forever needs quotes: wait = \"forever\""),
            ("  wait=forever # for ever\r", "wait = forever needs quotes: wait = \"forever\""),
            ("ttl = 5s", "ttl = 5s needs quotes: ttl = \"5s\""),
            ("ttl = 1.5m", "ttl = 1.5m needs quotes: ttl = \"1.5m\""),
            ("max_hold = 10 min", "max_hold = 10 min needs quotes: max_hold = \"10 min\""),
            ("log = json", "log = json needs quotes: log = \"json\""),
            ("verbose = True", "verbose = True: true is possible, in small letters"),
            ("verbose = FALSE", "verbose = FALSE: false is possible, in small letters"),
            ("wait =", "wait has no value"),
            ("wait = # later", "wait has no value"),
            ("wait = “forever”", "wait needs quotes, as in wait = \"…\""),
            ("nodes = a", "nodes needs quotes, as in nodes = \"…\""),
            ("nodes = [127.0.0.1:1]", "nodes needs quotes, as in nodes = [\"…\", \"…\"]"),
            ("nodes = [a, redis://:secret@b", "nodes needs quotes, as in nodes = [\"…\", \"…\"]"),
            ("nodes = redis://:secret@a", "nodes needs quotes, as in nodes = \"…\""),
            ("password = secret", "password needs quotes, as in password = \"…\""),
            ("prefix = secret", "prefix needs quotes, as in prefix = \"…\""),
            ("wait = :secret@a", "wait needs quotes, as in wait = \"…\""),
        ];
        for (line, expected) in rows {
            let text = format!("quorum = 2\n\n{line}\nrepair = true\n");
            assert_eq!(what_is_wrong(&text, 3).as_deref(), Some(expected), "{line}");
            assert_eq!(what_is_wrong(line, 1).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn another_mistake_is_left_to_the_parser() {
        for (text, line) in [
            ("nodes = [ , ]", 1),
            ("wait", 1),
            ("wait = \"forever", 1),
            ("wait = 'forever' s", 1),
            ("nodes = ['a'", 1),
            ("wiat = forever", 1),
            // The line may belong to a value that has begun before.
            ("password = \"\"\"\nwait = secret", 2),
            ("nodes = ['a'\nwait = secret", 2),
            ("", 1),
            ("wait = forever", 7),
        ] {
            assert_eq!(what_is_wrong(text, line), None, "{text}");
        }
    }
}
