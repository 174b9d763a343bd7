//! What one file says about names: the items it defines, and every path it writes.

use super::tokens::{Token, tokens};

/// The words that open an item at the level of a module.
const ITEMS: [&str; 10] =
    ["const", "enum", "fn", "impl", "macro_rules", "static", "struct", "trait", "type", "union"];

/// The names of one file.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) items: Vec<Item>,
    /// In the order of the text, the trees of `use` taken apart.
    pub(crate) paths: Vec<Path>,
}

/// An item at the level of a module.
pub(crate) struct Item {
    pub(crate) line: usize,
    /// The inline modules around the item, `log/tests`; empty for the file itself.
    pub(crate) module: String,
    /// An item without a name, as an `impl` is, has its keyword here.
    pub(crate) name: String,
}

/// A path as written, a single word included.
pub(crate) struct Path {
    pub(crate) line: usize,
    /// The inline modules around the path, `log/tests`; empty for the file itself.
    pub(crate) module: String,
    /// Without the `self` or `*` at the end of a `use`.
    pub(crate) segments: Vec<String>,
    pub(crate) kind: Kind,
}

/// What a path is there for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An expression, a type, a pattern, an attribute.
    Inline,
    /// A leaf of a `use`, with the name that it brings in.
    Use(String),
    /// A leaf of a `use` that brings in everything.
    Glob,
}

/// Reads the items and paths of blanked code.
pub(crate) fn names(code: &[String]) -> Names {
    let mut reader =
        Reader { tokens: tokens(code), at: 0, open: Vec::new(), names: Names::default() };
    while reader.at < reader.tokens.len() {
        reader.step();
    }
    reader.names
}

struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    /// The brackets that are open. Those of an inline module have its name.
    open: Vec<Option<&'a str>>,
    names: Names,
}

impl<'a> Reader<'a> {
    /// The text of the token `ahead` tokens from here; empty behind the end.
    fn text(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text)
    }

    fn is_word(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(Token::is_word)
    }

    fn line(&self) -> usize {
        self.tokens[self.at].line
    }

    fn module(&self) -> String {
        self.open.iter().copied().flatten().collect::<Vec<_>>().join("/")
    }

    fn step(&mut self) {
        let text = self.text(0);
        match text {
            // `use<'a>` is a bound of an `impl Trait`, not an import.
            "use" if self.text(1) != "<" => {
                self.at += 1;
                self.tree(&[]);
            }
            "mod" if self.text(2) == "{" => {
                self.open.push(Some(self.text(1)));
                self.at += 3;
            }
            // A declaration is no use of what it declares.
            "mod" if self.text(2) == ";" => self.at += 3,
            // The item is the function.
            "const" if matches!(self.text(1), "fn" | "unsafe" | "async" | "extern") => self.at += 1,
            "{" | "(" | "[" => {
                self.open.push(None);
                self.at += 1;
            }
            "}" | ")" | "]" => {
                self.open.pop();
                self.at += 1;
            }
            _ if ITEMS.contains(&text) && self.open.iter().all(Option::is_some) => self.item(),
            _ if text == "::" || self.is_word(0) => self.path(),
            _ => self.at += 1,
        }
    }

    fn item(&mut self) {
        let keyword = self.text(0);
        // An `impl` names a type that may be defined elsewhere.
        let is_named = keyword != "impl" && self.is_word(1);
        let name = if is_named { self.text(1) } else { keyword };
        let item = Item { line: self.line(), module: self.module(), name: name.to_owned() };
        self.names.items.push(item);
        self.at += 1;
    }

    /// Takes one branch of a `use` tree, up to the `,`, `}` or `;` behind it.
    fn tree(&mut self, prefix: &[String]) {
        let mut segments = prefix.to_vec();
        let mut line = self.tokens.get(self.at).map_or(0, |token| token.line);
        let mut alias = None;
        while self.at < self.tokens.len() && !matches!(self.text(0), "," | "}" | ";") {
            match self.text(0) {
                "{" => {
                    self.at += 1;
                    self.branches(&segments);
                    return;
                }
                "*" => {
                    self.push(line, segments, Kind::Glob);
                    self.at += 1;
                    return;
                }
                "as" => {
                    self.at += 1;
                    alias = Some(self.text(0).to_owned());
                }
                text if self.is_word(0) => {
                    line = self.line();
                    segments.push(text.to_owned());
                }
                _ => {}
            }
            self.at += 1;
        }
        if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
            segments.pop();
        }
        if let Some(name) = alias.or_else(|| segments.last().cloned()) {
            self.push(line, segments, Kind::Use(name));
        }
    }

    /// Takes the branches between the braces of a `use` tree, and the closing brace.
    fn branches(&mut self, prefix: &[String]) {
        while self.at < self.tokens.len() && !matches!(self.text(0), "}" | ";") {
            if self.text(0) == "," {
                self.at += 1;
            } else {
                self.tree(prefix);
            }
        }
        self.at += 1;
    }

    /// Takes a path outside `use`.
    fn path(&mut self) {
        let before = |back: usize| self.at.checked_sub(back).map_or("", |at| self.tokens[at].text);
        // A field, a method, a lifetime, or what follows a generic argument. `..` is a range.
        let is_member = before(1) == "." && before(2) != ".";
        let is_rest = is_member || before(1) == "'" || (before(1) == ">" && self.text(0) == "::");
        let line = self.line();
        let mut segments = Vec::new();
        if self.text(0) == "::" {
            self.at += 1;
        }
        while self.is_word(0) {
            segments.push(self.text(0).to_owned());
            self.at += 1;
            if self.text(0) != "::" {
                break;
            }
            // Behind the `::` before a `<` the path ends too.
            self.at += 1;
        }
        if !is_rest && !segments.is_empty() {
            self.push(line, segments, Kind::Inline);
        }
    }

    fn push(&mut self, line: usize, segments: Vec<String>, kind: Kind) {
        let module = self.module();
        self.names.paths.push(Path { line, module, segments, kind });
    }
}
