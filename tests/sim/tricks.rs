//! Saboteurs that need no other core: the caller, the driver or a master breaks the rule instead.
//!
//! Each shows that one of the checks can fail.

use redbolt::redlock::RedlockConfig;
use std::time::Duration;

use crate::options::Options;

/// A rule that the world around the core breaks, while the checks believe otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(redbolt_sabotage), allow(dead_code, reason = "only saboteurs are up to tricks"))]
pub(crate) enum Trick {
    /// Clients ask again as soon as they may, whatever the settings say.
    PollsBlindly,
    /// Clients leave no resource to others.
    TenureIgnored,
    /// Clients forget their prefix.
    PrefixForgotten,
    /// Masters delete whatever stands under the name of a lock that is released.
    StrangerDeleted,
    /// Masters accept fencing numbers for locks whose keys they do not have.
    RaisedBlindly,
    /// Who takes over a lock comes when its keys are gone.
    HeirTooLate,
}

impl Options {
    /// Returns whether this trick is played.
    pub(crate) fn is_tricked(&self, trick: Trick) -> bool {
        self.trick == Some(trick)
    }

    /// Changes the settings of the core behind the back of the checks.
    pub(crate) fn spoil(&self, config: &mut RedlockConfig) {
        match self.trick {
            Some(Trick::TenureIgnored) => config.tenure = Duration::MAX,
            Some(Trick::PrefixForgotten) => config.prefix.clear(),
            _ => {}
        }
    }
}
