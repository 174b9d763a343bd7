//! Marks and lines: a line that knows of nobody asks whether others wait, when it passes a lock on.

use super::*;

const QUESTION: &str = "EVALSHA release 1 redbolt:wanted:r wanted: ";

/// A client with a lock, and with others in line for it.
struct Line {
    rig: Rig,
    owner: LockId,
    behind: Vec<LockId>,
}

impl Line {
    fn new(config: impl FnOnce(&mut RedlockConfig)) -> Self {
        let mut rig = Rig::with(5, config);
        rig.opens_doors = false;
        let owner = rig.held("r");
        Self { rig, owner, behind: Vec::new() }
    }

    fn join(&mut self, count: usize) {
        let joined = (0..count).map(|_| self.rig.acquire("r", WAIT));
        self.behind.extend(joined);
    }

    /// Lets the owner have the lock for ten milliseconds more and pass it on. Returns the node that
    /// is asked for marks.
    fn pass(&mut self) -> Option<usize> {
        self.rig.advance(ms(10));
        self.rig.redlock.release(self.rig.now, self.owner).expect("it is held");
        self.owner = self.behind.remove(0);
        let events = self.rig.events();
        let is_next =
            |event: &Event| matches!(event, Event::Acquired { lock, .. } if *lock == self.owner);
        assert!(events.iter().any(is_next), "{events:?}");
        let mut asked = None;
        for index in 0..5 {
            for sent in self.rig.sent(index) {
                assert!(asked.is_none() && sent.starts_with(QUESTION), "{sent}");
                asked = Some(index);
            }
        }
        asked
    }

    /// Passes the lock on until somebody is asked for marks. Returns the node, and after how long.
    fn asks(&mut self) -> (usize, Duration) {
        let began = self.rig.now;
        loop {
            assert!(self.rig.now - began < Duration::from_secs(1), "nobody is asked");
            self.join(1);
            if let Some(node) = self.pass() {
                return (node, self.rig.now - began);
            }
        }
    }

    /// Returns whether the release of the owner goes to the nodes, and not to the next in line.
    fn is_over(&mut self) -> bool {
        self.rig.redlock.release(self.rig.now, self.owner).expect("it is held");
        (0..5).any(|index| !self.rig.sent(index).is_empty())
    }
}

#[test]
fn a_line_that_knows_of_nobody_asks_eight_times_in_a_tenure() {
    let mut line = Line::new(|_| ());
    for _ in 0..3 {
        line.join(2);
        let (node, after) = line.asks();
        assert!((ms(60)..=ms(70)).contains(&after), "{after:?}");
        line.rig.reply(node, ":0");
    }
    assert!(!line.is_over(), "nobody else waits");
}

#[test]
fn the_tenure_of_a_line_ends_for_others_when_it_has_been_served() {
    let mut line = Line::new(|_| ());
    let (node, _) = line.asks();
    line.join(2);
    line.rig.reply(node, ":1");
    // These come too late for the tenure.
    line.join(5);
    assert_eq!([line.pass(), line.pass()], [None, None]);
    assert!(line.is_over());
}

/// The lock that has asked is released before the answer. The next one has the tenure that counts.
#[test]
fn the_answer_to_a_lock_that_is_gone_is_for_the_next_one() {
    let mut line = Line::new(|_| ());
    let (node, _) = line.asks();
    assert!(line.is_over());
    line.rig.reply(node, ":1");
    (0..5).for_each(|index| line.rig.reply(index, ":1"));
    line.rig.events();
    let lock = line.rig.held("r");
    line.rig.advance(ms(1));
    line.rig.redlock.release(line.rig.now, lock).expect("it is held");
    (0..5).for_each(|index| assert_eq!(line.rig.sent(index), ["EVALSHA release 1 r #2"]));
    line.rig.acquire("r", WAIT);
    assert!((0..5).all(|index| line.rig.sent(index).is_empty()), "the resource is left to others");
}

#[test]
fn a_line_that_others_have_kept_waiting_asks_for_no_marks() {
    let mut line = Line::new(|_| ());
    line.rig.redlock.release(line.rig.now, line.owner).expect("it is held");
    for index in 0..5 {
        line.rig.sent(index);
        line.rig.reply(index, ":1");
    }
    line.rig.events();
    line.owner = line.rig.refused(WAIT);
    let door = line.rig.look("r");
    line.rig.reply(door, &token(0));
    line.join(20);
    line.rig.let_in(line.owner);
    for _ in 0..20 {
        assert_eq!(line.pass(), None);
    }
}

/// Then the line leaves nothing to others, and the answer would be of no use.
#[test]
fn a_line_that_leaves_no_gap_asks_for_no_marks() {
    let mut line = Line::new(|config| config.tenure_gap = Duration::ZERO);
    line.join(30);
    for _ in 0..30 {
        assert_eq!(line.pass(), None);
    }
}

/// Other resources have their places in between, and give them back.
#[test]
fn a_line_asks_although_another_resource_has_had_its_place() {
    let mut line = Line::new(|_| ());
    for number in 0..5_000 {
        let lock = line.rig.held(&format!("r{number}"));
        line.rig.redlock.release(line.rig.now, lock).expect("it is held");
        for index in 0..5 {
            line.rig.sent(index);
            line.rig.reply(index, ":1");
        }
        line.rig.events();
    }
    let (_, after) = line.asks();
    assert!(after < ms(150), "{after:?}");
}
