//! Questions who holds a resource, and the answers that nobody does.
//!
//! Such an answer needs a quorum of nodes that have said, between the question and the answer, that
//! there is nothing. Who else asks at the same time makes the wire say more than one client has
//! heard, so the rule can miss a fault and cannot make one up. And nobody may have believed in the
//! lock all the time.

use std::collections::{BTreeSet, HashMap};

use super::Belief;
use crate::log::Empty;

#[derive(Default)]
pub(super) struct Queries {
    /// The questions under way: when they were asked, and for what.
    asked: HashMap<(u32, u64), (u64, String)>,
    /// What nodes have said of each resource, in the order of time. A thread can be stopped between
    /// its look at the clock and its line, so lines of the log can be older than those before.
    empty: HashMap<String, Vec<Empty>>,
    /// The answers that nobody holds a resource.
    free: Vec<Free>,
}

/// The answer that nobody holds a resource, to a question in that time.
pub(super) struct Free {
    client: u32,
    request: u64,
    resource: String,
    from: u64,
    until: u64,
}

impl Queries {
    pub(super) fn ask(&mut self, key: (u32, u64), at: u64, resource: &str) {
        self.asked.insert(key, (at, resource.to_owned()));
    }

    pub(super) fn lacks(&mut self, empty: &Empty) {
        let said = self.empty.entry(empty.resource.clone()).or_default();
        let place = said.partition_point(|before| before.at <= empty.at);
        said.insert(place, empty.clone());
    }

    /// Takes an answer that came at this time. The error says why the answer is wrong.
    pub(super) fn answer(
        &mut self,
        (client, request): (u32, u64),
        at: u64,
        is_free: bool,
        quorum: usize,
    ) -> Result<(), String> {
        let Some((from, resource)) = self.asked.remove(&(client, request)) else {
            return Err("of a question that nobody asked".to_owned());
        };
        if !is_free {
            return Ok(());
        }
        let said = self.empty.get(&resource).into_iter().flatten().rev();
        let said = said.take_while(|empty| empty.at >= from);
        let said = said.filter(|empty| empty.asked >= from && empty.at <= at);
        let nodes: BTreeSet<_> = said.map(|empty| empty.node).collect();
        self.free.push(Free { client, request, resource, from, until: at });
        if nodes.len() < quorum {
            return Err(format!("only {nodes:?} have said that there is nothing"));
        }
        Ok(())
    }

    /// Returns in words the answers that nobody holds a resource in which somebody believed all the
    /// time.
    pub(super) fn contradictions(&self, beliefs: &[Belief]) -> Vec<String> {
        let mut of: HashMap<&str, Vec<&Belief>> = HashMap::new();
        beliefs.iter().for_each(|belief| of.entry(&belief.resource).or_default().push(belief));
        of.values_mut().for_each(|beliefs| beliefs.sort_by_key(|belief| belief.from));
        let contradicts = |free: &Free| {
            let beliefs = of.get(free.resource.as_str())?;
            // Beliefs do not overlap: the last one that began before is the one that can cover.
            let began = beliefs.partition_point(|belief| belief.from <= free.from);
            let belief = beliefs[..began].last().filter(|belief| belief.until >= free.until)?;
            let Free { client, request, resource, from, until } = free;
            let owner = (belief.client, belief.request);
            Some(format!("{client} {request}: {resource} free in {from}..{until} under {owner:?}"))
        };
        self.free.iter().filter_map(contradicts).collect()
    }
}
