//! The question who holds a resource. The answer is advice: it was true on its way here, and
//! nothing may be decided by it that a lock should decide.

use core::fmt;
use core::time::Duration;

use smallvec::SmallVec;

use super::command;
use super::error::RequestError;
use super::event::Event;
use super::machine::Redlock;
use super::nodes::{NodeId, NodeSet};
use super::pipeline::{Expected, What};
use super::reply::ServerError;
use super::token::Token;
use crate::resp::Value;
use crate::time::Instant;

/// How many questions can be under way at once.
pub const MAX_QUERIES: usize = 64;

/// How much of a value is looked at. Other Redlock libraries have values of 20 to 36 bytes.
const MAX_VALUE: usize = 40;

/// One question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QueryId(u64);

/// Who holds a resource, as the nodes saw it: advice, not a lock.
///
/// Every node is in exactly one of the sets.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    value: [u8; MAX_VALUE],
    len: u8,
    /// The nodes that have the value which most nodes have.
    pub holding: NodeSet,
    /// The nodes that have another, or data that is no lock.
    pub others: NodeSet,
    /// The nodes that have nothing at the key.
    pub free: NodeSet,
    /// The nodes that were not connected, did not answer in time, or answered with an error.
    pub unknown: NodeSet,
    /// Whether a quorum of the nodes is in `holding`.
    pub is_quorum: bool,
    /// How long a quorum of nodes keeps the value from now on, at most; zero without a quorum. Its
    /// owner counts with less, by the drift. `Duration::MAX` for a value without a ttl.
    pub remaining: Duration,
}

impl Holder {
    /// What most of the nodes that have anything have, cut to 40 bytes; `None` when none has.
    pub fn value(&self) -> Option<&[u8]> {
        (!self.holding.is_empty()).then(|| &self.value[..usize::from(self.len)])
    }

    /// The same, if it is the token of an engine such as this.
    pub fn token(&self) -> Option<Token> {
        Some(Token::from_bytes(self.value()?.try_into().ok()?))
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value().map(|value| value.escape_ascii().to_string());
        f.debug_struct("Holder")
            .field("value", &value)
            .field("holding", &self.holding)
            .field("others", &self.others)
            .field("free", &self.free)
            .field("unknown", &self.unknown)
            .field("is_quorum", &self.is_quorum)
            .field("remaining", &self.remaining)
            .finish()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = self.value() else { return f.write_str("nobody") };
        match self.token() {
            Some(token) => token.fmt(f)?,
            None => value.escape_ascii().fmt(f)?,
        }
        match self.is_quorum {
            true if self.remaining == Duration::MAX => f.write_str(" for ever"),
            true => write!(f, " for another {:.3} s", self.remaining.as_secs_f64()),
            false => f.write_str(" without a quorum"),
        }
    }
}

/// What one node has at the key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum View {
    Nothing,
    Value {
        value: SmallVec<[u8; MAX_VALUE]>,
        remaining: Duration,
    },
    /// Something that is no string.
    Data,
}

impl View {
    /// The reply to the question: the value or nil, then the ttl.
    pub(super) fn read(value: &Value<'_>) -> Option<Self> {
        let Value::Array(elements) = value else { return None };
        let mut elements = elements.clone();
        let (value, ttl) = (elements.next()?, elements.next()?);
        match (value, ttl) {
            (Value::Null, Value::Integer(_)) => Some(Self::Nothing),
            (Value::Bulk(bytes), Value::Integer(millis)) if bytes.len() <= MAX_VALUE => {
                let forever = |_| Duration::MAX;
                let remaining = u64::try_from(millis).map_or_else(forever, Duration::from_millis);
                Some(Self::Value { value: SmallVec::from_slice(bytes), remaining })
            }
            _ => None,
        }
    }

    pub(super) fn of_error(error: ServerError) -> Option<Self> {
        (error == ServerError::WrongType).then_some(Self::Data)
    }
}

/// The questions under way.
#[derive(Default)]
pub(super) struct Queries {
    /// At most [`MAX_QUERIES`].
    open: Vec<Query>,
    asked: u64,
}

struct Query {
    number: u64,
    deadline: Instant,
    open: NodeSet,
    views: SmallVec<[(NodeId, View); 5]>,
}

impl Queries {
    pub(super) fn due_at(&self) -> Option<Instant> {
        self.open.iter().map(|query| query.deadline).min()
    }
}

impl Redlock {
    /// Asks who holds `resource`. Every node that is connected is asked, quarantined ones too.
    ///
    /// Ends in one [`Event::Queried`] within one node timeout. Costs the nodes one script call each
    /// that changes nothing.
    ///
    /// # Errors
    ///
    /// A [`RequestError`]: an empty or too long resource, or [`MAX_QUERIES`] under way.
    pub fn query(&mut self, now: Instant, resource: &[u8]) -> Result<QueryId, RequestError> {
        self.check_resource(resource)?;
        if self.queries.open.len() >= MAX_QUERIES || self.has_unread_events() {
            return Err(RequestError::TooManyQueries);
        }
        self.queries.asked += 1;
        let number = self.queries.asked;
        let timeout = self.config.stall_timeout();
        let worth = |id: &NodeId| {
            let node = &self.nodes[id.index()];
            node.is_ready() && node.pipeline.len() < self.config.max_pipeline
        };
        let asked: NodeSet = self.nodes().into_iter().filter(worth).collect();
        self.scratch.clear();
        let key = [&self.config.prefix[..], resource].concat();
        command::holder(&mut self.scratch, &key);
        for id in asked {
            let node = &mut self.nodes[id.index()];
            node.outbox.buffer().extend_from_slice(&self.scratch);
            node.pipeline.push(Expected { what: What::Holder, slot: 0, serial: number, sent: now });
        }
        let views = SmallVec::new();
        let deadline = if asked.is_empty() { now } else { now + timeout };
        self.queries.open.push(Query { number, deadline, open: asked, views });
        Ok(QueryId(number))
    }

    /// A node answered, or never will.
    pub(super) fn handle_view(&mut self, id: NodeId, request: Expected, view: Option<View>) {
        let queries = &mut self.queries.open;
        let Some(place) = queries.iter().position(|query| query.number == request.serial) else {
            return;
        };
        queries[place].open.remove(id);
        queries[place].views.extend(view.map(|view| (id, view)));
        if queries[place].open.is_empty() {
            self.answer_query(place);
        }
    }

    /// Answers the questions whose time is up with what is known.
    pub(super) fn end_queries(&mut self, now: Instant) {
        while let Some(place) = self.queries.open.iter().position(|query| query.deadline <= now) {
            self.answer_query(place);
        }
    }

    fn answer_query(&mut self, place: usize) {
        let query = self.queries.open.remove(place);
        let holder = tally(&query.views, self.nodes(), self.quorum.need());
        self.emit(Event::Queried { query: QueryId(query.number), holder });
    }
}

/// What the views of single nodes amount to.
fn tally(views: &[(NodeId, View)], nodes: NodeSet, need: usize) -> Holder {
    let with = |wanted: &View| -> NodeSet {
        let same = views.iter().filter(|(_, view)| match (view, wanted) {
            (View::Value { value: a, .. }, View::Value { value: b, .. }) => a == b,
            (view, wanted) => view == wanted,
        });
        same.map(|(id, _)| *id).collect()
    };
    let values = views.iter().filter(|(_, view)| matches!(view, View::Value { .. }));
    let most = values.map(|(_, view)| (with(view), view)).max_by_key(|(set, _)| set.len());
    let answered: NodeSet = views.iter().map(|(id, _)| *id).collect();
    let free = with(&View::Nothing);
    let mut holder = Holder {
        value: [0; MAX_VALUE],
        len: 0,
        holding: NodeSet::EMPTY,
        others: answered.without(free),
        free,
        unknown: nodes.without(answered),
        is_quorum: false,
        remaining: Duration::ZERO,
    };
    let Some((holding, View::Value { value, .. })) = most else { return holder };
    holder.value[..value.len()].copy_from_slice(value);
    // At most MAX_VALUE.
    holder.len = value.len() as u8;
    holder.holding = holding;
    holder.others = holder.others.without(holding);
    holder.is_quorum = holding.len() >= need;
    let mut times: SmallVec<[Duration; 5]> = SmallVec::new();
    for (id, view) in views {
        match view {
            View::Value { remaining, .. } if holding.contains(*id) => times.push(*remaining),
            _ => {}
        }
    }
    // Longest first: a quorum lasts as long as the last one that it needs.
    times.sort_unstable_by(|a, b| b.cmp(a));
    holder.remaining = times.get(need - 1).copied().unwrap_or_default();
    holder
}
