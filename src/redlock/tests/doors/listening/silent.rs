//! Nodes that are silent, busy or wrong while somebody listens.

use super::*;

/// A node tells nothing for this long at the most before a request looks again.
const LONGEST: Duration = Duration::from_secs(10);

#[test]
fn a_node_that_never_pushes_delays_nobody_for_longer_than_the_longest_pause() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let asked = rig.now;
    let (again, opts_in) = rig.long_look();
    assert!(rig.now - asked <= LONGEST && again == door && opts_in);
    // Somebody else has the lock now, and the node has not said so.
    assert!(rig.tells(door));
    rig.reply(door, &token(1));
    rig.reply(door, ":60000");
    assert!(!rig.tells(door), "in this session nobody listens there any more");
    for _ in 0..5 {
        let (next, opts_in) = rig.long_look();
        rig.reply(next, &token(1));
        assert!(next != door || !opts_in);
        if opts_in {
            rig.reply(next, ":60000");
        }
    }
}

#[test]
fn a_node_that_refuses_to_tell_is_looked_at_as_ever() {
    let mut rig = telling();
    rig.masters.iter_mut().for_each(|master| {
        master.mute =
            Some(("CLIENT", "-NOPERM no permissions to run the 'client|caching' command"));
    });
    rig.refused(LONG_WAIT);
    let waited = rig.now;
    for _ in 0..30 {
        let (door, _) = rig.long_look();
        rig.reply(door, &token(0));
        if rig.has_output(door) || !rig.owed[door].is_empty() {
            rig.reply(door, ":60000");
        }
        assert!(rig.state(door) == NodeState::Ready, "no session is worth a look");
    }
    assert!(rig.now - waited < Duration::from_secs(6), "{:?}", rig.now - waited);
}

#[test]
fn who_listens_looks_at_two_nodes_in_turn() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let first = rig.listens(600_000);
    let (since, mut doors) = (rig.now, vec![first]);
    while rig.now - since < Duration::from_secs(400) {
        let (again, opts_in) = rig.long_look();
        doors.push(again);
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, ":600000");
        }
    }
    let last = &doors[doors.len() / 2..];
    assert!(last.iter().any(|door| *door != last[0]), "{doors:?}");
}

#[test]
fn a_token_left_at_the_node_that_tells_keeps_nobody_out_for_long() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let first = rig.listens(600_000);
    let second = loop {
        let (again, opts_in) = rig.long_look();
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, ":600000");
        }
        if again != first {
            break again;
        }
    };
    // The owner releases everywhere but at the second node.
    let since = rig.now;
    let bytes = format!("{}\r\n", touched("r"));
    rig.redlock.handle_received(rig.now, node(first), bytes.as_bytes());
    while rig.now - since < Duration::from_secs(300) {
        let (again, opts_in) = rig.long_look();
        if again == first {
            return assert!(rig.now - since < Duration::from_secs(50), "{:?}", rig.now - since);
        }
        assert_eq!(again, second);
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, &format!(":{}", 600_000 - (rig.now - since).as_millis()));
        }
    }
    panic!("free at four of five nodes for five minutes, and nobody asked");
}

#[test]
fn the_witness_is_tracked_although_a_key_was_not_told() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let (again, _) = rig.long_look();
    assert_eq!(again, door);
    rig.reply(door, &token(1));
    while !rig.owed[door].is_empty() {
        rig.reply(door, ":60000");
    }
    rig.answers_looks = false;
    let pushed = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nredbolt:witness\r\n";
    rig.redlock.handle_received(rig.now, node(door), pushed.as_bytes());
    rig.run_actions();
    rig.transmit(door);
    let owed = format!("{:?} {:?}", rig.outputs[door], rig.owed[door]);
    assert!(owed.contains("CACHING"), "{owed}");
}

#[test]
fn a_renewal_that_a_node_did_not_tell_shows_that_it_never_tells() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    rig.listens(5_000);
    let (since, mut looks) = (rig.now, 0);
    while rig.now - since < Duration::from_secs(300) {
        let (again, opts_in) = rig.look_or_knock();
        if !opts_in && (0..5).any(|index| !rig.tells(index)) {
            return;
        }
        looks += 1;
        rig.reply(again, &token(0));
        while !rig.owed[again].is_empty() {
            rig.reply(again, ":5000");
        }
    }
    panic!("{looks} looks without a push in five minutes");
}

#[test]
fn a_busy_moment_of_a_look_ends_no_listening() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = loop {
        let (door, opts_in) = rig.long_look();
        if !opts_in {
            rig.reply(door, &token(0));
            continue;
        }
        break door;
    };
    // long_look has dealt with +OK of the opt-in already; make a look of the node fail instead.
    rig.reply(door, &token(0));
    rig.reply(door, ":60000");
    rig.answers_looks = false;
    let pushed = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nredbolt:witness\r\n";
    rig.redlock.handle_received(rig.now, node(door), pushed.as_bytes());
    rig.run_actions();
    let sent = rig.sent(door);
    let owed = rig.owed[door].len();
    for _ in 0..owed {
        rig.receive(door, "-BUSY Redis is busy running a script.");
    }
    assert!(rig.tells(door), "sent {sent:?}, owed {owed}: tracking is over for the session");
}

#[test]
fn a_busy_moment_at_the_door_ends_no_listening() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let busy = "-BUSY Redis is busy running a script.";
    let mut last = 0;
    for _ in 0..60 {
        rig.masters.iter_mut().for_each(|master| master.mute = Some(("CLIENT", busy)));
        let (door, opts_in) = rig.long_look();
        last = door;
        if opts_in {
            rig.reply(door, busy);
            rig.masters.iter_mut().for_each(|master| master.mute = None);
            while rig.owed[door].iter().any(Option::is_none) {
                rig.reply(door, busy);
            }
            break;
        }
        rig.reply(door, &token(0));
    }
    rig.advance(ms(300));
    assert!(rig.tells(last), "{:?}", rig.state(last));
}
