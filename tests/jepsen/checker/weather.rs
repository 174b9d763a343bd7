//! What the machine and the nemesis did to nodes and to clients, for rules about what must work
//! while nothing is wrong.

use std::collections::HashMap;

use crate::log::{self, LINKS};

#[derive(Default)]
pub(super) struct Weather {
    /// For each node the times at which something began to be wrong, or was well again.
    nodes: HashMap<usize, Vec<(u64, bool)>>,
    /// For each client, and for the links, the times in which its process did not run.
    late: HashMap<u32, Vec<(u64, u64)>>,
}

impl Weather {
    pub(super) fn enter(&mut self, weather: &log::Weather) {
        self.nodes.entry(weather.node).or_default().push((weather.at, weather.is_foul));
    }

    pub(super) fn late(&mut self, client: u32, since: u64, at: u64) {
        self.late.entry(client).or_default().push((since, at));
    }

    /// Returns whether nothing was wrong with a node in this time.
    fn is_fair(&self, node: usize, from: u64, until: u64) -> bool {
        let Some(history) = self.nodes.get(&node) else { return true };
        let began = history.partition_point(|(at, _)| *at <= from);
        let was_foul = history[..began].last().is_some_and(|(_, is_foul)| *is_foul);
        let became_foul = || history[began..].iter().any(|(at, is_foul)| *is_foul && *at <= until);
        !was_foul && !became_foul()
    }

    /// Returns how many nodes had nothing wrong in this time.
    pub(super) fn fair(&self, nodes: usize, from: u64, until: u64) -> usize {
        (0..nodes).filter(|node| self.is_fair(*node, from, until)).count()
    }

    /// Returns for how much of this time the process of a client did not run, or that of the links.
    pub(super) fn lateness(&self, client: u32, from: u64, until: u64) -> u64 {
        let late = [client, LINKS].into_iter().filter_map(|process| self.late.get(&process));
        let late = late.flatten().map(|&(since, at)| (since.max(from), at.min(until)));
        let mut late: Vec<_> = late.filter(|(since, at)| since < at).collect();
        late.sort_unstable();
        // What two processes missed at the same time counts once.
        let (mut sum, mut counted) = (0, from);
        for (since, at) in late {
            sum += at.saturating_sub(since.max(counted));
            counted = counted.max(at);
        }
        sum
    }
}
