//! In the build with saboteurs: the rule that all clients of a run break, so that one can see
//! whether the checker notices.
//!
//! ```text
//! REDBOLT_JEPSEN_SABOTEUR=HalfIsEnough tests/saboteurs.sh no_two_clients
//! ```

use std::env;

use redbolt::redlock::Saboteur::{self, *};

/// The saboteurs whose damage shows in a log.
const SABOTEURS: [Saboteur; 21] = [
    TokenReused,
    StartAfterQuorum,
    DriftIgnored,
    HalfIsEnough,
    ElapsedIgnored,
    StaleReply,
    RefusalCounts,
    UnknownCounts,
    ReleaseWithoutCompare,
    ExtensionByOne,
    ExtensionTooLate,
    HeldWithoutLooking,
    QuarantineOff,
    WitnessIgnored,
    WitnessKeptAcrossIdentity,
    PushIgnored,
    GapIgnored,
    SetIncomplete,
    AdoptionByOne,
    HoldWithoutEnd,
    FenceNotRaised,
];

/// Returns the saboteur that `REDBOLT_JEPSEN_SABOTEUR` names.
pub(crate) fn chosen() -> Option<Saboteur> {
    let name = env::var("REDBOLT_JEPSEN_SABOTEUR").ok()?;
    let found = SABOTEURS.into_iter().find(|saboteur| format!("{saboteur:?}") == name);
    Some(found.unwrap_or_else(|| panic!("{name} is none of {SABOTEURS:?}")))
}
