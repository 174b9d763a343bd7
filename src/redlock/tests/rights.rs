//! Rights (S10): what a node must let us run, and how a node that does not says so.

use super::*;

const EVAL_DENIED: &str = "-NOPERM User app has no permissions to run the 'eval' command";
const EVALSHA_DENIED: &str = "-NOPERM User app has no permissions to run the 'evalsha' command";
const GET_DENIED: &str = "*2\r\n$3\r\nget\r\n$70\r\nERR The user executing the script can't run \
                          this command or subcommand";
const TIME_DENIED: &str = "*2\r\n$4\r\ntime\r\n$70\r\nERR The user executing the script can't run \
                           this command or subcommand";
const FULL: &str = "*2\r\n$3\r\nset\r\n$23\r\nOOM command not allowed";

/// Connects one node that answers the two probes like this, and returns its status as a line.
fn probed(guard: RestartGuard, replies: [&'static str; 2]) -> (Rig, String) {
    let mut rig = Rig::unconnected(1, |config| config.restart_guard = guard);
    rig.masters[0].probed = Some(replies);
    rig.connect(0);
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there").to_string();
    (rig, status)
}

#[test]
fn a_node_that_does_not_run_what_locks_need_is_out_and_says_what_is_missing() {
    let rows = [
        ([GET_DENIED; 2], "get"),
        ([EVAL_DENIED, "-NOSCRIPT No matching script"], "eval"),
        ([GET_DENIED, EVALSHA_DENIED], "evalsha, get"),
        ([EVAL_DENIED, EVALSHA_DENIED], "eval, evalsha"),
    ];
    for guard in [RestartGuard::On, RestartGuard::Off] {
        for (replies, missing) in rows {
            let (rig, status) = probed(guard, replies);
            assert_eq!(rig.state(0), NodeState::Misconfigured, "{missing}");
            let text = format!("the user may not run: {missing} (ACL, or a renamed command)");
            assert!(status.starts_with(&format!("misconfigured: {text}")), "{status}");
        }
    }
}

#[test]
fn a_node_that_cannot_run_a_probe_for_another_reason_is_not_called_misconfigured() {
    let rows = [
        [FULL; 2],
        ["-BUSY Redis is busy running a script."; 2],
        ["-NOPERM No permissions to access a key", "-NOSCRIPT No matching script"],
        ["-ERR something else"; 2],
    ];
    for replies in rows {
        let (rig, status) = probed(RestartGuard::On, replies);
        assert_eq!(rig.state(0), NodeState::Ready, "{replies:?}: {status}");
        assert_eq!(status, "ready");
    }
}

#[test]
fn a_reply_that_no_probe_can_have_ends_the_session() {
    for reply in ["+OK", ":1", "*1\r\n$3\r\nget", "*2\r\n$3\r\nget\r\n:1"] {
        let (rig, _) = probed(RestartGuard::On, [reply, "*0"]);
        let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
        assert_eq!(status.error, Some(NodeError::UnexpectedReply), "{reply}");
    }
}

/// S11: the witness needs one right more than the locks.
#[test]
fn a_right_that_only_the_witness_needs_costs_only_the_witness() {
    let denied = "-ERR The user executing the script can't run this command or subcommand";
    let mut rig = Rig::unconnected(1, |_| ());
    rig.masters[0].probed = Some([TIME_DENIED; 2]);
    rig.masters[0].refusal = Some(denied);
    rig.connect(0);
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    assert_eq!(status.state, NodeState::Quarantined);
    assert!(status.missing.names().eq(["time"]), "{status}");
    let text = status.to_string();
    assert!(text.contains(", no right to keep a witness (may not run: time)"), "{text}");
}

/// A right that is taken away from a session is noticed by the first script without it.
#[test]
fn a_script_that_is_denied_ends_the_session_and_the_next_one_says_what_is_missing() {
    let mut rig = Rig::new(1);
    let lock = rig.held("r");
    rig.redlock.release(rig.now, lock).expect("held");
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
    rig.reply(0, "-ERR ACL failure in script: User a has no permissions to run the 'del' command");
    assert_eq!(rig.state(0), NodeState::Misconfigured);
    rig.masters[0].probed = Some([GET_DENIED; 2]);
    rig.connect(0);
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    assert!(matches!(status.error, Some(NodeError::MissingRights(_))), "{status}");
    rig.masters[0].probed = None;
    rig.connect(0);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"], "the key is still owed");
}

/// All missing rights are named at once, not one after the other.
#[test]
fn a_node_that_does_not_tell_who_it_is_says_what_else_is_missing() {
    let mut rig = Rig::unconnected(1, |_| ());
    rig.masters[0].probed = Some([GET_DENIED; 2]);
    rig.masters[0].refusal = Some("-NOPERM No permissions to access a key");
    rig.native = "-NOPERM User app has no permissions to run the 'command|info' command";
    rig.wanted.remove(node(0));
    rig.redlock.handle_connected(rig.now, node(0));
    for command in rig.sent(0) {
        let reply = if command.starts_with("INFO ") {
            "-NOPERM User app has no permissions to run the 'info' command"
        } else {
            "-NOPERM User app has no permissions to run this command"
        };
        rig.reply(0, reply);
    }
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there").to_string();
    let text = "misconfigured: the user may not run: info, get (ACL, or a renamed command), tried";
    assert!(status.starts_with(text), "{status}");
}
