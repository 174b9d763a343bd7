use super::*;
use crate::redlock::Constants;

const NOW: u64 = 1_800_000_000_000_000;
const LONG_AGO: u64 = 1_700_000_000_000_000;
const OLD: Duration = Duration::from_secs(60);

/// What one node has, and whether it was a node of the old deployment.
type Nodes = Vec<Result<Sight, NodeError>>;

fn sight(standing: Option<Standing>) -> Result<Sight, NodeError> {
    Ok(Sight { standing, seen: standing.map(|_| LONG_AGO), ..Sight::empty(NOW) })
}

fn witness(nodes: u64, max_ttl: Duration, change: Option<u64>) -> Option<Standing> {
    let max_ttl = u64::try_from(max_ttl.as_millis()).unwrap();
    let constants = Constants::read(max_ttl, nodes);
    Some(Standing { is_own: true, born: LONG_AGO, constants, change })
}

/// A change between two lists, of which the first nodes are the same.
#[derive(Clone, Copy, Debug)]
struct Shape {
    old: u64,
    new: u64,
    kept: u64,
    max_ttl: Duration,
}

impl Shape {
    fn config(self) -> RedlockConfig {
        RedlockConfig { max_ttl: self.max_ttl, ..RedlockConfig::default() }
    }

    fn begin(self) -> Nodes {
        let old = witness(self.old, OLD, None);
        (0..self.new).map(|place| sight(old.filter(|_| place < self.kept))).collect()
    }

    fn plan(self, nodes: &Nodes, id: u64) -> Change {
        Change::plan(&self.config(), false, nodes, id)
    }

    fn target(self) -> Constants {
        witness(self.new, self.max_ttl, None).unwrap().constants
    }

    /// Returns all states in which a run can leave the nodes, the last of them when it is not cut
    /// short. `None` if the run is refused.
    fn run(self, nodes: &Nodes, id: u64) -> Option<Vec<Nodes>> {
        let change = self.plan(nodes, id);
        let steps: Option<Vec<_>> = nodes
            .iter()
            .map(|sight| {
                let sight = sight.as_ref().unwrap();
                let finding = InitFinding::Nothing { keys: Some(0) };
                change.decide(nodes, sight, finding).0.ok()
            })
            .collect();
        let steps = steps?;
        let mut states = vec![nodes.clone()];
        for turn in change.turns() {
            let before = states.last().unwrap().clone();
            let places: Vec<_> =
                (0..nodes.len()).filter(|place| turn.takes(steps[*place])).collect();
            // Any of the nodes of a turn may have done what was ordered.
            for some in 1..1_usize << places.len() {
                let mut after = before.clone();
                let done = places.iter().enumerate().filter(|(bit, _)| some >> bit & 1 == 1);
                done.for_each(|(_, place)| self.act(&change, *turn, &mut after[*place]));
                states.push(after);
            }
        }
        Some(states)
    }

    /// Does what the scripts do.
    fn act(self, change: &Change, turn: Turn, node: &mut Result<Sight, NodeError>) {
        let sight = node.as_mut().unwrap();
        let is_empty = sight.standing.is_none();
        let mut standing = sight.standing.or_else(|| witness(0, self.max_ttl, None)).unwrap();
        let is_closed = standing.constants.is_closed;
        match turn {
            Turn::Open => {
                let has_number = standing.change == Some(change.id);
                assert!(is_empty || has_number || is_closed && standing.change.is_none());
                standing.constants = self.target();
            }
            _ if is_closed => {}
            _ => standing.constants.is_closed = true,
        }
        standing.change = Some(change.id);
        sight.standing = Some(standing);
    }

    /// Whether clients of both sides could find a quorum now. A node without a witness is as good
    /// as a new one: its first client writes the witness.
    fn has_two_quorums(self, nodes: &Nodes) -> bool {
        let has = |sight: &Result<Sight, NodeError>, count: u64| {
            let is_open = |old: Standing| old.constants.nodes == count && !old.constants.is_closed;
            sight.as_ref().unwrap().standing.is_none_or(is_open)
        };
        let new = nodes.iter().filter(|node| has(node, self.new)).count() as u64;
        let nodes = nodes.iter().take(usize::try_from(self.kept).unwrap());
        let old = nodes.filter(|node| has(node, self.old)).count() as u64 + self.old - self.kept;
        old > self.old / 2 && new > self.new / 2
    }
}

const fn shape(old: u64, new: u64, kept: u64) -> Shape {
    Shape { old, new, kept, max_ttl: Duration::from_secs(30) }
}

#[test]
fn no_two_sides_have_a_quorum_wherever_a_change_is_cut_short_and_another_run_ends_it() {
    let shapes = [
        shape(3, 5, 3),
        shape(5, 3, 3),
        shape(3, 4, 2),
        shape(4, 5, 3),
        shape(5, 4, 3),
        shape(2, 3, 2),
        shape(1, 2, 1),
        shape(2, 1, 1),
        shape(5, 7, 4),
    ];
    for shape in shapes {
        for first in shape.run(&shape.begin(), 1).expect("a change") {
            assert!(!shape.has_two_quorums(&first), "{shape:?}: {first:?}");
            let again = shape.run(&first, 2).expect("another run");
            for second in &again {
                assert!(!shape.has_two_quorums(second), "{shape:?}: {first:?} {second:?}");
            }
            let end = again.last().unwrap();
            assert_eq!(shape.plan(end, 3).state, State::Done, "{shape:?}: {first:?} {end:?}");
        }
    }
}

#[test]
fn a_node_that_comes_back_empty_or_renewed_keeps_no_change_from_its_end() {
    // One node of the old ones to spare.
    for shape in [shape(3, 5, 3), shape(5, 4, 4), shape(3, 3, 3)] {
        for state in shape.run(&shape.begin(), 1).expect("a change") {
            for place in 0..state.len() {
                let mut empty = state.clone();
                empty[place] = sight(None);
                // A look has written the witness of a closed node anew.
                let mut renewed = state.clone();
                let standing = renewed[place].as_mut().unwrap().standing.as_mut();
                standing.into_iter().for_each(|old| {
                    old.change = old.change.filter(|_| !old.constants.is_closed);
                });
                for state in [empty, renewed] {
                    let Some(again) = shape.run(&state, 2) else {
                        panic!("{shape:?}: {place} of {state:?}");
                    };
                    let end = again.last().unwrap();
                    assert_eq!(shape.plan(end, 3).state, State::Done, "{shape:?}: {state:?}");
                }
            }
        }
    }
}

#[test]
fn a_list_that_leaves_a_quorum_of_the_old_nodes_out_is_refused() {
    let rows = [(1, 3, 1), (3, 5, 2), (4, 4, 2), (5, 3, 3), (2, 2, 1)];
    for (old, new, kept) in rows {
        assert!(shape(old, new, kept).run(&shape(old, new, kept).begin(), 1).is_some());
        let fewer = shape(old, new, kept - 1);
        assert!(kept == 1 || fewer.run(&fewer.begin(), 1).is_none(), "{fewer:?}");
    }
}

#[test]
fn another_list_does_not_go_on_where_a_change_was_cut_short() {
    let (a, closed) = (witness(3, OLD, None), witness(1_003, OLD, Some(1)));
    let new = witness(1_000, OLD, Some(1));
    let shape = Shape { max_ttl: OLD, ..shape(3, 3, 1) };
    // One node of three is closed, and two new ones: the other two still are a quorum.
    let nodes = [closed, new, new].map(sight).to_vec();
    assert!(shape.run(&nodes, 2).is_none());
    // Back to the old list: nothing but the closed node is to be opened, behind a wait.
    let nodes = [closed, a, a].map(sight).to_vec();
    assert_eq!(shape.plan(&nodes, 2).state, State::Begun);
}

#[test]
fn nodes_that_were_opened_by_the_same_change_need_not_be_left_alone_again() {
    let shape = Shape { max_ttl: OLD, ..shape(3, 5, 3) };
    let open = |change| witness(5, OLD, change);
    let closed = |of: u64, change| witness(1_000 + of, OLD, change);
    let rows = [
        ([open(Some(1)), open(Some(1)), closed(3, Some(1)), closed(0, Some(1))], State::Opening),
        ([open(Some(1)), open(Some(1)), closed(3, None), closed(0, Some(1))], State::Opening),
        ([open(Some(1)), open(Some(1)), closed(3, Some(1)), None], State::Opening),
        ([open(Some(1)), open(None), closed(3, Some(1)), closed(0, Some(1))], State::Begun),
        ([open(Some(1)), open(Some(1)), closed(3, Some(2)), closed(0, Some(1))], State::Begun),
        ([open(Some(1)), open(Some(1)), witness(3, OLD, None), closed(0, Some(1))], State::Begun),
        ([open(Some(1)), open(Some(1)), open(Some(1)), None], State::Begun),
        ([open(Some(1)), open(None), open(Some(2)), open(Some(1))], State::Done),
    ];
    for (others, expected) in rows {
        let nodes = others.into_iter().chain([open(Some(1))]).map(sight).collect();
        assert_eq!(shape.plan(&nodes, 9).state, expected, "{nodes:?}");
    }
}

#[test]
fn a_node_is_in_use_until_its_own_clock_says_otherwise() {
    let quiet = 91_814_030; // µs
    let born = LONG_AGO;
    let wait = |ago: Option<u64>, left| {
        Some(InitWait { ago: ago.map(Duration::from_micros), left: Duration::from_micros(left) })
    };
    let rows = [
        // the last look, the birth, whether the witness is of this process, the wait
        (Some(NOW - quiet), born, true, None),
        (Some(NOW - quiet + 1), born, true, wait(Some(quiet - 1), 1)),
        (Some(NOW), born, true, wait(Some(0), quiet)),
        (Some(NOW - quiet), NOW - 5, true, wait(Some(5), quiet - 5)),
        (Some(NOW - quiet), 0, true, None),
        (Some(NOW - quiet), born, false, wait(None, quiet)),
        (Some(NOW + 1), born, true, wait(None, quiet)),
        (Some(NOW - quiet), NOW + 1, true, wait(None, quiet)),
        (None, born, true, wait(None, quiet)),
    ];
    let shape = Shape { max_ttl: OLD, ..shape(3, 5, 3) };
    for (seen, born, is_own, expected) in rows {
        let standing = Standing { is_own, born, ..witness(3, OLD, None).unwrap() };
        let sight = Sight { seen, ..sight(Some(standing)).unwrap() };
        let mut nodes = shape.begin();
        nodes[0] = Ok(sight);
        let change = shape.plan(&nodes, 1);
        assert_eq!(change.quiet, Duration::from_micros(quiet));
        let finding = match is_own {
            true => InitFinding::Declared { max_ttl: OLD },
            false => InitFinding::Other { max_ttl: OLD },
        };
        let (_, found) = change.decide(&nodes, &sight, finding);
        assert_eq!(found, expected, "{seen:?} {born} {is_own}");
    }
}

#[test]
fn a_longer_max_ttl_stays_where_that_is_wanted() {
    let secs = Duration::from_secs;
    for (keeps, ours, expected) in [(true, 30, 60), (true, 90, 90), (false, 30, 30)] {
        let config = RedlockConfig { max_ttl: secs(ours), ..RedlockConfig::default() };
        let change = Change::plan(&config, keeps, &shape(3, 5, 3).begin(), 1);
        assert_eq!(change.target, Deployment { nodes: 5, max_ttl: secs(expected) });
    }
}
