//! Blanked code as tokens: words, `::`, and every other character alone.

/// A token and the line where it stands.
pub(crate) struct Token<'a> {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) text: &'a str,
}

impl Token<'_> {
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(is_part_of_word)
    }
}

/// Takes the lines of [`Source::code`](super::source::Source) apart.
pub(crate) fn tokens(code: &[String]) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (index, line) in code.iter().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let len = if is_part_of_word(first) {
                rest.find(|c| !is_part_of_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            let (text, after) = rest.split_at(len);
            tokens.push(Token { line: index + 1, text });
            rest = after.trim_start();
        }
    }
    tokens
}

fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
