//! Lines that fit.

use std::io;

use rustix::termios::tcgetwinsize;

/// The width where nobody says another, and the least that a table can have.
const COLUMNS: usize = 80;
const LEAST: usize = 40;

/// Returns the width of the terminal at standard output; 80 columns without one.
pub(super) fn columns() -> usize {
    // A terminal that does not know its width says 0.
    let columns = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { COLUMNS } else { columns.max(LEAST) }
}

/// Appends a text with its first line behind `head`, broken between words. Other lines are indented
/// by `indent`. A word that is too long for a line has a line of its own.
pub(super) fn wrap(out: &mut String, head: &str, text: &str, indent: usize, columns: usize) {
    out.push_str(head);
    let mut used = width(head);
    let mut is_first = true;
    for word in text.split(' ') {
        let space = usize::from(!is_first);
        if !is_first && used + space + width(word) > columns {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else if !is_first {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += width(word);
        is_first = false;
    }
    out.push('\n');
}

/// Returns the number of columns of a text, whose characters have one column each.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_between_words() {
        let rows = [
            ("- ", "a bb ccc", 80, "- a bb ccc\n"),
            ("- ", "a bb ccc", 9, "- a bb\n  ccc\n"),
            ("- ", "a bb ccc", 10, "- a bb ccc\n"),
            ("- ", "→→→ ccc", 9, "- →→→ ccc\n"),
            ("- ", "longer_than_a_line b", 9, "- longer_than_a_line\n  b\n"),
            ("", "", 9, "\n"),
        ];
        for (head, text, columns, expected) in rows {
            let mut out = String::new();
            wrap(&mut out, head, text, 2, columns);
            assert_eq!(out, expected, "{text:?} in {columns}");
        }
    }
}
