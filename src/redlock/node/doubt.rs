//! What a node says unasked: that its keys may be gone (S11).
//!
//! A session that tracks the witness hears of a loss before it reads the first vote that was given
//! without the lost keys. From then on no vote counts until a look, which left later, has shown
//! that the witness is the same.

use super::Node;
use super::inquiry::{Findings, Means, Word};
use super::tracking::Doubt;
use crate::time::Instant;

impl Node {
    /// Counts a push, and returns whether the push may come: the session speaks RESP3, and this is
    /// no flood.
    pub(crate) fn may_push(&mut self, now: Instant) -> bool {
        let speaks_resp3 = match self.handshake() {
            Some(handshake) => handshake.speaks_resp3(),
            None => self.tracking.speaks_resp3,
        };
        speaks_resp3 && self.tracking.count_push(now)
    }

    /// Returns whether the node tells what happens to keys for which the session opts in.
    pub(crate) fn tells(&self) -> bool {
        self.is_ready() && self.tracking.tells()
    }

    /// Takes note that the session opts in for the key of a lock.
    pub(crate) fn count_opt_in(&mut self, locks: usize) {
        self.tracking.count_opt_in(locks);
    }

    /// Takes note that the node does not tell what happens to keys, although it said that it would.
    pub(crate) fn tells_nothing(&mut self) {
        self.tracking.be_silent();
    }

    /// Handles a push about all keys. Returns `true` if the node must be looked at.
    pub(crate) fn heard_of_all_keys(&mut self) -> bool {
        // Who wants no guard believes whatever a node says.
        if self.means == Means::Unwanted {
            return false;
        }
        self.tracking.use_up();
        self.raise_doubt()
    }

    /// Handles a push about the witness. Returns `true` if the node must be looked at.
    pub(crate) fn heard_of_witness(&mut self) -> bool {
        self.tracking.use_up();
        // A client without a right to the witness believes nothing because of the witness.
        self.means == Means::Witness && self.raise_doubt()
    }

    fn raise_doubt(&mut self) -> bool {
        if self.tracking.doubt == Doubt::Raised {
            return false;
        }
        self.tracking.doubt = Doubt::Raised;
        self.doubt();
        true
    }

    /// Stops believing the node until the next look is answered.
    fn doubt(&mut self) {
        self.record.doubt();
        self.pipeline.doubt_votes();
        // While a look is under way, the next one waits for its answer.
        if self.look.is_none() {
            self.look_at = self.tracking.look_at(self.look_at);
        }
    }

    /// Takes the votes from the requests on their way, if the node is in quarantine by what another
    /// node has just told. The node was asked before that was known.
    pub(crate) fn doubt_untold_votes(&mut self, now: Instant) {
        if self.quarantined_until(now).is_some_and(|until| until > now) {
            self.pipeline.doubt_votes();
        }
    }

    /// Ends the doubt if the look that has been judged left behind the push.
    pub(super) fn answer_doubt(&mut self, now: Instant, found: &Findings) {
        match (self.tracking.doubt, found.word) {
            (Doubt::Raised, _) => self.doubt(),
            (Doubt::Asked, Word::Given(_)) => self.tracking.doubt = Doubt::None,
            // The next look will tell.
            (Doubt::None, _) | (Doubt::Asked, Word::Later) => {}
            // Nothing proves that the keys are there.
            (Doubt::Asked, Word::Unasked | Word::Denied) => {
                self.tracking.doubt = Doubt::None;
                self.record.lost_data(now);
            }
        }
    }
}
