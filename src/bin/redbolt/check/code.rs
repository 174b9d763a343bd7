//! The exit codes of `redbolt check`.

use redbolt::CheckVerdict;

use crate::exit;

/// A quorum can vote, but not every node.
const NOT_ALL: u8 = 1;

/// Returns the exit code. What keeps no node from voting has no influence.
pub(super) fn of(verdict: &CheckVerdict) -> u8 {
    match (verdict.has_quorum(), verdict.is_complete()) {
        (false, _) => exit::NO_QUORUM,
        (true, false) => NOT_ALL,
        (true, true) => 0,
    }
}
