//! Texts as lines that fit a terminal.

use std::fmt::Write as _;

/// The columns of a line, as far as its words allow.
const WIDTH: usize = 80;

/// Lines that are broken between words.
#[derive(Default)]
pub(crate) struct Lines(String);

impl Lines {
    /// Adds a text that begins in this column. Further lines begin two columns to the right.
    pub(crate) fn add(&mut self, indent: usize, text: &str) {
        let mut column = indent;
        // A string takes everything.
        _ = write!(self.0, "{:indent$}", "");
        for (place, word) in text.split(' ').enumerate() {
            let len = word.chars().count();
            if place > 0 && column + 1 + len > WIDTH {
                column = indent + 2;
                _ = write!(self.0, "\n{:column$}", "");
            } else if place > 0 {
                self.0.push(' ');
                column += 1;
            }
            self.0.push_str(word);
            column += len;
        }
        self.0.push('\n');
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_longer_than_a_terminal_if_its_words_are_not() {
        let mut lines = Lines::default();
        lines.add(2, &"four ".repeat(40));
        assert!(lines.0.lines().all(|line| line.len() <= WIDTH), "{}", lines.0);
        assert!(lines.0.lines().skip(1).all(|line| line.starts_with("    four")), "{}", lines.0);
        let mut lines = Lines::default();
        lines.add(0, &"x".repeat(100));
        assert_eq!(lines.0, "x".repeat(100) + "\n");
    }
}
