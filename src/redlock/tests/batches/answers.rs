//! What comes back for a group: answers out of shape, errors, refusals, or the end of the
//! connection. And what leaves without a group, by a command of the server.

use super::*;

#[test]
fn a_group_that_is_not_loaded_goes_once_by_its_text_with_the_same_keys() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 3);
    release(&mut rig, &locks[..2]);
    rig.sent(0);
    rig.redlock.flush_batches(rig.now);
    release(&mut rig, &locks[2..]);
    rig.redlock.flush_batches(rig.now);
    assert_eq!(rig.sent(0), ["EVALSHA release 1 c #3"]);
    // Two requests are on their way. The first is refused, and joins the queue behind the second.
    rig.reply(0, "-NOSCRIPT No matching script.");
    assert_eq!(rig.sent(0), ["EVAL release-many-text 2 a b #1 #2"]);
    rig.reply(0, ":0");
    rig.reply(0, "*2\r\n:1\r\n:-1");
    let said = rig.events().into_iter().map(|event| match event {
        Event::Released { lock, outcome } => {
            (lock, outcome.released.len(), outcome.absent.len(), outcome.foreign.len())
        }
        other => panic!("{other:?}"),
    });
    let said: Vec<_> = said.collect();
    assert_eq!(said, [(locks[2], 0, 1, 0), (locks[0], 1, 0, 0), (locks[1], 0, 0, 1)]);
}

/// The script for extensions never answers so, and an extension must not rest on a stray number.
#[test]
fn a_number_for_all_is_no_answer_to_extensions() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 3);
    release(&mut rig, &locks[..1]);
    for lock in &locks[1..] {
        rig.redlock.extend(rig.now, *lock, ms(10_000)).expect("it is held");
    }
    let sent = rig.sent(0).join("; ");
    assert!(sent.ends_with("EVALSHA extend-many 2 b c #2 #3 10000 10000"), "{sent}");
    rig.reply(0, ":1");
    rig.reply(0, ":2");
    assert!(rig.closed.contains(node(0)));
}

/// S4: an answer for more or fewer keys than were asked about belongs to another request.
#[test]
fn a_group_answered_out_of_shape_poisons_the_connection() {
    let arrays = ["*1\r\n:1", "*3\r\n:1\r\n:1\r\n:1", "*2\r\n:1\r\n+OK", "*2\r\n:1\r\n:2"];
    for reply in arrays.into_iter().chain([":1", ":3", ":0", ":-2"]) {
        let mut rig = Rig::new(1);
        let locks = held(&mut rig, 2);
        release(&mut rig, &locks);
        rig.reply(0, reply);
        assert!(rig.closed.contains(node(0)), "{reply}");
        let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
        assert_eq!(status.cleanup, 2, "{reply}");
    }
}

/// S6: each key of a group whose connection died is cleaned up, and each key that had not left yet.
#[test]
fn a_group_that_died_with_its_connection_is_cleaned_up_as_a_group() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 4);
    release(&mut rig, &locks[..2]);
    rig.sent(0);
    release(&mut rig, &locks[2..]);
    rig.close(0);
    rig.events();
    rig.connect(0);
    let sent = rig.sent(0);
    let words: Vec<_> = sent[0].split(' ').collect();
    assert_eq!(words[..3], ["EVALSHA", "release-many", "4"]);
    let mut pairs: Vec<_> = words[3..7].iter().zip(&words[7..]).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [(&"a", &"#1"), (&"b", &"#2"), (&"c", &"#3"), (&"d", &"#4")]);
    rig.reply(0, "*4\r\n:1\r\n:1\r\n:1\r\n:1");
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    assert_eq!(status.cleanup, 0);
    assert_eq!(rig.redlock.in_use(), 0);
}

#[test]
fn an_error_to_a_group_is_an_error_for_each_key() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 2);
    release(&mut rig, &locks);
    rig.sent(0);
    rig.reply(0, "-BUSY Redis is busy running a script.");
    for event in rig.events() {
        let Event::Released { outcome, .. } = event else { panic!("{event:?}") };
        assert_eq!(outcome.unconfirmed, nodes([0]));
    }
    assert_eq!(rig.sent(0), [""; 0], "not again at once");
    rig.until(|rig| rig.has_output(0));
    assert_eq!(rig.sent(0), ["EVALSHA release-many 2 a b #1 #2"]);
}

fn native(says: &'static str) -> Rig {
    let mut rig = Rig::unconnected(1, |_| ());
    rig.native = says;
    rig.connect(0);
    rig.events();
    rig
}

#[test]
fn a_lone_release_goes_by_the_servers_own_command_and_more_by_script() {
    for (says, command) in [
        ("*2\r\n*1\r\n+delifeq\r\n*-1", "DELIFEQ a #1"),
        ("*2\r\n*-1\r\n*1\r\n+delex", "DELEX a IFEQ #1"),
        ("*2\r\n*1\r\n+delifeq\r\n*1\r\n+delex", "DELIFEQ a #1"),
        ("*2\r\n*-1\r\n*-1", "EVALSHA release 1 a #1"),
        ("-NOPERM no permissions", "EVALSHA release 1 a #1"),
    ] {
        let mut rig = native(says);
        let locks = held(&mut rig, 3);
        release(&mut rig, &locks[..1]);
        assert_eq!(rig.sent(0), [command]);
        rig.reply(0, ":1");
        release(&mut rig, &locks[1..]);
        assert_eq!(rig.sent(0), ["EVALSHA release-many 2 b c #2 #3"]);
    }
}

/// S7: `SET … IFEQ … PX` sets the ttl whatever it was. If such a command came late, out of the
/// buffers of a dead connection, two clients could hold the lock.
#[test]
fn an_extension_is_never_native() {
    let mut rig = native("*2\r\n*1\r\n+delifeq\r\n*1\r\n+delex");
    let locks = held(&mut rig, 1);
    rig.redlock.extend(rig.now, locks[0], TTL).expect("held");
    assert_eq!(rig.sent(0), ["EVALSHA extend 1 a #1 10000"]);
}

#[test]
fn a_native_command_that_the_server_refuses_is_resent_as_a_script() {
    for error in [
        "-ERR unknown command 'DELIFEQ', with args beginning with: 'a'",
        "-NOPERM User app has no permissions to run the 'delifeq' command",
    ] {
        let mut rig = native("*2\r\n*1\r\n+delifeq\r\n*-1");
        let locks = held(&mut rig, 2);
        release(&mut rig, &locks[..1]);
        rig.sent(0);
        rig.reply(0, error);
        assert_eq!(rig.sent(0), ["EVALSHA release 1 a #1"]);
        rig.reply(0, ":1");
        assert!(matches!(rig.event(), Event::Released { .. }));
        release(&mut rig, &locks[1..]);
        assert_eq!(rig.sent(0), ["EVALSHA release 1 b #2"], "it is not tried again");
        assert_eq!(rig.state(0), NodeState::Ready);
    }
}

#[test]
fn a_key_without_permission_does_not_take_its_group_with_it() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 2);
    release(&mut rig, &locks);
    rig.sent(0);
    rig.reply(0, "-NOPERM No permissions to access a key");
    assert_eq!(rig.sent(0), ["EVALSHA release 1 a #1", "EVALSHA release 1 b #2"]);
    rig.reply(0, "-NOPERM No permissions to access a key");
    rig.reply(0, ":1");
    let released: Vec<_> = rig
        .events()
        .into_iter()
        .map(|event| match event {
            Event::Released { outcome, .. } => outcome.released.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(released, [0, 1]);
    assert_eq!(rig.state(0), NodeState::Ready);
}

/// An extension that nobody waits for any more is not sent again: its round is over.
#[test]
fn a_stale_extension_is_not_resent() {
    let mut rig = Rig::new(1);
    let locks = held(&mut rig, 2);
    locks.iter().for_each(|lock| rig.redlock.extend(rig.now, *lock, TTL).expect("held"));
    rig.sent(0);
    release(&mut rig, &locks[..1]);
    rig.reply(0, "-NOSCRIPT No matching script.");
    let text = "EVAL extend-text 1 b #2 10000";
    assert_eq!(rig.sent(0)[0], text);
}

/// The end of another lock can be noticed while a request is sent again. The release of that lock
/// must not come between the keys of the request.
#[test]
fn an_extension_that_is_resent_is_not_mixed_with_the_release_of_another() {
    let mut rig = Rig::with(1, |config| config.tenure = Duration::MAX);
    let short = rig.redlock.acquire(rig.now, b"a", ms(200), NO_WAIT).expect("in bounds");
    rig.sent(0);
    rig.reply(0, "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    let long = rig.held("b");
    // A second request for the first resource makes its release leave at once.
    rig.acquire("a", WAIT);
    rig.redlock.extend(rig.now, long, TTL).expect("it is held");
    rig.redlock.extend(rig.now, short, ms(200)).expect("it is held");
    assert_eq!(rig.sent(0), ["EVALSHA extend-many 2 b a #2 #1 10000 200"]);
    // The second round of the first lock: nobody waits for its first round any more.
    rig.advance(ms(10));
    assert!(matches!(rig.event(), Event::ExtendFailed { .. }));
    rig.redlock.extend(rig.now, short, ms(200)).expect("it is held");
    // The owner sleeps until the first lock has ended.
    rig.now = rig.now + rig.redlock.remaining(rig.now, short);
    rig.reply(0, "-NOSCRIPT No matching script.");
    let sent = rig.sent(0);
    assert_eq!(sent[0], "EVAL extend-text 1 b #2 10000", "{sent:?}");
    assert!(sent.contains(&"EVALSHA release 1 a #1".to_owned()), "{sent:?}");
    rig.reply(0, ":1");
    let extended = rig.events().into_iter().find(|event| matches!(event, Event::Extended { .. }));
    assert!(matches!(extended, Some(Event::Extended { lock, .. }) if lock == long));
}
