//! Questions for the holder of a resource, and their answers.

use std::time::Duration;

use redbolt::redlock::{Holder, QueryId};

use crate::book::allowed;
use crate::client::Client;
use crate::names::RESOURCES;
use crate::net::Net;

impl Client {
    /// Asks for the holder of a resource.
    pub(crate) fn query(&mut self, net: &Net, resource: usize) {
        let now = self.clock(net.now);
        let due = net.now + allowed(self.redlock.config().longest_node_timeout(Duration::MAX));
        if let Ok(query) = self.redlock.query(now, RESOURCES[resource]) {
            self.queries.push((query, due));
        }
    }

    pub(crate) fn queried(&mut self, net: &mut Net, query: QueryId, holder: Holder) {
        let Holder { holding, others, free, unknown, .. } = holder;
        let sets = [holding, others, free, unknown];
        let all = sets.iter().fold(0, |sum, set| sum + set.len());
        let place = self.queries.iter().position(|(other, _)| *other == query);
        if all != self.redlock.nodes().len() || place.is_none() {
            net.fail(format_args!("an answer to no question, or to half of it: {query:?}"));
        }
        if let Some(place) = place {
            self.queries.swap_remove(place);
        }
    }
}
