//! Queries under way, and the result that the answers of single nodes add up to.

use core::time::Duration;

use smallvec::SmallVec;

use crate::redlock::bounds::MAX_QUERIES;
use crate::redlock::holder::{Holder, QueryId};
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::quorum::Quorum;
use crate::redlock::wire::answer::View;
use crate::time::Instant;

/// The queries under way.
#[derive(Default)]
pub(super) struct Queries {
    /// At most [`MAX_QUERIES`].
    open: Vec<Query>,
    asked: u64,
}

/// One query, and its answers so far.
pub(super) struct Query {
    pub(super) id: QueryId,
    pub(super) resource: Box<[u8]>,
    deadline: Instant,
    open: NodeSet,
    views: SmallVec<[(NodeId, View); 5]>,
}

impl Queries {
    /// Returns `true` if no more queries fit.
    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= MAX_QUERIES
    }

    /// Returns the id of the next query.
    pub(super) fn next_id(&mut self) -> QueryId {
        self.asked += 1;
        QueryId::new(self.asked)
    }

    /// Adds a query for `resource`, which waits until `deadline` for the answers of the nodes in
    /// `asked`.
    pub(super) fn begin(
        &mut self,
        id: QueryId,
        resource: Box<[u8]>,
        asked: NodeSet,
        deadline: Instant,
    ) {
        self.open.push(Query { id, resource, deadline, open: asked, views: SmallVec::new() });
    }

    /// Returns the earliest deadline of all queries.
    pub(super) fn due_at(&self) -> Option<Instant> {
        self.open.iter().map(|query| query.deadline).min()
    }

    /// Adds the answer of a node, or `None` if no answer will come. Returns the query once all
    /// nodes have answered.
    pub(super) fn add(&mut self, id: QueryId, node: NodeId, view: Option<View>) -> Option<Query> {
        let place = self.open.iter().position(|query| query.id == id)?;
        let query = &mut self.open[place];
        query.open.remove(node);
        query.views.extend(view.map(|view| (node, view)));
        query.open.is_empty().then(|| self.open.remove(place))
    }

    /// Removes and returns a query whose deadline has passed, if there is one.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Query> {
        let place = self.open.iter().position(|query| query.deadline <= now)?;
        Some(self.open.remove(place))
    }
}

impl Query {
    /// Returns the result that the answers of the nodes add up to.
    pub(super) fn tally(&self, nodes: NodeSet, quorum: Quorum) -> Holder {
        let values = self.views.iter().filter(|(_, view)| matches!(view, View::Value { .. }));
        let most = values.map(|(_, view)| (self.with(view), view)).max_by_key(|(set, _)| set.len());
        let answered: NodeSet = self.views.iter().map(|(id, _)| *id).collect();
        let free = self.with(&View::Nothing);
        let (others, unknown) = (answered.without(free), nodes.without(answered));
        let mut holder = Holder::without_value(free, others, unknown);
        holder.data = self.with(&View::Data);
        if let Some((holding, View::Value { value, .. })) = most {
            holder.set_value(value);
            holder.holding = holding;
            holder.others = others.without(holding);
            holder.remaining = self.remaining(holding, quorum);
        }
        holder.conclude(quorum);
        holder
    }

    /// Returns the nodes whose answer is the same as `wanted`, whatever time is left.
    fn with(&self, wanted: &View) -> NodeSet {
        let same = self.views.iter().filter(|(_, view)| match (view, wanted) {
            (View::Value { value: a, .. }, View::Value { value: b, .. }) => a == b,
            (view, wanted) => view == wanted,
        });
        same.map(|(id, _)| *id).collect()
    }

    /// Returns for how long a quorum keeps the value that the nodes in `holding` have.
    fn remaining(&self, holding: NodeSet, quorum: Quorum) -> Duration {
        let mut times: SmallVec<[Duration; 5]> = SmallVec::new();
        for (id, view) in &self.views {
            match view {
                View::Value { remaining, .. } if holding.contains(*id) => times.push(*remaining),
                _ => {}
            }
        }
        // Longest first: a quorum lasts as long as the last node that it needs.
        times.sort_unstable_by(|a, b| b.cmp(a));
        times.get(quorum.need() - 1).copied().unwrap_or_default()
    }
}
