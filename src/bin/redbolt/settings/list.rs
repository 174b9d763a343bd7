//! A file with a list of nodes: `--nodes @FILE`.

use std::path::Path;

use redbolt::Address;

use super::file::{LARGEST, Text};

/// What makes the rest of a line a comment: at the start of the line or behind a space, because a
/// password may have it.
const COMMENT: char = '#';

/// Reads a list of nodes, separated by commas, lines or both. Returns the list as one text with
/// commas. The error names the line.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let file = Text::read(path, LARGEST).map_err(|error| error.to_string())?;
    let path = path.display();
    let (list, lines) = join(&file.text);
    if list.is_empty() {
        return Err(format!("{path} has no nodes"));
    }
    let nodes = Address::parse_list(&list).map_err(|error| {
        // The first address that cannot be parsed alone is the one of the error.
        let wrong = list.split(',').position(|node| node.parse::<Address>().is_err());
        match wrong.and_then(|place| lines.get(place)) {
            Some(line) => format!("{path}:{line}: {error}"),
            None => format!("{path}: {error}"),
        }
    })?;
    if nodes.iter().any(|node| node.login().password.is_some()) {
        file.check_private().map_err(|error| error.to_string())?;
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
