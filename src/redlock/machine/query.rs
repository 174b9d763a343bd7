//! Queries for the holder of a resource.

use super::Redlock;
use super::queries::Query;
use crate::redlock::event::Event;
use crate::redlock::holder::QueryId;
use crate::redlock::node::request::{Expected, Request};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::request_error::RequestError;
use crate::redlock::wire::answer::View;
use crate::redlock::wire::command;
use crate::time::Instant;

impl Redlock {
    /// Asks the nodes who holds `resource`. The answer is advice, not a lock. Every node that is
    /// connected and has room is asked, also a node in quarantine.
    /// [`Occupancy`](crate::redlock::Occupancy) tells a resource that nobody has from one of which
    /// the nodes say too little.
    ///
    /// The query ends in one [`Event::Queried`], at the latest after one node timeout: that of
    /// `max_ttl`, with which a quorum can answer. A node that is farther away does not count then.
    ///
    /// The cost: on each node one script call that changes nothing.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] if the resource is empty or too long, if
    /// [`MAX_QUERIES`](crate::redlock::MAX_QUERIES) are under way, or if too many events wait to be
    /// taken.
    pub fn query(&mut self, now: Instant, resource: &[u8]) -> Result<QueryId, RequestError> {
        self.config.check_resource(resource)?;
        if self.queries.is_full() || self.has_unread_events() {
            return Err(RequestError::TooManyQueries);
        }
        let id = self.queries.next_id();
        let has_room = |id: &NodeId| self.nodes[*id].has_room();
        let asked: NodeSet = self.nodes().into_iter().filter(has_room).collect();
        self.scratch.clear();
        let key = [&self.config.prefix[..], resource].concat();
        command::holder(&mut self.scratch, &key);
        for node in asked {
            let expected = Expected { request: Request::Query(id), sent: now };
            self.nodes[node].send(&self.scratch, expected);
        }
        let due = self.patience_of_longest(now, asked);
        let deadline = if asked.is_empty() { now } else { due };
        self.queries.begin(id, resource.into(), asked, deadline);
        Ok(id)
    }

    /// Adds the answer of a node, or `None` if no answer will come.
    pub(super) fn handle_view(&mut self, node: NodeId, query: QueryId, view: Option<View>) {
        if let Some(query) = self.queries.add(query, node, view) {
            self.answer_query(query);
        }
    }

    /// Ends the queries whose time is up, with the answers that are known.
    pub(super) fn end_queries(&mut self, now: Instant) {
        while let Some(query) = self.queries.pop_due(now) {
            self.answer_query(query);
        }
    }

    /// Reports the result of a query.
    fn answer_query(&mut self, query: Query) {
        let holder = Box::new(query.tally(self.nodes(), self.quorum));
        let Query { id, resource, .. } = query;
        self.emit(Event::Queried { query: id, resource, holder });
    }
}
