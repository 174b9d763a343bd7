//! [`InitPlan`]: what is to be done on each node, and the doing.

use core::fmt;
use std::io;

use super::advice::advise;
use super::change::{Change, Turn};
use super::error::InitError;
use super::refusal::InitRefusal;
use super::report::{InitNode, InitReport};
use super::step::{InitAction, InitStep, InitWait};
use super::verdict;
use crate::engine::config::Config;
use crate::engine::deployment::Deployment;
use crate::net::{Clock, Visit, in_threads};
use crate::redlock::{NodeError, Order, Receipt, RedlockConfig, Uninspected};

/// All nodes inspected, and what is to be done on each. Nothing has been written yet.
///
/// A plan holds a connection to each node. Each node compares again what was found when it is
/// written to, so an old plan does no harm.
#[must_use = "nothing is written before `execute`"]
pub struct InitPlan {
    /// The settings, with the `max_ttl` that is to be written.
    config: RedlockConfig,
    work: Work,
    visits: Vec<Result<Visit, Box<Uninspected>>>,
    report: InitReport,
}

/// What an operator wants.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// What one order to each node does.
    Order(verdict::Aim),
    /// Other constants; a longer `max_ttl` of the deployment stays, or not.
    Change { keeps_longer: bool },
}

/// What is to be done.
#[derive(Clone, Copy, Debug)]
enum Work {
    Order(verdict::Aim),
    Change(Change),
}

impl InitPlan {
    pub(super) fn new(config: &Config, goal: Goal) -> Result<Self, InitError> {
        config.check_engine()?;
        let Config { nodes, redlock: config, credentials, .. } = config;
        let credentials = credentials.as_ref();
        let pay = |address| Visit::pay(address, credentials, config, nodes.len());
        let visits = in_threads(nodes.iter().collect(), pay)?;
        let sight = |visit: &Result<Visit, Box<Uninspected>>| match visit {
            Ok(visit) => Ok(*visit.sight()),
            Err(visit) => Err(visit.error),
        };
        let sights: Vec<_> = visits.iter().map(sight).collect();
        let mut config = config.clone();
        let (work, mut judged) = match goal {
            Goal::Order(aim) => {
                let aim = aim.on(&config, &sights);
                (Work::Order(aim), verdict::judge(aim, &config, nodes, &sights))
            }
            Goal::Change { keeps_longer } => {
                let id = u64::try_from(Clock::since_1970().as_micros()).unwrap_or(u64::MAX);
                let change = Change::plan(&config, keeps_longer, &sights, id);
                config.max_ttl = change.target.max_ttl;
                (Work::Change(change), change.judge(nodes, &sights))
            }
        };
        advise(&config, &mut judged, &visits);
        Ok(Self { config, work, visits, report: InitReport::new(judged) })
    }

    /// Returns what was found on each node, and what is to be done there.
    pub fn report(&self) -> &InitReport {
        &self.report
    }

    /// Returns what the deployment is to have, if it is to be [changed](super::Init::reconfigure).
    pub fn target(&self) -> Option<Deployment> {
        match self.work {
            Work::Change(change) => Some(change.target),
            Work::Order(_) => None,
        }
    }

    /// Returns how many nodes of the deployment that is to be changed are not on the list.
    pub fn dropped(&self) -> usize {
        match self.work {
            Work::Change(change) => usize::try_from(change.dropped).unwrap_or(usize::MAX),
            Work::Order(_) => 0,
        }
    }

    /// Returns whether [`execute`](Self::execute) would refuse, as far as is known now: it would
    /// write nothing, because a node is missing or unfit, or has not been left alone for long
    /// enough.
    pub fn is_refused(&self) -> bool {
        match self.work {
            Work::Change(_) => !self.report.is_complete() || !self.report.wait().is_zero(),
            Work::Order(aim) if aim.needs_all() => !self.report.is_complete(),
            // The other nodes must not become those of clients that disagree with this one.
            Work::Order(_) => self.report.nodes.iter().any(|node| {
                matches!(
                    node.result,
                    Err(InitRefusal::OtherNodes { .. } | InitRefusal::HalfChanged)
                )
            }),
        }
    }

    /// Returns the error with which [`execute`](Self::execute) would refuse.
    pub fn refusal(&self) -> Option<InitError> {
        self.is_refused().then(|| InitError::Refused(self.report.clone().refused()))
    }

    /// Writes what is to be written, and blocks meanwhile: `connect_timeout` at most for each of
    /// the two steps that a change has, and for the one step of everything else.
    ///
    /// # Errors
    ///
    /// The same as [`Init::run`](super::Init::run).
    pub fn execute(mut self) -> Result<InitReport, InitError> {
        if self.is_refused() {
            return Err(InitError::Refused(self.report.refused()));
        }
        match self.work {
            Work::Order(aim) => self.order(aim)?,
            Work::Change(change) => self.change(&change)?,
        }
        advise(&self.config, &mut self.report.nodes, &self.visits);
        let report = self.report;
        if report.is_complete() { Ok(report) } else { Err(InitError::Unfinished(report)) }
    }

    fn order(&mut self, aim: verdict::Aim) -> io::Result<()> {
        let (config, nodes) = (self.config.clone(), self.visits.len());
        self.each(
            |node| node.result.is_ok(),
            |visit, node| match visit.order(aim.order(), &config, nodes) {
                Ok(Receipt::Done(word)) => verdict::done(aim, &config, nodes, &word, node.finding),
                receipt => Err(refusal(receipt)),
            },
        )?;
        self.report.look_period = verdict::look_period(&self.config, &self.report.nodes);
        Ok(())
    }

    /// Closes all nodes, and opens them if all are closed.
    fn change(&mut self, change: &Change) -> io::Result<()> {
        for turn in change.turns() {
            let select = |node: &InitNode| step(node).is_some_and(|step| turn.takes(step));
            self.send(change.order(*turn), change, select)?;
            if *turn != Turn::Open && !self.report.is_complete() {
                self.give_up(*turn);
                return Ok(());
            }
        }
        self.each(|node| step(node).is_some(), |_, _| Ok(InitAction::Kept))
    }

    /// Has those nodes begin to measure for how long they are left alone that cannot tell
    /// ([`InitWait::ago`]), so that there is an end to the [wait](InitReport::wait). They write a
    /// new witness for their own process and data, as a client's look has them do. All other nodes
    /// are left as they are, and so are all if something else is in the way.
    ///
    /// Whoever does not wait for the nodes need not call this.
    ///
    /// # Errors
    ///
    /// Returns the error of the system if a thread cannot be started.
    pub fn measure(&mut self) -> Result<(), InitError> {
        let Work::Change(change) = self.work else { return Ok(()) };
        if !self.report.is_complete() {
            return Ok(());
        }
        let cannot_tell = |node: &InitNode| node.wait.is_some_and(|wait| wait.ago.is_none());
        let (config, nodes) = (self.config.clone(), self.visits.len());
        self.each(cannot_tell, |visit, node| {
            match visit.order(change.measure(), &config, nodes) {
                Ok(_) => node.result.clone(),
                Err(error) => Err(InitRefusal::Node(error)),
            }
        })?;
        advise(&self.config, &mut self.report.nodes, &self.visits);
        Ok(())
    }

    /// Sends an order of a change to some nodes. Those that are closed keep their plan.
    fn send(
        &mut self,
        order: Order,
        change: &Change,
        select: impl Fn(&InitNode) -> bool,
    ) -> io::Result<()> {
        let (config, nodes) = (self.config.clone(), self.visits.len());
        self.each(select, |visit, node| match visit.order(order, &config, nodes) {
            Ok(Receipt::Closed) => node.result.clone(),
            Ok(Receipt::Done(word)) if change.target.is_of(word.constants) => Ok(done(node)),
            receipt => Err(refusal(receipt)),
        })
    }

    /// Says of each node what has become of it when not all could be closed in this turn.
    fn give_up(&mut self, turn: Turn) {
        for node in &mut self.report.nodes {
            let Some(step) = step(node) else { continue };
            let is_closed = turn == Turn::CloseUsed || turn.takes(step);
            let refusal = if is_closed { InitRefusal::Closed } else { InitRefusal::NotReached };
            node.result = Err(refusal);
        }
    }

    /// Calls `act` for the selected nodes, all at once, and keeps the results.
    fn each(
        &mut self,
        select: impl Fn(&InitNode) -> bool,
        act: impl Fn(&mut Visit, &InitNode) -> Result<InitAction, InitRefusal> + Sync,
    ) -> io::Result<()> {
        let pairs = self.visits.iter_mut().zip(&mut self.report.nodes);
        let selected = pairs.filter_map(|(visit, node)| {
            let visit = visit.as_mut().ok()?;
            select(node).then_some((visit, node))
        });
        in_threads(selected.collect(), |(visit, node): (&mut Visit, &mut InitNode)| {
            node.result = act(visit, node);
        })?;
        Ok(())
    }
}

impl fmt::Debug for InitPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { work, report, .. } = self;
        f.debug_struct("InitPlan")
            .field("work", work)
            .field("report", report)
            .finish_non_exhaustive()
    }
}

/// Returns what is still to be done on a node.
fn step(node: &InitNode) -> Option<InitStep> {
    match node.result {
        Ok(InitAction::Planned(step)) => Some(step),
        _ => None,
    }
}

/// Returns what was done on a node that has just been opened.
fn done(node: &InitNode) -> InitAction {
    match step(node) {
        Some(InitStep::Change { from, to }) => InitAction::Changed { from, to },
        Some(InitStep::Open { to }) => InitAction::Opened { to },
        _ => InitAction::Written,
    }
}

/// Returns why a node has not done what was ordered.
fn refusal(receipt: Result<Receipt, NodeError>) -> InitRefusal {
    match receipt {
        Ok(Receipt::NotEmpty(keys)) => InitRefusal::NotEmpty { keys },
        Ok(Receipt::InUse { ago, left }) => InitRefusal::InUse(InitWait { ago: Some(ago), left }),
        Ok(Receipt::Done(_) | Receipt::Closed | Receipt::Changed) => InitRefusal::ChangedMeanwhile,
        Err(error) => InitRefusal::Node(error),
    }
}
