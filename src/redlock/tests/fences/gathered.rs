//! Requests for fencing numbers that leave in one script call.

use super::*;
use crate::redlock::node::error::NodeError;

impl Rig {
    /// Asks for locks with numbers on these resources, one after another and without a write.
    fn fenced_each(&mut self, resources: &[&str]) -> Vec<LockId> {
        resources.iter().map(|resource| self.fenced(resource)).collect()
    }

    /// The call that takes `a` and `b`, with the first two serials and proposals.
    fn call_of_two(&self) -> String {
        let first = micros(self.now);
        let [a, b] = [format!("#1 15495 {first}"), format!("#2 3300 {}", first + 1)];
        format!("EVALSHA acquire-fenced-many 3 a b redbolt:fence {a} 10000 {b} 10000")
    }

    /// Answers a call, each element as so much above the time, or nil.
    fn draw_each(&mut self, index: usize, above: &[Option<u64>]) {
        self.sent(index);
        let elements = above.iter().map(|above| match above {
            Some(above) => format!("\r\n:{}", micros(self.now) + above),
            None => "\r\n$-1".to_owned(),
        });
        let reply = format!("*{}{}", above.len(), elements.collect::<String>());
        self.reply(index, &reply);
    }

    fn fences(&mut self) -> Vec<(LockId, u64)> {
        let now = micros(self.now);
        let events = self.events().into_iter();
        let fences = events.filter_map(|event| match event {
            Event::Acquired { lock, fence: Some(fence), .. } => Some((lock, fence.get() - now)),
            _ => None,
        });
        fences.collect()
    }
}

#[test]
fn what_is_asked_between_two_writes_leaves_in_one_call() {
    let mut rig = Rig::new(3);
    let locks = rig.fenced_each(&["a", "b"]);
    for index in 0..3 {
        assert_eq!(rig.sent(index), [rig.call_of_two()]);
    }
    rig.draw_each(0, &[Some(0), Some(1)]);
    assert_eq!(rig.events(), []);
    rig.draw_each(2, &[Some(0), Some(1)]);
    assert_eq!(rig.fences(), [(locks[0], 0), (locks[1], 1)]);
}

#[test]
fn each_lock_of_a_call_has_its_own_answer() {
    let mut rig = Rig::new(3);
    let locks = rig.fenced_each(&["a", "b", "c"]);
    rig.draw_each(0, &[Some(0), None, Some(9)]);
    rig.draw_each(1, &[Some(0), None, Some(2)]);
    assert_eq!(rig.fences(), [(locks[0], 0)], "one has failed, and one needs a second trip");
    let raise = format!("EVALSHA raise 2 c redbolt:fence #3 7365 {}", micros(rig.now) + 10);
    assert_eq!(rig.sent(1).last(), Some(&raise));
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    assert_eq!(rig.fences(), [(locks[2], 10)]);
}

#[test]
fn a_call_takes_sixteen_locks_and_the_rest_follows() {
    let mut rig = Rig::new(1);
    let names: Vec<String> = (0..35).map(|index| format!("r{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    rig.fenced_each(&names);
    let sent = rig.sent(0);
    let keys: Vec<_> = sent.iter().map(|call| call.split(' ').nth(2).expect("a count")).collect();
    assert_eq!(keys, ["17", "17", "4"]);
    for count in [16, 16, 3] {
        rig.draw_each(0, &(0..count).map(Some).collect::<Vec<_>>());
    }
    assert_eq!(rig.fences().len(), 35);
}

/// A lock that is given up before the write must not leave its key behind.
#[test]
fn a_release_never_overtakes_the_request_that_takes_the_key() {
    let mut rig = Rig::new(1);
    let locks = rig.fenced_each(&["a", "b"]);
    rig.redlock.cancel(rig.now, locks[0]).expect("it is wanted");
    assert_eq!(rig.sent(0), [rig.call_of_two(), "EVALSHA release 1 a #1".to_owned()]);
    rig.draw_each(0, &[Some(0), Some(1)]);
    rig.reply(0, ":1");
    assert_eq!(rig.fences(), [(locks[1], 1)]);
}

#[test]
fn the_text_of_the_script_follows_for_all_that_still_want_their_locks() {
    let mut rig = Rig::new(1);
    let locks = rig.fenced_each(&["a", "b"]);
    let call = rig.call_of_two();
    rig.sent(0);
    rig.reply(0, "-NOSCRIPT No matching script. Please use EVAL.");
    let text = call.replace("EVALSHA acquire-fenced-many", "EVAL acquire-fenced-many-text");
    assert_eq!(rig.sent(0), [text]);
    rig.draw_each(0, &[Some(0), Some(1)]);
    assert_eq!(rig.fences().len(), 2);
    // One of them is given up meanwhile.
    let more = rig.fenced_each(&["c", "d"]);
    rig.sent(0);
    rig.redlock.cancel(rig.now, more[0]).expect("it is wanted");
    rig.sent(0);
    rig.reply(0, "-NOSCRIPT No matching script. Please use EVAL.");
    let sent = rig.sent(0);
    assert!(sent[0].starts_with("EVAL acquire-fenced-text 2 d redbolt:fence #4"), "{sent:?}");
    assert_eq!(sent.len(), 1, "{:?} has ended", locks[0]);
}

/// Where the others have decided meanwhile, the keys of the last node end with the locks.
#[test]
fn keys_that_are_asked_for_again_end_with_the_validity() {
    let mut rig = Rig::new(3);
    rig.fenced_each(&["a", "b"]);
    rig.sent(2);
    rig.now = rig.now + ms(40);
    rig.draw_each(0, &[Some(0), Some(1)]);
    rig.draw_each(1, &[Some(0), Some(1)]);
    assert_eq!(rig.fences().len(), 2);
    rig.reply(2, "-NOSCRIPT No matching script. Please use EVAL.");
    let sent = rig.sent(2).remove(0);
    let ttls: Vec<&str> = sent.split(' ').rev().step_by(4).take(2).collect();
    assert_eq!(ttls, ["9958", "9958"], "{sent}");
}

/// A node that would never know a script must not keep the engine busy.
#[test]
fn a_text_that_is_not_known_either_ends_the_requests() {
    let mut rig = Rig::new(1);
    rig.fenced_each(&["a", "b"]);
    for _ in 0..2 {
        rig.sent(0);
        rig.reply(0, "-NOSCRIPT No matching script. Please use EVAL.");
    }
    assert_eq!(rig.events().len(), 2);
    assert_eq!(rig.sent(0), [""; 0], "nothing was executed, and nothing is left");
}

/// A client that chooses the resources must not take the locks away from others.
#[test]
fn a_node_that_refuses_one_key_is_asked_for_each() {
    let mut rig = Rig::new(1);
    let locks = rig.fenced_each(&["a", "b"]);
    rig.sent(0);
    rig.reply(0, "-NOPERM No permissions to access a key");
    let sent = rig.sent(0);
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent[1].starts_with("EVALSHA acquire-fenced 2 b redbolt:fence #2"), "{sent:?}");
    rig.reply(0, "-NOPERM No permissions to access a key");
    rig.draw(0, 1);
    assert_eq!(rig.fences(), [(locks[1], 1)]);
}

/// S5: the error says nothing of which keys were taken before.
#[test]
fn an_error_behind_the_first_write_leaves_keys_that_are_released() {
    let mut rig = Rig::new(1);
    rig.fenced_each(&["a", "b"]);
    rig.sent(0);
    rig.reply(0, NO_STRING);
    assert_eq!(rig.events().len(), 2);
    assert_eq!(rig.sent(0).join(" "), "EVALSHA release-many 2 a b #1 #2");
}

/// S4: nobody knows whose answer is missing.
#[test]
fn a_reply_with_another_number_of_answers_ends_the_session() {
    let number = 5_000_000_000_u64;
    let rows = [
        format!(":{number}"),
        "$-1".to_owned(),
        "*0".to_owned(),
        format!("*1\r\n:{number}"),
        format!("*3\r\n:{number}\r\n:{number}\r\n:{number}"),
        format!("*2\r\n:{number}\r\n:1"),
        format!("*2\r\n:{number}\r\n+OK"),
        format!("*2\r\n*1\r\n:{number}\r\n:{number}"),
    ];
    for reply in rows {
        let mut rig = Rig::new(3);
        rig.fenced_each(&["a", "b"]);
        rig.sent(0);
        rig.reply(0, &reply);
        assert!(rig.closed.contains(node(0)), "{reply}");
        let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
        assert_eq!(status.error, Some(NodeError::UnexpectedReply), "{reply}");
        rig.draw_each(1, &[Some(0), Some(1)]);
        rig.draw_each(2, &[Some(0), Some(1)]);
        assert_eq!(rig.fences().len(), 2, "{reply}");
    }
    let mut rig = Rig::new(3);
    rig.fenced("a");
    rig.draw_each(0, &[Some(0)]);
    assert!(rig.closed.contains(node(0)), "a request that was alone");
}

#[test]
fn requests_that_wait_have_room_kept_for_them() {
    let mut rig = Rig::with(1, |config| config.max_pipeline = 2);
    rig.fenced_each(&["a", "b", "c"]);
    assert_eq!(rig.sent(0), [rig.call_of_two()], "the third waits for room");
    rig.draw_each(0, &[Some(0), Some(1)]);
    assert_eq!(rig.fences().len(), 2);
    assert!(rig.sent(0)[0].starts_with("EVALSHA acquire-fenced 2 c"));
}

/// S6: a connection that ends takes along whatever waited for it.
#[test]
fn requests_of_a_connection_that_has_ended_are_lost() {
    let mut rig = Rig::new(1);
    rig.fenced_each(&["a", "b"]);
    rig.close(0);
    assert_eq!(rig.events().iter().filter(|event| event.ended().is_some()).count(), 2);
    assert_eq!(rig.redlock.in_use(), 0);
}

/// S11: a node whose keys may be gone is asked what was decided to ask, and does not count.
#[test]
fn a_doubt_before_the_write_takes_the_votes_of_requests_that_wait() {
    let mut rig = Rig::unconnected(1, |_| ());
    rig.masters[0].tracks = true;
    rig.connect_all(1);
    rig.fenced_each(&["a", "b"]);
    let gone = ">2\r\n$10\r\ninvalidate\r\n_\r\n";
    rig.redlock.handle_received(rig.now, node(0), gone.as_bytes());
    rig.draw_each(0, &[Some(0), Some(1)]);
    assert_eq!(rig.fences(), []);
    let sent = rig.sent(0).join(" ");
    assert!(sent.contains("EVALSHA release-many 2 a b #1 #2"), "{sent}");
}
