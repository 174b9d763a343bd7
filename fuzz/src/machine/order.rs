//! The order of the numbers that the core has told (S13).
//!
//! A number that a quorum of nodes has really accepted is larger than every such number for the
//! same resource that was told before the request for it left. The nodes may lie, so a number
//! counts here only with a quorum of true answers, from nodes that have forgotten nothing since.

use std::collections::HashMap;

use redbolt::redlock::{Fence, Token};

#[derive(Default)]
pub(super) struct Order {
    told: Vec<Told>,
    /// How many of them a request that leaves now comes after.
    settled: usize,
    /// The same for the last request with each token.
    begun: HashMap<Token, usize>,
    /// The first of them that no node has forgotten.
    first: usize,
}

/// A number that the core has told.
struct Told {
    fence: Fence,
    resources: Vec<&'static [u8]>,
}

impl Order {
    /// A request for a number leaves.
    pub(super) fn begin(&mut self, token: Token) {
        self.begun.insert(token, self.settled);
    }

    /// The requests that leave from now on come after all numbers that were told.
    pub(super) fn settle(&mut self) {
        self.settled = self.told.len();
    }

    /// A node has lost its numbers.
    pub(super) fn lose(&mut self) {
        self.first = self.told.len();
    }

    /// Checks a number that a quorum of nodes has really accepted.
    pub(super) fn tell(&mut self, token: &Token, fence: Fence, resources: &[&'static [u8]]) {
        let begun = *self.begun.get(token).expect("a number that was asked for");
        for earlier in self.told.get(self.first..begun).unwrap_or_default() {
            let has_common = earlier.resources.iter().any(|one| resources.contains(one));
            let before = earlier.fence;
            assert!(!has_common || before < fence, "{fence} comes after {before}");
        }
        self.told.push(Told { fence, resources: resources.to_vec() });
    }
}
