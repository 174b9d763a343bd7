//! Builds of the core in which one rule is broken, for the tests of the tests.
//!
//! A safety test that cannot fail is worth nothing. So there is one more build of this crate, with
//! `--cfg redbolt_sabotage`. In that build, a [`Saboteur`] in the configuration breaks one rule,
//! and the simulator must catch every saboteur (`tests/saboteurs.sh`).
//!
//! The switch cannot reach a release. The switch is no feature, so no dependency can turn it on. A
//! build with the switch and without debug assertions does not compile. Without the switch,
//! `RedlockConfig::is_sabotaged` is a constant.

#[cfg(all(redbolt_sabotage, not(debug_assertions)))]
compile_error!("saboteurs must not reach a release: `--cfg redbolt_sabotage` is for tests");

/// A saboteur: one rule of SAFETY.md, and how the rule is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(
    not(redbolt_sabotage),
    allow(unreachable_pub, dead_code, reason = "it is public in the build for tests alone")
)]
pub enum Saboteur {
    /// S1: a retry uses the token of the attempt before it.
    TokenReused,
    /// S1: a token of the caller's is used again, although requests for its last lock may be on
    /// their way.
    SpentTokenReused,
    /// S2: the start of an attempt is sampled when its quorum is there.
    StartAfterQuorum,
    /// S2: a lock is believed for its whole ttl.
    DriftIgnored,
    /// S3: half of the nodes are a majority.
    HalfIsEnough,
    /// S3: a quorum counts although the validity is over.
    ElapsedIgnored,
    /// S3: an attempt that asks more nodes, because the first ones are slow, takes a request for a
    /// vote.
    HedgeVotes,
    /// S11: the nodes that a majority takes are chosen among all, not among those that can vote.
    OrderOverAll,
    /// An attempt that has asked a majority first forgets the other nodes.
    WideningForgotten,
    /// A lock that a majority has granted is extended before the other nodes are given the key.
    SpareForgotten,
    /// S4: a late reply to an older attempt counts for the next one.
    StaleReply,
    /// S4: a refusal is a vote.
    RefusalCounts,
    /// S4: a `SET` whose connection died is a vote.
    UnknownCounts,
    /// S5: a release deletes the key whatever its value.
    ReleaseWithoutCompare,
    /// S5: a release is sent only to nodes that have voted.
    UnknownNotReleased,
    /// S5: a grant that comes when its attempt has failed is not released.
    LateGrantKept,
    /// S5: a release leaves before the request that takes the key.
    ReleaseOvertakes,
    /// S5: an error in reply to a script about a number proves that the script wrote nothing.
    ErrorWroteNothing,
    /// S6: a token whose fate a broken connection left open is forgotten.
    CleanupForgotten,
    /// S7: one node is enough for an extension.
    ExtensionByOne,
    /// S7: an extension creates the key where there is none.
    ExtensionRecreates,
    /// S7: an extension may bring the end of a lock forward.
    ExtensionShortens,
    /// S7: an extension counts although the validity is over.
    ExtensionTooLate,
    /// S7: a node that runs no scripts, and so cannot confirm an extension, counts for one.
    ScriptlessAgrees,
    /// S8: a lock is held until somebody says otherwise.
    HeldWithoutLooking,
    /// S9: validity runs on a clock that stops in suspend. Clocks are the driver's part; in the
    /// tests, the simulator is the driver.
    StoppingClock,
    /// S9: a client ignores that the clocks of the nodes have run ahead of its own.
    LostTimeIgnored,
    /// S10: the same process votes once for each of its names.
    SameProcessVotes,
    /// S11: a node that may have forgotten locks votes.
    QuarantineOff,
    /// S11: a node that is met for the first time is believed without a witness.
    WitnessIgnored,
    /// S11: the age of a witness counts in full, although a clock may have been stepped.
    AgeWithoutEpsilon,
    /// S11: a witness counts although another process or other data has come since the last look.
    WitnessKeptAcrossIdentity,
    /// S11: a witness is born when a client says, not when the server does. The script is the
    /// server's part; in the tests, the simulator is the server.
    WitnessWrittenByClient,
    /// S11: what a node says of its keys unasked is not heard.
    PushIgnored,
    /// S11: a node is believed although nobody looked at it for a span.
    GapIgnored,
    /// S11: the answer of a node that may have forgotten locks counts for an extension.
    QuarantinedAgrees,
    /// Repair: a key that a node was given counts for the extension under way.
    RepairCounts,
    /// Sets: the first resource of a set is not taken.
    SetIncomplete,
    /// Adoption: one node that has the token is enough.
    AdoptionByOne,
    /// S12: a lock is extended for ever.
    HoldWithoutEnd,
    /// A lock that is passed on is believed for a whole ttl, which no majority has confirmed.
    PassedInFull,
    /// A lock is passed on although its validity is over.
    PassedTooLate,
    /// A lock is passed on although somebody outside knows its token, or it has a number.
    KnownTokenPassed,
    /// A lock is passed on for ever, and others never have their turn.
    TenureForgotten,
    /// An engine whose locks follow one another leaves the resource to nobody who has left a mark.
    MarkIgnored,
    /// Thrift: whoever was refused asks all nodes again, and never looks at one before.
    DoorForgotten,
    /// A set waits for the moment at which all of its resources are free.
    StepsForgotten,
    /// S13: the largest number that a node has drawn is the fence, without a second trip.
    FenceNotRaised,
    /// S13: where the numbers differ, the proposal is the fence.
    ProposalTrusted,
    /// S13: a lock is granted without the fence that took a second trip.
    FenceOmitted,
    /// S13: one node that accepts a number in the second trip is enough.
    RaisedByOne,
    /// S13: a node that has a larger number, and says so, accepts.
    BehindAccepts,
    /// S13: a number that was drawn for a held lock is reported before a quorum has accepted it.
    DrawnByOne,
    /// S13: a draw for a held lock waits for a node whose connection has died.
    DrawNeverEnds,
    /// S13: the answers to a call go to its locks in another order.
    AnswersSwapped,
    /// S13: a node draws although it may have forgotten numbers.
    YoungNodeDraws,
    /// S13: a node draws whose clock is far from those of the others.
    FarClockDraws,
    /// Liveness: nodes that are far away are waited for no longer than those that are near.
    PatienceIgnored,
    /// Liveness: a lock is granted although most of its validity is over.
    HalfIgnored,
}

/// The Lua line that a saboteur puts before [`EXTEND`](super::EXTEND), to create the missing key of
/// the extension.
#[cfg(redbolt_sabotage)]
pub const RECREATE: &str = "redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])";
