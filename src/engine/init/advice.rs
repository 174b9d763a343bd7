//! What is wrong with the nodes that cannot serve, and what to do: in the words of a check, so that
//! nobody learns two of them.

use super::refusal::InitRefusal;
use super::report::{InitAdvice, InitNode};
use crate::engine::check::{Advice, Case, CheckServer};
use crate::net::Visit;
use crate::redlock::{NodeError, NodeId, RedlockConfig, Uninspected, rules};

/// Says of each node that cannot serve what is wrong, and what to do.
pub(super) fn advise(
    config: &RedlockConfig,
    nodes: &mut [InitNode],
    visits: &[Result<Visit, Box<Uninspected>>],
) {
    for (node, visit) in nodes.iter_mut().zip(visits) {
        let is_local = node.address.path().is_some();
        let refusal = node.result.as_ref().err();
        node.advice = refusal.and_then(|refusal| of(config, is_local, refusal, visit));
    }
}

fn of(
    config: &RedlockConfig,
    is_local: bool,
    refusal: &InitRefusal,
    visit: &Result<Visit, Box<Uninspected>>,
) -> Option<InitAdvice> {
    let (user, message, facts) = match visit {
        Ok(visit) => (visit.user(), visit.message(), visit.facts()),
        Err(visit) => (visit.user.as_deref(), &visit.message, &visit.facts),
    };
    let server = CheckServer::read(facts, &[]);
    let case = Case { config, user, is_local, message, server: Some(&server), twin: None };
    let Advice { cause, remedy, .. } = match refusal {
        InitRefusal::Node(error) => case.of_error(*error),
        InitRefusal::SameProcess(twin) => {
            // The address names the other node, and not the number.
            let error = NodeError::SameProcess(NodeId::new(0)?);
            Case { twin: Some(twin), ..case }.of_error(error)
        }
        InitRefusal::KeysUnknown => {
            let user = case.user();
            let cause =
                format!("the user {user} may not run: dbsize, so nobody knows whether it is new");
            let remedy = format!("ACL SETUSER {user} {}", rules(["dbsize"]));
            return Some(InitAdvice { cause, remedy });
        }
        _ => return None,
    };
    Some(InitAdvice { cause, remedy })
}
