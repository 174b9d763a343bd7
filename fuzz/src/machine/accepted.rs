//! The numbers that one node has told to have accepted (S13).

use std::collections::HashMap;

use redbolt::redlock::{Fence, Token};

#[derive(Default)]
pub(super) struct Accepted {
    /// For each token the numbers, and whether the node has really accepted them, as far as the
    /// node remembers.
    numbers: HashMap<Token, Vec<(Fence, bool)>>,
}

impl Accepted {
    pub(super) fn hear(&mut self, token: Token, fence: Fence, is_true: bool) {
        self.numbers.entry(token).or_default().push((fence, is_true));
    }

    /// Returns whether the node has told to have accepted this number, and whether that is true.
    pub(super) fn find(&self, token: &Token, fence: Fence) -> (bool, bool) {
        let told = self.numbers.get(token).into_iter().flatten();
        let mut told = told.filter(|(number, _)| *number == fence).peekable();
        (told.peek().is_some(), told.any(|(_, is_true)| *is_true))
    }

    /// Begins anew for a lock that draws another number.
    pub(super) fn begin(&mut self, token: &Token) {
        self.numbers.remove(token);
    }

    /// The node has lost all numbers.
    pub(super) fn lose(&mut self) {
        self.numbers.values_mut().flatten().for_each(|(_, is_true)| *is_true = false);
    }
}
