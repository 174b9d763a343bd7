//! A source file as the rules see it: its text, and its code without comments and literals.

/// One file.
pub(crate) struct Source {
    /// Relative to the root of the repository, with `/`.
    pub(crate) path: String,
    /// The lines as they are.
    pub(crate) lines: Vec<String>,
    /// The same lines, with comments and the contents of literals replaced by spaces.
    pub(crate) code: Vec<String>,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        Self { path: path.replace('\\', "/"), lines: lines(text), code: lines(&blank(text)) }
    }

    pub(crate) fn is_test(&self) -> bool {
        is_test(&self.path)
    }

    /// The index of the first line of a test module at the end of the file, or of its end.
    pub(crate) fn end_of_code(&self) -> usize {
        let mut pairs = self.code.iter().zip(self.code.iter().skip(1));
        pairs
            .position(|(attribute, item)| {
                attribute.trim() == "#[cfg(test)]" && item.contains("mod ") && item.ends_with('{')
            })
            .unwrap_or(self.code.len())
    }
}

/// Whether a file is all test code: it lies in `tests`, or is named as a module of tests.
pub(crate) fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

/// What the next characters belong to.
enum State {
    Code,
    LineComment,
    BlockComment { depth: usize },
    Text,
    RawText { hashes: usize },
}

/// Replaces comments and the contents of literals by spaces; line breaks stay where they are.
fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut state = State::Code;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (len, next) = match state {
            State::Code => token(rest, &out),
            State::LineComment => (first.len_utf8(), (first == '\n').then_some(State::Code)),
            State::BlockComment { depth } => block_comment(rest, depth),
            State::Text if first == '\\' => (first.len_utf8() + escaped_len(rest), None),
            State::Text => (first.len_utf8(), (first == '"').then_some(State::Code)),
            State::RawText { hashes } => raw_text(rest, hashes),
        };
        let in_code = matches!(state, State::Code) && next.is_none();
        let (piece, after) = rest.split_at(len);
        // A character literal is the one token of code that is longer than a character.
        let keep = in_code && piece.chars().count() == 1;
        out.extend(piece.chars().map(|c| if keep || c == '\n' { c } else { ' ' }));
        rest = after;
        state = next.unwrap_or(state);
    }
    out
}

/// How much of the code to take, and the state behind it if it changes.
fn token(rest: &str, before: &str) -> (usize, Option<State>) {
    let joined = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if rest.starts_with("//") {
        return (2, Some(State::LineComment));
    }
    if rest.starts_with("/*") {
        return (2, Some(State::BlockComment { depth: 1 }));
    }
    if rest.starts_with('"') {
        return (1, Some(State::Text));
    }
    let raw = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix));
    if let Some(raw) = raw.filter(|_| !joined) {
        let hashes = raw.bytes().take_while(|&b| b == b'#').count();
        if raw[hashes..].starts_with('"') {
            return (rest.len() - raw.len() + hashes + 1, Some(State::RawText { hashes }));
        }
    }
    let len = rest.chars().next().map_or(0, char::len_utf8);
    if rest.starts_with('\'') { (char_literal_len(rest).unwrap_or(len), None) } else { (len, None) }
}

/// The length of a character literal; `None` for a lifetime.
fn char_literal_len(rest: &str) -> Option<usize> {
    let inside = &rest[1..];
    let first = inside.chars().next()?;
    let len = first.len_utf8() + if first == '\\' { escaped_len(inside) } else { 0 };
    let close = inside[len..].find('\'')?;
    // Behind the first character only the digits of `\x7f` or `\u{…}` may stand.
    (close == 0 || first == '\\').then_some(1 + len + close + 1)
}

/// The length of the character behind a backslash.
fn escaped_len(rest: &str) -> usize {
    rest.chars().nth(1).map_or(0, char::len_utf8)
}

fn block_comment(rest: &str, depth: usize) -> (usize, Option<State>) {
    if rest.starts_with("/*") {
        return (2, Some(State::BlockComment { depth: depth + 1 }));
    }
    if rest.starts_with("*/") {
        let outer = State::BlockComment { depth: depth - 1 };
        return (2, Some(if depth == 1 { State::Code } else { outer }));
    }
    (rest.chars().next().map_or(0, char::len_utf8), None)
}

fn raw_text(rest: &str, hashes: usize) -> (usize, Option<State>) {
    let ends = rest
        .strip_prefix('"')
        .is_some_and(|tail| tail.bytes().take_while(|&b| b == b'#').take(hashes).count() == hashes);
    if ends {
        (1 + hashes, Some(State::Code))
    } else {
        (rest.chars().next().map_or(0, char::len_utf8), None)
    }
}
