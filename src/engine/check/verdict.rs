//! Whether locks can be had, by the states of all nodes.

use core::fmt;
use core::time::Duration;

use super::state::CheckState;
use super::words::about;
use crate::redlock::Quorum;

/// How many nodes can vote, now and later, and how many of them may fail.
///
/// `Display` writes one line.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CheckVerdict {
    /// The number of configured nodes, and how many of them a lock needs.
    pub quorum: Quorum,
    /// The number of nodes that can vote now.
    pub voting: usize,
    /// How many can vote when the quarantines end that run now, in the order of time.
    pub later: Vec<CheckStep>,
    /// How many could vote if a client came now and stayed: some quarantines begin only when a
    /// client meets the node. `None` if there are none of these.
    pub after_a_client: Option<CheckStep>,
}

/// How many nodes can vote after some time, if nothing else happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CheckStep {
    /// The time from now.
    pub after: Duration,
    /// The number of nodes that can vote then.
    pub voting: usize,
}

impl CheckVerdict {
    pub(super) fn new(states: &[CheckState], quorum: Quorum) -> Self {
        let voting = states.iter().filter(|state| **state == CheckState::Ready).count();
        let waits = |running: bool| {
            let wait = move |state: &CheckState| match *state {
                CheckState::Quarantined { remaining, is_running, .. }
                    if is_running == running && !remaining.is_zero() =>
                {
                    Some(remaining)
                }
                _ => None,
            };
            let mut waits: Vec<_> = states.iter().filter_map(wait).collect();
            waits.sort_unstable();
            waits
        };
        let running = waits(true);
        let later = (1..)
            .zip(&running)
            .map(|(more, after)| CheckStep { after: *after, voting: voting + more });
        let pending = waits(false);
        let after = pending.iter().chain(&running).max().copied().unwrap_or_default();
        let after_a_client = (!pending.is_empty())
            .then_some(CheckStep { after, voting: voting + running.len() + pending.len() });
        Self { quorum, voting, later: later.collect(), after_a_client }
    }

    /// Returns whether locks can be had now.
    pub fn has_quorum(&self) -> bool {
        self.voting >= self.quorum.need()
    }

    /// Returns whether every node can vote now.
    pub fn is_complete(&self) -> bool {
        self.voting == self.quorum.nodes()
    }

    /// Returns how many of the voting nodes may fail; `None` without a quorum.
    pub fn may_fail(&self) -> Option<usize> {
        self.voting.checked_sub(self.quorum.need())
    }

    fn write_step(&self, f: &mut fmt::Formatter<'_>, step: CheckStep, when: &str) -> fmt::Result {
        write!(f, "; {} {when}", step.voting)?;
        match step.voting.checked_sub(self.quorum.need()) {
            Some(spare) => write!(f, ", then {}", failures(spare)),
            None => Ok(()),
        }
    }
}

fn failures(spare: usize) -> String {
    if spare == 0 { "none may fail".to_owned() } else { format!("{spare} may fail") }
}

impl fmt::Display for CheckVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, needed, voting) = (self.quorum.nodes(), self.quorum.need(), self.voting);
        write!(f, "{voting} of {nodes} can vote, {needed} needed: ")?;
        match self.may_fail() {
            Some(spare) => f.write_str(&failures(spare))?,
            None => f.write_str("NO LOCKS NOW")?,
        }
        let enough = self.later.iter().find(|step| step.voting >= self.quorum.need());
        let enough = enough.filter(|_| !self.has_quorum());
        let last = self.later.last();
        for step in enough.into_iter().chain(last.filter(|last| enough != Some(last))) {
            self.write_step(f, *step, &format!("in {}", about(step.after)))?;
        }
        match self.after_a_client {
            Some(step) => {
                let after = about(step.after);
                self.write_step(f, step, &format!("can {after} after redbolt init or a client"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::{NodeError, QuarantineReason};

    const READY: CheckState = CheckState::Ready;
    const OUT: CheckState = CheckState::Out(NodeError::Replica);

    fn waits(seconds: u64, is_running: bool) -> CheckState {
        let remaining = Duration::from_secs(seconds);
        let reason = QuarantineReason::FirstContact;
        CheckState::Quarantined { remaining, reason, is_running }
    }

    #[test]
    fn the_verdict_says_who_can_vote_and_from_when() {
        let unseen = waits(0, true);
        let rows: [(&[CheckState], &str); 12] = [
            (&[READY], "1 of 1 can vote, 1 needed: none may fail"),
            (&[READY; 5], "5 of 5 can vote, 3 needed: 2 may fail"),
            (&[READY, READY, OUT], "2 of 3 can vote, 2 needed: none may fail"),
            (&[READY, OUT, OUT], "1 of 3 can vote, 2 needed: NO LOCKS NOW"),
            (&[OUT; 3], "0 of 3 can vote, 2 needed: NO LOCKS NOW"),
            (
                &[READY, READY, waits(42, true), OUT, OUT],
                "2 of 5 can vote, 3 needed: NO LOCKS NOW; 3 in 42s, then none may fail",
            ),
            (
                &[READY, READY, waits(42, true)],
                "2 of 3 can vote, 2 needed: none may fail; 3 in 42s, then 1 may fail",
            ),
            (
                &[waits(9, true), waits(42, true), READY],
                "1 of 3 can vote, 2 needed: NO LOCKS NOW; 2 in 9s, then none may fail; 3 in 42s, \
                 then 1 may fail",
            ),
            (&[waits(9, true), OUT, OUT], "0 of 3 can vote, 2 needed: NO LOCKS NOW; 1 in 9s"),
            (
                &[waits(60, false); 3],
                "0 of 3 can vote, 2 needed: NO LOCKS NOW; 3 can 60s after redbolt init or a \
                 client, then 1 may fail",
            ),
            (
                &[READY, waits(70, true), waits(60, false)],
                "1 of 3 can vote, 2 needed: NO LOCKS NOW; 2 in 70s, then none may fail; 3 can 70s \
                 after redbolt init or a client, then 1 may fail",
            ),
            (&[READY, READY, unseen], "2 of 3 can vote, 2 needed: none may fail"),
        ];
        for (states, expected) in rows {
            let quorum = Quorum::majority(states.len()).expect("few nodes");
            let verdict = CheckVerdict::new(states, quorum);
            assert_eq!(verdict.to_string(), expected.replace("60s", "1m"));
            let ready = states.iter().filter(|state| **state == READY).count();
            assert_eq!(verdict.is_complete(), ready == states.len(), "{states:?}");
            assert_eq!(verdict.has_quorum(), ready >= quorum.need(), "{states:?}");
        }
        let quorum = Quorum::new(5, 4).expect("a quorum");
        let verdict = CheckVerdict::new(&[READY, READY, READY, READY, OUT], quorum);
        assert_eq!(verdict.to_string(), "4 of 5 can vote, 4 needed: none may fail");
    }
}
