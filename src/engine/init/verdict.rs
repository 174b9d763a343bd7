//! Whether a node is fit for what an operator wants, by what was found on all nodes.

use core::time::Duration;

use super::report::{InitAction, InitFinding, InitNode, InitRefusal};
use crate::net::Address;
use crate::redlock::{
    Constants, LONGEST_TTL, NodeError, Order, RedlockConfig, Sight, Testimony, disagreement,
};

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

    pub(super) const fn order(self) -> Order {
        match self {
            Self::Witness => Order::Witness,
            Self::Declaration => Order::Declaration,
            Self::MaxTtl => Order::MaxTtl,
        }
    }
}

/// Judges all nodes by what their inspections have found.
pub(super) fn judge(
    aim: Aim,
    config: &RedlockConfig,
    addresses: &[Address],
    sights: &[Result<Sight, NodeError>],
) -> Vec<InitNode> {
    let node = |(index, sight): (usize, &Result<Sight, NodeError>)| {
        let address = addresses[index].clone();
        let sight = match sight {
            Ok(sight) => sight,
            Err(error) => {
                return InitNode { address, finding: None, result: Err(InitRefusal::Node(*error)) };
            }
        };
        let is_twin = |other: &Result<Sight, NodeError>| {
            other.as_ref().is_ok_and(|other| other.run_id == sight.run_id)
        };
        let finding = finding(sight);
        let refusal = match sights[..index].iter().position(is_twin) {
            Some(twin) => Some(InitRefusal::SameProcess(addresses[twin].clone())),
            None => refusal(aim, config, addresses.len(), sight, finding),
        };
        let result = refusal.map_or(Ok(InitAction::Nothing), Err);
        InitNode { address, finding: Some(finding), result }
    };
    sights.iter().enumerate().map(node).collect()
}

/// Returns what is in the way of an order, as far as one node can tell.
fn refusal(
    aim: Aim,
    config: &RedlockConfig,
    nodes: usize,
    sight: &Sight,
    finding: InitFinding,
) -> Option<InitRefusal> {
    let Some(standing) = sight.standing else {
        let is_in_the_way = aim == Aim::Declaration && sight.keys > 0;
        return is_in_the_way.then_some(InitRefusal::NotEmpty { keys: sight.keys });
    };
    if aim == Aim::Declaration {
        // The two keys of the witness are no locks.
        let keys = sight.keys.saturating_sub(2);
        return match finding {
            InitFinding::Declared { .. } if keys == 0 => None,
            InitFinding::Declared { .. } => Some(InitRefusal::NotEmpty { keys }),
            finding => Some(InitRefusal::HasWitness(finding)),
        };
    }
    let ours = config.max_ttl;
    let recorded = read_ttl(standing.constants.max_ttl);
    match obstacle(aim, config, nodes, standing.constants) {
        Some(error) => Some(InitRefusal::Node(error)),
        None if aim == Aim::MaxTtl && recorded > ours => {
            Some(InitRefusal::LongerMaxTtl { ours, recorded })
        }
        None => None,
    }
}

/// Returns what an order cannot change of the constants of the deployment, although they are not
/// those of the configuration.
fn obstacle(
    aim: Aim,
    config: &RedlockConfig,
    nodes: usize,
    recorded: Constants,
) -> Option<NodeError> {
    let error = disagreement(config, nodes, recorded)?;
    // The other orders write the longer `max_ttl`.
    let is_overwritten = matches!(error, NodeError::MaxTtlTooLong { .. }) && aim != Aim::Witness;
    (!is_overwritten).then_some(error)
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
    if let Some(error) = obstacle(aim, config, nodes, word.constants()) {
        return Err(InitRefusal::Node(error));
    }
    let to = read_ttl(word.max_ttl);
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
    RedlockConfig { max_ttl, ..config.clone() }.quarantine() / 3
}

fn finding(sight: &Sight) -> InitFinding {
    let Some(standing) = sight.standing else { return InitFinding::Nothing { keys: sight.keys } };
    let max_ttl = read_ttl(standing.constants.max_ttl);
    if standing.is_declared() {
        InitFinding::Declared { max_ttl }
    } else if standing.is_own {
        let age = Duration::from_micros(sight.time.saturating_sub(standing.born));
        InitFinding::Witness { age, max_ttl }
    } else {
        InitFinding::Other { max_ttl }
    }
}

/// No client can have a longer `max_ttl`, whatever a witness says.
fn read_ttl(millis: u64) -> Duration {
    Duration::from_millis(millis).min(LONGEST_TTL)
}
