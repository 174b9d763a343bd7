//! Builds of the core with one rule broken each, for the tests of the tests.
//!
//! A safety test that cannot fail is worth nothing. So there is one more build of this crate, with
//! `--cfg redbolt_sabotage`, in which a [`Saboteur`] in the configuration breaks the rule it is
//! named after, and the simulator must catch every one of them (`tests/saboteurs.sh`).
//!
//! The switch cannot reach a release: it is no feature, so that no dependency can turn it on; a
//! build with it and without debug assertions does not compile; and without it
//! `Config::is_sabotaged` is a constant.

#[cfg(all(redbolt_sabotage, not(debug_assertions)))]
compile_error!("saboteurs must not reach a release: `--cfg redbolt_sabotage` is for tests");

/// Who breaks which rule of SAFETY.md.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(
    not(redbolt_sabotage),
    allow(unreachable_pub, dead_code, reason = "it is public in the build for tests alone")
)]
pub enum Saboteur {
    /// S1: a retry uses the token of the attempt before it.
    TokenReused,
    /// S2: the start of an attempt is sampled when its quorum is there.
    StartAfterQuorum,
    /// S2: a lock is believed for its whole ttl.
    DriftIgnored,
    /// S3: half of the nodes are a majority.
    HalfIsEnough,
    /// S3: a quorum counts although the validity is over.
    ElapsedIgnored,
    /// S4: a late reply to an older attempt counts for the next one.
    StaleReply,
    /// S4: a refusal is a vote.
    RefusalCounts,
    /// S4: a `SET` whose connection died is a vote.
    UnknownCounts,
    /// S5: a release deletes whatever is there.
    ReleaseWithoutCompare,
    /// S5: only nodes that have voted are sent a release.
    UnknownNotReleased,
    /// S6: what a broken connection left open is forgotten.
    CleanupForgotten,
    /// S7: one node is enough for an extension.
    ExtensionByOne,
    /// S7: an extension makes the key where there is none.
    ExtensionRecreates,
    /// S7: an extension may bring the end of a lock forward.
    ExtensionShortens,
    /// S7: an extension counts although the validity is over.
    ExtensionTooLate,
    /// S8: a lock is held until somebody says otherwise.
    HeldWithoutLooking,
    /// S9: validity runs on a clock that stops in suspend. The driver's part, which is to say that
    /// of the simulator.
    StoppingClock,
    /// S10: the same process votes once for each of its names.
    SameProcessVotes,
    /// S11: a node that may have forgotten locks votes.
    QuarantineOff,
    /// S11: a node that was a replica is believed for its uptime.
    ReplicaCredited,
    /// S11: an uptime in whole seconds is taken as it is, although it may be one too many.
    UptimeNotRounded,
    /// S11: an extension counts the word of a node that may have forgotten locks.
    QuarantinedAgrees,
    /// Repair: the key that a node was given counts for the extension under way.
    RepairCounts,
    /// Sets: the first resource of a set is not taken.
    SetIncomplete,
    /// Adoption: one node that has the token is enough.
    AdoptionByOne,
    /// S12: a lock is extended for ever.
    HoldWithoutEnd,
}

/// What makes the key of an extension that is not there, and then extends it.
#[cfg(redbolt_sabotage)]
pub const RECREATE: &str = "redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])";
