//! Nodes that run no scripts for us, and have a native compare-and-delete.

use super::*;

const EVAL_DENIED: &str = "-NOPERM User app has no permissions to run the 'eval' command";
const EVALSHA_DENIED: &str = "-NOPERM User app has no permissions to run the 'evalsha' command";

impl Rig {
    /// Creates a machine with three nodes, of which those in `scriptless` run no scripts.
    fn lacking_scripts(scriptless: &[usize]) -> Self {
        let mut rig = Self::unconnected(3, |config| config.restart_guard = RestartGuard::Off);
        rig.native = "*2\r\n*-1\r\n*0";
        for index in 0..3 {
            rig.connect_with(index, !scriptless.contains(&index));
        }
        rig.events();
        rig
    }

    /// Connects a node that runs scripts or not.
    fn connect_with(&mut self, index: usize, runs_scripts: bool) {
        self.masters[index].probed = (!runs_scripts).then_some([EVAL_DENIED, EVALSHA_DENIED]);
        self.connect(index);
        if !runs_scripts {
            assert_eq!(self.sent(index).len(), 2, "tries of both commands");
            self.reply(index, "-ERR syntax error");
            self.reply(index, ":0");
        }
        assert_eq!(self.state(index), NodeState::Ready);
    }

    /// Asks for a lock of two resources.
    fn acquire_pair(&mut self, wait: Duration) -> LockId {
        let lock = self.redlock.acquire_all(self.now, &["a", "b"], TTL, wait);
        lock.expect("the request is in bounds")
    }
}

#[test]
fn releases_leave_one_by_one_for_a_node_without_scripts() {
    let mut rig = Rig::lacking_scripts(&[1]);
    let locks = ["a", "b"].map(|resource| rig.held(resource));
    for lock in locks {
        rig.redlock.release(rig.now, lock).expect("it is held");
    }
    assert_eq!(rig.sent(0), ["EVALSHA release-many 2 a b #1 #2"]);
    assert_eq!(rig.sent(1), ["DELEX a IFEQ #1", "DELEX b IFEQ #2"]);
    // The next session runs them, and the one behind does not.
    rig.close(1);
    rig.connect_with(1, true);
    assert_eq!(rig.sent(1), ["EVALSHA release-many 2 a b #1 #2"]);
    rig.close(1);
    rig.connect_with(1, false);
    assert_eq!(rig.sent(1), ["DELEX a IFEQ #1", "DELEX b IFEQ #2"]);
}

/// The locks behind must not wait for nodes that this one alone needs.
#[test]
fn a_set_for_which_too_few_nodes_run_scripts_fails_at_once() {
    let mut rig = Rig::lacking_scripts(&[0, 2]);
    rig.acquire_pair(NO_WAIT);
    assert_eq!(rig.redlock.poll_timeout(), Some((rig.now, Reason::Lock)));
    rig.advance(NO_WAIT);
    let Event::AcquireFailed { error: AcquireError::NoQuorum(outcomes), .. } = rig.event() else {
        panic!("a set without a quorum of nodes that run scripts")
    };
    let lacking = NodeOutcome::NoScripts;
    assert_eq!(outcomes.as_slice(), [lacking, NodeOutcome::NotAsked, lacking]);
    assert!((0..3).all(|index| !rig.has_output(index)));
}

#[test]
fn a_set_that_waits_is_taken_when_enough_nodes_have_their_scripts_again() {
    let mut rig = Rig::lacking_scripts(&[0, 2]);
    rig.acquire_pair(WAIT);
    rig.advance(NO_WAIT);
    rig.close(2);
    rig.connect_with(2, true);
    rig.until(|rig| rig.has_output(1));
    for index in [1, 2] {
        assert!(rig.sent(index)[0].starts_with("EVALSHA acquire-set 2 a b "));
        rig.reply(index, "+OK");
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    assert!(!rig.has_output(0), "neither the set nor its repair");
}

/// A driver that asks again and again for what is due now would never sleep.
#[test]
fn an_attempt_that_can_ask_too_few_nodes_leaves_nothing_due_behind() {
    let mut rig = Rig::lacking_scripts(&[0, 2]);
    rig.acquire_pair(WAIT);
    rig.acquire_pair(WAIT);
    rig.advance(NO_WAIT);
    for _ in 0..5 {
        let (at, _) = rig.redlock.poll_timeout().expect("a retry is due");
        assert!(at > rig.now);
        rig.advance(at - rig.now);
    }
}

/// The lock needs its key on another node, before it can be extended.
#[test]
fn an_owner_who_extends_again_and_again_does_not_put_off_the_repair() {
    let mut rig = Rig::lacking_scripts(&[1]);
    let lock = rig.acquire("a", NO_WAIT);
    for (index, vote) in ["+OK", "+OK", "$-1"].into_iter().enumerate() {
        rig.sent(index);
        rig.reply(index, vote);
    }
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    let mut tries = 0;
    while !rig.has_output(2) {
        rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
        assert!(matches!(rig.event(), Event::ExtendFailed { .. }));
        rig.advance(ms(10));
        tries += 1;
        assert!(tries < 200, "no repair for an eighth of the validity and more");
    }
    assert!(rig.sent(2)[0].starts_with("SET a #1 NX PX "));
}

/// S7: a node that cannot confirm an extension has not confirmed it.
#[test]
fn a_node_without_scripts_is_no_part_of_an_extension() {
    let mut rig = Rig::lacking_scripts(&[1]);
    let lock = rig.held("a");
    rig.redlock.extend(rig.now, lock, TTL).expect("it is held");
    rig.sent(0);
    rig.reply(0, ":1");
    assert_eq!(rig.events(), [], "one of the three has confirmed");
    assert!(!rig.has_output(1));
    rig.sent(2);
    rig.reply(2, ":1");
    assert!(matches!(rig.event(), Event::Extended { .. }));
}

/// Somebody gives the user the rights, and restarts nobody.
#[test]
fn a_look_finds_that_a_node_runs_scripts_by_now() {
    let mut rig = Rig::lacking_scripts(&[1]);
    let look = |rig: &mut Rig, replies| {
        rig.masters[1].probed = Some(replies);
        rig.until(|rig| rig.has_output(1));
        for index in 0..3 {
            rig.shake_hands(index);
        }
        assert_eq!(rig.state(1), NodeState::Ready, "{replies:?}");
        rig.redlock.node(rig.now, node(1)).expect("the node is there").missing
    };
    // An error of any kind proves nothing.
    for replies in [[EVAL_DENIED, "*0"], ["-BUSY a script runs", "*0"], ["*0", EVALSHA_DENIED]] {
        assert!(!look(&mut rig, replies).allows_scripts(), "{replies:?}");
    }
    assert_eq!(look(&mut rig, ["*0"; 2]), MissingRights::default());
    let locks = ["a", "b"].map(|resource| rig.held(resource));
    for lock in locks {
        rig.redlock.release(rig.now, lock).expect("it is held");
    }
    assert_eq!(rig.sent(1), ["EVALSHA release-many 2 a b #1 #2"]);
}

#[test]
fn an_attempt_that_has_asked_nobody_is_due_at_once_and_waits_for_no_reply() {
    let mut rig = Rig::lacking_scripts(&[0, 1]);
    rig.acquire_pair(WAIT);
    assert_eq!(rig.redlock.first_due_without_reply(rig.now), Some(rig.now));
}
