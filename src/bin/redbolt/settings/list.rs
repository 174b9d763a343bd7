//! A file with a list of nodes: `--nodes @FILE`.

use std::path::Path;

use redbolt::Address;

use super::file::{LARGEST, Text};

/// What makes the rest of a line a comment: at the start of the line or behind a space, because a
/// password may have it.
const COMMENT: char = '#';

/// What a path stands behind in the place of a list.
pub(super) const FILE: char = '@';

/// What is said where spaces or semicolons separate nodes.
const COMMAS: &str =
    "commas separate nodes, and neither spaces nor semicolons: HOST:PORT,HOST:PORT,…";

/// Parses a list of nodes, separated by commas. The error shows nothing of a login.
pub(super) fn parse(list: &str) -> Result<Vec<Address>, String> {
    Address::parse_list(list).map_err(|error| {
        let is_separated = is_several(list) && list.split(',').any(is_several);
        if is_separated { COMMAS.to_owned() } else { error.to_string() }
    })
}

/// Whether a text is no address, but has several, whatever separates them. A password in which
/// there is a separator is not taken for two nodes, because the parts would be no addresses.
pub(super) fn is_several(text: &str) -> bool {
    let is_separator = |sign: char| sign.is_whitespace() || matches!(sign, ',' | ';');
    let mut parts = text.split(is_separator).filter(|part| !part.is_empty());
    text.parse::<Address>().is_err()
        && parts.clone().count() > 1
        && parts.all(|part| part.parse::<Address>().is_ok())
}

/// Reads a list of nodes, separated by commas, lines or both. Returns the list as one text with
/// commas. The error names the line.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let file = Text::read(path, LARGEST).map_err(|error| error.to_string())?;
    let path = path.display();
    let (list, lines) = join(&file.text);
    if list.is_empty() {
        return Err(format!("{path} has no nodes"));
    }
    let nodes = parse(&list).map_err(|error| {
        // The first address that cannot be parsed alone is the one of the error.
        let wrong = list.split(',').position(|node| node.parse::<Address>().is_err());
        match wrong.and_then(|place| lines.get(place)) {
            Some(line) => format!("{path}:{line}: {error}"),
            None => format!("{path}: {error}"),
        }
    })?;
    if nodes.iter().any(|node| node.login().password.is_some()) {
        file.check_private("a password").map_err(|error| error.to_string())?;
    }
    Ok(list)
}

/// Joins the lines of a file to one list. Returns the list, and the line of each of its nodes,
/// counted from 1. A comma at the end of a line does not count.
fn join(text: &str) -> (String, Vec<usize>) {
    let (mut list, mut lines) = (String::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let line = without_comment(line).trim();
        let nodes = line.strip_suffix(',').unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            list.push(',');
        }
        list.push_str(nodes);
        lines.extend(nodes.split(',').map(|_| index + 1));
    }
    (list, lines)
}

fn without_comment(line: &str) -> &str {
    let is_comment =
        |(at, _): &(usize, &str)| line[..*at].chars().next_back().is_none_or(char::is_whitespace);
    let comment = line.match_indices(COMMENT).find(is_comment);
    comment.map_or(line, |(at, _)| &line[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_something_else_separates_are_told_of_commas() {
        for list in [
            "a b",
            "a;b",
            "a:1 b:2",
            "127.0.0.1:1;127.0.0.1:2",
            " a:1 ; b:2\tc ",
            "a, b c",
            "redis://:secret@a redis://:secret@b",
            "redis://u:secret@a:1/2;redis://u:secret@b",
        ] {
            assert_eq!(parse(list), Err(COMMAS.to_owned()), "{list}");
        }
        // The separator may be in a password, and a part may be wrong.
        for list in [
            "redis://:se cret@a:0",
            "redis://:a;b@h:x",
            "redis://:se,c ret,d@a",
            "a b:0",
            "a,,b",
            ";",
            "a;",
            "a@b",
        ] {
            let error = Address::parse_list(list).expect_err(list).to_string();
            assert_eq!(parse(list), Err(error), "{list}");
        }
        assert_eq!(parse("a, b").map(|nodes| nodes.len()), Ok(2));
        assert_eq!(parse("redis://:a;b c@h").map(|nodes| nodes.len()), Ok(1));
    }

    #[test]
    fn lines_and_commas_separate_nodes() {
        let rows: [(&str, &str, &[usize]); 10] = [
            ("", "", &[]),
            ("# none\n\n", "", &[]),
            ("a", "a", &[1]),
            ("a,b\nc\n", "a,b,c", &[1, 1, 2]),
            ("a,\nb,\r\nc,\n", "a,b,c", &[1, 2, 3]),
            ("\n# rack 1\n  a:7000  # the first\n\tb#x\n", "a:7000,b#x", &[3, 4]),
            ("redis://:p#w@a # b\n", "redis://:p#w@a", &[1]),
            // Two commas have no node between them, which is a mistake as in every list.
            ("a,,b", "a,,b", &[1, 1, 1]),
            (",\na", ",a", &[1, 2]),
            ("a\n,\nb", "a,,b", &[1, 2, 3]),
        ];
        for (text, list, lines) in rows {
            assert_eq!(join(text), (list.to_owned(), lines.to_vec()), "{text:?}");
        }
    }
}
