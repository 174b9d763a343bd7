//! Whether a node is fit for what an operator wants, by what was found on all nodes.
//!
//! [`change`](super::change) judges a change of the deployment.

use core::time::Duration;

use super::finding::InitFinding;
use super::refusal::InitRefusal;
use super::report::InitNode;
use super::step::{InitAction, InitStep, InitWait};
use crate::net::Address;
use crate::redlock::{Constants, NodeError, Order, RedlockConfig, Sight, Testimony, disagreement};

/// What an operator wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Aim {
    Witness,
    Declaration,
    MaxTtl,
}

impl Aim {
    /// Whether nothing may be written unless every node is fit.
    pub(super) const fn needs_all(self) -> bool {
        matches!(self, Self::Declaration | Self::MaxTtl)
    }

    /// Returns the aim with nodes of which this was found. Where all have been declared, and are in
    /// use, nothing is left to declare, and nothing must be declared again: they are kept.
    pub(super) fn on(self, config: &RedlockConfig, sights: &[Result<Sight, NodeError>]) -> Self {
        let is_done = self == Self::Declaration && is_declared_and_used(config, sights);
        if is_done { Self::Witness } else { self }
    }

    pub(super) const fn order(self) -> Order {
        match self {
            Self::Witness => Order::Witness,
            Self::Declaration => Order::Declaration,
            Self::MaxTtl => Order::MaxTtl,
        }
    }
}

/// What is to be done on a node, and for how long the node must be left alone before.
pub(super) type Decision = (Result<InitStep, InitRefusal>, Option<InitWait>);

/// Judges all nodes by what their inspections have found.
pub(super) fn judge(
    aim: Aim,
    config: &RedlockConfig,
    addresses: &[Address],
    sights: &[Result<Sight, NodeError>],
) -> Vec<InitNode> {
    judge_each(addresses, sights, |sight, finding| {
        let refusal = refusal(aim, config, addresses.len(), sight, finding);
        (refusal.map_or_else(|| Ok(step(aim, config, finding)), Err), None)
    })
}

/// Returns whether all nodes were declared fresh, for this number of nodes and this `max_ttl`, and
/// somebody has looked at one since.
fn is_declared_and_used(config: &RedlockConfig, sights: &[Result<Sight, NodeError>]) -> bool {
    let is_fit = |sight: &Result<Sight, NodeError>| {
        let standing = sight.as_ref().ok().and_then(|sight| sight.standing);
        standing.is_some_and(|standing| {
            let obstacle = obstacle(Aim::Witness, config, sights.len(), standing.constants);
            standing.is_declared() && obstacle.is_none()
        })
    };
    sights.iter().all(is_fit) && sights.iter().flatten().any(|sight| sight.looks != 1)
}

/// Judges by `decide` each node that could be inspected and is no other node of the list.
pub(super) fn judge_each(
    addresses: &[Address],
    sights: &[Result<Sight, NodeError>],
    decide: impl Fn(&Sight, InitFinding) -> Decision,
) -> Vec<InitNode> {
    let node = |(index, sight): (usize, &Result<Sight, NodeError>)| {
        let address = addresses[index].clone();
        let sight = match sight {
            Ok(sight) => sight,
            Err(error) => {
                let result = Err(InitRefusal::Node(*error));
                return InitNode { address, finding: None, wait: None, result, advice: None };
            }
        };
        let is_twin = |other: &Result<Sight, NodeError>| {
            other.as_ref().is_ok_and(|other| other.run_id == sight.run_id)
        };
        let finding = finding(sight);
        let (result, wait) = match sights[..index].iter().position(is_twin) {
            Some(twin) => (Err(InitRefusal::SameProcess(addresses[twin].clone())), None),
            None => decide(sight, finding),
        };
        let result = result.map(InitAction::Planned);
        InitNode { address, finding: Some(finding), wait, result, advice: None }
    };
    sights.iter().enumerate().map(node).collect()
}

/// Returns what an order will do.
fn step(aim: Aim, config: &RedlockConfig, finding: InitFinding) -> InitStep {
    match finding.max_ttl() {
        _ if aim == Aim::Declaration => InitStep::Declare,
        None => InitStep::Write,
        Some(from) if aim == Aim::MaxTtl && from < config.max_ttl => {
            InitStep::Raise { from, to: config.max_ttl }
        }
        Some(_) => InitStep::Keep,
    }
}

/// Returns what is in the way of an order, as far as one node can tell.
fn refusal(
    aim: Aim,
    config: &RedlockConfig,
    nodes: usize,
    sight: &Sight,
    finding: InitFinding,
) -> Option<InitRefusal> {
    if aim == Aim::Declaration {
        let own = match finding {
            InitFinding::Nothing { .. } => 0,
            // The two keys of the witness are no locks.
            InitFinding::Declared { .. } => 2,
            finding => return Some(InitRefusal::HasWitness(finding)),
        };
        return match sight.keys.map(|keys| keys.saturating_sub(own)) {
            Some(0) => None,
            Some(keys) => Some(InitRefusal::NotEmpty { keys }),
            None => Some(InitRefusal::KeysUnknown),
        };
    }
    let standing = sight.standing?;
    let ours = config.max_ttl;
    let recorded = standing.constants.longest_ttl();
    match obstacle(aim, config, nodes, standing.constants) {
        None if aim == Aim::MaxTtl && recorded > ours => {
            Some(InitRefusal::LongerMaxTtl { ours, recorded, quiet: quiet(config, recorded) })
        }
        obstacle => obstacle,
    }
}

/// Returns what an order cannot change of the constants of the deployment, although they are not
/// those of the configuration.
fn obstacle(
    aim: Aim,
    config: &RedlockConfig,
    nodes: usize,
    recorded: Constants,
) -> Option<InitRefusal> {
    match disagreement(config, nodes, recorded)? {
        NodeError::Reconfiguring => Some(InitRefusal::HalfChanged),
        NodeError::OtherNodes { ours, recorded: nodes } => {
            let quiet = quiet(config, recorded.longest_ttl());
            Some(InitRefusal::OtherNodes { ours, recorded: nodes, quiet })
        }
        // The other orders write the longer `max_ttl`.
        NodeError::MaxTtlTooLong { .. } if aim != Aim::Witness => None,
        error => Some(InitRefusal::Node(error)),
    }
}

/// Returns what an order has done, by the answer of the node.
pub(super) fn done(
    aim: Aim,
    config: &RedlockConfig,
    nodes: usize,
    word: &Testimony,
    finding: Option<InitFinding>,
) -> Result<InitAction, InitRefusal> {
    // A client may have written the witness since the inspection.
    if let Some(refusal) = obstacle(aim, config, nodes, word.constants) {
        return Err(refusal);
    }
    let to = word.constants.longest_ttl();
    let before = finding.and_then(|finding| finding.max_ttl());
    Ok(match before {
        _ if aim == Aim::Declaration => InitAction::Declared,
        Some(from) if from < to => InitAction::Raised { from, to },
        _ if word.is_new() => InitAction::Written,
        _ => InitAction::Kept,
    })
}

/// Returns the time between two looks of a client that knows the longest of these `max_ttl`s.
pub(super) fn look_period(config: &RedlockConfig, nodes: &[InitNode]) -> Duration {
    let is_raised = |node: &InitNode| matches!(node.result, Ok(InitAction::Raised { .. }));
    if !nodes.iter().any(is_raised) {
        return Duration::ZERO;
    }
    let recorded = nodes.iter().filter_map(|node| node.finding?.max_ttl()).max();
    let max_ttl = recorded.unwrap_or_default().min(config.max_ttl);
    config.span(max_ttl) / 3
}

/// Returns for how long nobody must have looked at a node, so that no client believes any more in
/// what the node has granted under this longest ttl.
///
/// A client counts the vote of a node for half a span after its last look there, and believes in
/// the lock for no more than the longest ttl after that: one and a half spans by the clock of the
/// client. The drift of that time is for the clock of the node, which measures.
pub(super) fn quiet(config: &RedlockConfig, max_ttl: Duration) -> Duration {
    let span = config.span(max_ttl);
    let quiet = span.saturating_add(span / 2);
    quiet.saturating_add(config.drift.of(quiet))
}

fn finding(sight: &Sight) -> InitFinding {
    let Some(standing) = sight.standing else { return InitFinding::Nothing { keys: sight.keys } };
    let max_ttl = standing.constants.longest_ttl();
    if standing.constants.is_closed {
        InitFinding::Closed { max_ttl }
    } else if standing.is_declared() {
        match sight.looks {
            1 => InitFinding::Declared { max_ttl },
            _ => InitFinding::Used { max_ttl },
        }
    } else if standing.is_own {
        let age = Duration::from_micros(sight.time.saturating_sub(standing.born));
        InitFinding::Witness { age, max_ttl }
    } else {
        InitFinding::Other { max_ttl }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::Drift;

    #[test]
    fn a_node_is_left_alone_for_half_a_span_and_a_longest_ttl_with_their_drifts() {
        let rows = [
            // ρ in ppm, ε and longest ttl in ms, the time in ms
            (0, 0, 1_000, 1_505),
            (5_000, 0, 60_000, 91_814),
            (5_000, 500, 60_000, 93_071),
        ];
        for (rate_ppm, step, max_ttl, expected) in rows {
            let drift = Drift::new(rate_ppm, Duration::from_millis(step));
            let config = RedlockConfig { drift, ..RedlockConfig::default() };
            let found = quiet(&config, Duration::from_millis(max_ttl));
            assert_eq!(found.as_millis(), expected, "{drift:?}, {max_ttl}");
        }
    }
}
