//! Keys of the dead at the doors. Where they show different tokens, looks come to a node that is
//! free.

use super::*;

const LONG_WAIT: Duration = Duration::from_secs(600);

/// For how long the keys of the dead last.
const LASTS: Duration = Duration::from_secs(59);

impl Rig {
    /// Lets these nodes show keys of the dead, each with a token of its own, until a node is asked
    /// that has none. Returns after how long.
    fn dead_at(&mut self, dead: &[usize]) -> Duration {
        let since = self.now;
        loop {
            self.until(|rig| (0..5).any(|index| rig.has_output(index)));
            for index in 0..5 {
                for command in self.sent(index) {
                    let Some(place) = dead.iter().position(|node| *node == index) else {
                        return self.now - since;
                    };
                    let left = (LASTS - (self.now - since)).as_millis();
                    match command.split(' ').next() {
                        Some("GETRANGE") => self.reply(index, &token(place as u8)),
                        Some("PTTL") => self.reply(index, &format!(":{left}")),
                        Some("SET") => self.reply(index, "$-1"),
                        _ => self.reply(index, ":0"),
                    }
                }
            }
        }
    }
}

/// Nobody has won where all but one node have granted, too late for the attempt.
#[test]
fn a_late_attempt_and_one_key_of_the_dead_keep_nobody_from_the_other_nodes() {
    for (dead, tells) in (0..5).flat_map(|dead| [(dead, false), (dead, true)]) {
        let mut rig = Rig::unconnected_seeded(5, 7, |_| ());
        rig.masters.iter_mut().for_each(|master| master.tracks = tells);
        rig.connect_all(5);
        rig.opens_doors = false;
        rig.acquire("r", LONG_WAIT);
        (0..5).for_each(|index| assert_eq!(rig.sent(index).len(), 1, "one SET"));
        rig.reply(dead, "$-1");
        rig.until(|rig| (0..5).any(|index| index != dead && rig.has_output(index)));
        for index in (0..5).filter(|index| *index != dead) {
            let sent = rig.sent(index);
            assert!(sent.len() == 1 && sent[0].starts_with("EVALSHA release"), "{sent:?}");
            rig.reply(index, "+OK");
            rig.reply(index, ":1");
        }
        let took = rig.dead_at(&[dead]);
        assert!(took < ms(3_000), "{dead}, {tells}: {took:?}");
    }
}

/// Wherever two of those three nodes have keys of the dead that had refused the last attempt.
#[test]
fn looks_come_to_the_free_one_of_the_nodes_that_can_have_the_key() {
    let pairs = || (0..5).flat_map(|a| (0..a).map(move |b| [a, b]));
    for (granting, dead) in pairs().flat_map(|granting| pairs().map(move |dead| (granting, dead))) {
        if dead.iter().any(|node| granting.contains(node)) {
            continue;
        }
        let mut rig = rig();
        rig.acquire("r", LONG_WAIT);
        for index in 0..5 {
            assert_eq!(rig.sent(index).len(), 1, "one SET");
        }
        for index in 0..5 {
            rig.reply(index, if granting.contains(&index) { "+OK" } else { "$-1" });
        }
        for index in granting {
            let sent = rig.sent(index);
            assert!(sent.len() == 1 && sent[0].starts_with("EVALSHA release"), "{sent:?}");
            rig.reply(index, ":1");
        }
        let took = rig.dead_at(&dead);
        assert!(took < ms(6_000), "{granting:?} {dead:?}: {took:?}");
    }
}

/// A node that shows another token at each look would else be asked until the end of the wait.
#[test]
fn a_door_that_shows_another_token_each_time_keeps_nobody_out() {
    let mut rig = rig();
    rig.refused(LONG_WAIT);
    let (since, mut door) = (rig.now, None);
    for look in 0..200 {
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let asked = (0..5).find(|index| rig.has_output(*index)).expect("one of them is asked");
        if asked != *door.get_or_insert(asked) {
            let took = rig.now - since;
            return assert!(took < Duration::from_secs(10), "{took:?}");
        }
        for command in rig.sent(asked) {
            // The other command is a mark.
            let is_look = command == "GETRANGE r 0 39";
            rig.reply(asked, &if is_look { format!("$20\r\n{look:020}") } else { "+OK".into() });
        }
    }
    panic!("nobody has looked elsewhere");
}
