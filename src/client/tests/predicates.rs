//! The predicates of [`LockError`]: one for each kind of error.

use core::time::Duration;
use std::collections::BTreeSet;

use crate::client::cause::Cause;
use crate::client::{LockError, LockErrorKind};
use crate::net::OtherProcess;
use crate::redlock::{
    AcquireError, DrawError, ExtendError, FenceRefusal, LostReason, NodeOutcome, NodeOutcomes,
    NodeSet, RequestError, TokenRefusal,
};
use crate::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// Returns every kind of error that there is, with its cause.
fn all() -> Vec<(LockErrorKind, Cause)> {
    let outcomes = NodeOutcomes::new(3, |_| NodeOutcome::Down);
    let quarantined =
        AcquireError::Quarantined { outcomes, at: Instant::ZERO + SECOND, retry_after: SECOND };
    let (ttl, max) = (SECOND, SECOND);
    let requests = [
        (RequestError::EmptyResource, Cause::Invalid),
        (RequestError::ResourceTooLong { len: 1 }, Cause::Invalid),
        (RequestError::ReservedResource, Cause::Invalid),
        (RequestError::Token(TokenRefusal::InUse), Cause::Invalid),
        (RequestError::SetSize { len: 0 }, Cause::Invalid),
        (RequestError::SetTooLong { len: 1 }, Cause::Invalid),
        (RequestError::TtlTooShort { ttl, least: max }, Cause::Invalid),
        (RequestError::TtlTooLong { ttl, max }, Cause::Invalid),
        (RequestError::HoldTooLong { hold: ttl, max }, Cause::Invalid),
        (RequestError::NoTries, Cause::Invalid),
        (RequestError::TriesWithoutWait { tries: 2 }, Cause::Invalid),
        (RequestError::NodeTimeout { timeout: ttl, least: ttl, most: max }, Cause::Invalid),
        (RequestError::AlreadyHeld, Cause::Invalid),
        (RequestError::ExtensionPending, Cause::Invalid),
        (RequestError::Fence(FenceRefusal::Adoption), Cause::Invalid),
        (RequestError::DrawPending, Cause::Invalid),
        (RequestError::UnguardedMajority, Cause::Invalid),
        (RequestError::Full { max: 1 }, Cause::Overloaded),
        (RequestError::TooManyQueries, Cause::Overloaded),
        (RequestError::UnknownLock, Cause::Lost),
        (RequestError::NotHeld, Cause::Lost),
    ];
    let acquires = [
        (AcquireError::Held { refused: NodeSet::EMPTY }, Cause::Contended),
        (AcquireError::InLine, Cause::Contended),
        (AcquireError::NoQuorum(outcomes), Cause::Unavailable),
        (AcquireError::TooFar { outcomes, round_trip: max, limit: ttl }, Cause::Unavailable),
        (quarantined, Cause::Unavailable),
        (AcquireError::NoRoom, Cause::Overloaded),
        (AcquireError::Gone, Cause::Lost),
        (AcquireError::Cancelled, Cause::Closed),
    ];
    let extends = [
        (ExtendError::NoQuorum(outcomes), Cause::Unavailable),
        (ExtendError::TooFar { outcomes, round_trip: max, limit: ttl }, Cause::Unavailable),
        (ExtendError::Lost(LostReason::MaxHold), Cause::Lost),
        (ExtendError::Released, Cause::Lost),
    ];
    let others = [
        (LockErrorKind::Draw(DrawError::NoQuorum(outcomes)), Cause::Unavailable),
        (LockErrorKind::Busy { max: 1 }, Cause::Overloaded),
        (LockErrorKind::Closed(None), Cause::Closed),
        (LockErrorKind::OtherProcess(OtherProcess { owner: 1 }), Cause::Invalid),
    ];
    requests
        .into_iter()
        .map(|(error, cause)| (LockErrorKind::Request(error), cause))
        .chain(acquires.map(|(error, cause)| (LockErrorKind::Acquire(error), cause)))
        .chain(extends.map(|(error, cause)| (LockErrorKind::Extend(error), cause)))
        .chain(others)
        .collect()
}

/// Returns the name of the variant that a text begins with, as `Debug` or a declaration has it.
fn name(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

/// Returns the names of the variants of a public enum in `source`.
fn variants<'s>(source: &'s str, declaration: &str) -> BTreeSet<&'s str> {
    let (_, body) = source.split_once(declaration).expect("the enum is there");
    let lines = body.lines().take_while(|line| *line != "}");
    let at_margin = lines.filter_map(|line| line.strip_prefix("    "));
    at_margin.map(name).filter(|name| name.starts_with(char::is_uppercase)).collect()
}

/// Returns the names of the variants in the list of all kinds, as far as `inner` shows them.
fn listed(inner: impl Fn(&LockErrorKind) -> Option<String>) -> BTreeSet<String> {
    all().iter().filter_map(|(kind, _)| Some(name(&inner(kind)?).to_owned())).collect()
}

#[test]
fn the_list_of_all_kinds_is_complete() {
    let errors = include_str!("../../redlock/error.rs");
    let refusals = include_str!("../../redlock/request_error.rs");
    let request = listed(|kind| match kind {
        LockErrorKind::Request(error) => Some(format!("{error:?}")),
        _ => None,
    });
    let acquire = listed(|kind| match kind {
        LockErrorKind::Acquire(error) => Some(format!("{error:?}")),
        _ => None,
    });
    let extend = listed(|kind| match kind {
        LockErrorKind::Extend(error) => Some(format!("{error:?}")),
        _ => None,
    });
    let kinds = listed(|kind| Some(format!("{kind:?}")));
    for (source, declaration, listed) in [
        (refusals, "pub enum RequestError {", request),
        (errors, "pub enum AcquireError {", acquire),
        (errors, "pub enum ExtendError {", extend),
        (include_str!("../cause.rs"), "pub enum LockErrorKind {", kinds),
    ] {
        let declared = variants(source, declaration);
        assert!(declared.len() > 2, "{declaration}");
        assert_eq!(listed, declared.into_iter().map(str::to_owned).collect(), "{declaration}");
    }
}

#[test]
fn the_table_of_the_documentation_names_the_kinds_of_each_predicate() {
    let source = include_str!("../lock_error.rs");
    let (_, table) = source.split_once("| predicate | kinds |").expect("the table is there");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with("/// |"));
    let mut rows: Vec<_> = rows.map(|row| row.split('`').skip(1).step_by(2)).collect();
    assert_eq!(rows.len(), 6);
    for row in &mut rows {
        let predicate = row.next().expect("a row begins with its predicate");
        let own: BTreeSet<_> = row.collect();
        for (kind, cause) in all() {
            let (inner, is_of_request) = match &kind {
                LockErrorKind::Request(error) => (format!("{error:?}"), true),
                LockErrorKind::Acquire(error) => (format!("{error:?}"), false),
                LockErrorKind::Extend(error) => (format!("{error:?}"), false),
                LockErrorKind::Draw(error) => (format!("{error:?}"), false),
                other => (format!("{other:?}"), false),
            };
            // The last row ends with all others of `RequestError`.
            let is_other = is_of_request && predicate == "is_invalid" && cause == Cause::Invalid;
            let expected = format!("is_{cause:?}").to_lowercase() == predicate;
            let is_named = own.contains(name(&inner)) || is_other;
            assert_eq!(is_named, expected, "{predicate}: {kind:?}");
        }
    }
}

#[test]
fn exactly_one_predicate_is_true_for_every_kind() {
    for (kind, expected) in all() {
        let error = LockError::new(kind.clone(), b"r", 1);
        let predicates = [
            (Cause::Contended, error.is_contended()),
            (Cause::Unavailable, error.is_unavailable()),
            (Cause::Overloaded, error.is_overloaded()),
            (Cause::Closed, error.is_closed()),
            (Cause::Lost, error.is_lost()),
            (Cause::Invalid, error.is_invalid()),
        ];
        let found: Vec<_> =
            predicates.iter().filter(|(_, is)| *is).map(|(cause, _)| *cause).collect();
        assert_eq!(found, [expected], "{kind:?}");
    }
}

#[test]
fn only_a_quarantine_says_when_to_come_back() {
    for (kind, _) in all() {
        let is_quarantine =
            matches!(kind, LockErrorKind::Acquire(AcquireError::Quarantined { .. }));
        let error = LockError::new(kind, b"r", 1);
        assert_eq!(error.retry_after(), is_quarantine.then_some(SECOND), "{error}");
    }
}
