//! Every rule fires on a text that breaks it, and is silent on one that does not.

mod arrows;
mod circles;
mod lines;
mod order;

use crate::modules::{Arrow, Modules};
use crate::source::Source;

/// Paths and texts.
type Tree<'a> = &'a [(&'a str, &'a str)];

fn sources(tree: Tree<'_>) -> Vec<Source> {
    tree.iter().map(|(path, text)| Source::new(path, text)).collect()
}

fn arrows(tree: Tree<'_>) -> Vec<Arrow> {
    Modules::new(&sources(tree)).arrows()
}
