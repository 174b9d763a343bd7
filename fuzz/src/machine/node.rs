//! One server and the connection to it, with everything that the bytes alone tell about both.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use bytes::BytesMut;
use redbolt::embedded::{Master, Memory, Options, Session};
use redbolt::redlock::{RAISE, RAISE_SET, Token};
use redbolt::resp::{self, Status, Value};
use redbolt::time::Instant;

use super::super::commands::{command, look};
use super::super::lies::{Lie, says};
use super::super::questions::{First, Question, What, answers, stripe};
use super::accepted::Accepted;
use super::request::{Command, Extension, Set, integers};

pub(super) struct Node {
    pub(super) link: Link,
    /// How many bytes the connection takes before the next change.
    pub(super) window: usize,
    /// The tokens whose `SET` the server answered with `+OK`, asked while it could vote.
    pub(super) granted: HashSet<Token>,
    /// The extensions to which the server agreed.
    pub(super) extended: HashMap<Token, Vec<Extension>>,
    /// The numbers that the server has accepted.
    pub(super) accepted: Accepted,
    /// All answers on this connection are those of the server.
    pub(super) is_honest: bool,
    /// The keys, the token and the number of the last request for a number.
    asked: Option<(Vec<Vec<u8>>, Token, i64)>,
    /// The core has been told something other than votes, and has not had its turn since.
    pub(super) has_told: bool,
    /// Two nodes can be one process.
    master: Rc<RefCell<Master>>,
    session: Session,
    /// What the server says of itself in every answer, although that is wrong or was not so before:
    /// an index of `lies::FACTS`.
    pub(super) habit: Option<usize>,
    /// The server speaks RESP3, and tells who asks for it that its keys are gone.
    can_push: bool,
    /// The core has asked for that.
    pushes: bool,
    /// Bytes that the core has written and the server has not read.
    sent: Vec<u8>,
    /// How many of the bytes that the core still has to write have been looked at already.
    offered: usize,
    /// The commands that are still without a reply, and whether the reply can be a vote.
    owed: VecDeque<(Command, bool)>,
    /// Bytes that the server has answered and the core has not consumed.
    replies: Vec<u8>,
    /// How many of these bytes the core has seen. The core is never shown fewer of them again.
    shown: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    Down,
    Wanted,
    Up,
}

impl Node {
    /// Creates a node behind which a process of its own stands, or that of `twin`.
    pub(super) fn new(index: usize, options: &Options, twin: Option<&Self>) -> Self {
        let master = || Master::new(index as u64, options.clone(), Instant::ZERO);
        let master = match twin {
            Some(twin) => Rc::clone(&twin.master),
            None => Rc::new(RefCell::new(master())),
        };
        Self {
            link: Link::Down,
            window: usize::MAX,
            granted: HashSet::new(),
            extended: HashMap::new(),
            accepted: Accepted::default(),
            is_honest: true,
            asked: None,
            has_told: false,
            can_push: index % 2 == 1,
            pushes: false,
            master,
            habit: None,
            session: Session::default(),
            sent: Vec::new(),
            offered: 0,
            owed: VecDeque::new(),
            replies: Vec::new(),
            shown: 0,
        }
    }

    pub(super) fn hang_up(&mut self) {
        self.link = Link::Down;
        self.window = usize::MAX;
        self.session = Session::default();
        (self.pushes, self.is_honest) = (false, true);
        self.sent.clear();
        self.offered = 0;
        self.owed.clear();
        self.replies.clear();
        self.shown = 0;
    }

    /// Replaces the process by another one.
    pub(super) fn restart(&mut self, now: Instant, seed: u64, memory: Memory) {
        self.master.borrow_mut().restart(seed, memory, now);
        self.habit = None;
    }

    /// Returns whether both nodes are one process.
    pub(super) fn is_twin_of(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.master, &other.master)
    }

    /// Puts another number into a witness.
    pub(super) fn forge(&self, now: Instant, key: &[u8], place: usize, number: i64) {
        let witness = self.master.borrow().get(0, key, now).map(<[u8]>::to_vec);
        let Some(witness) = witness.and_then(|witness| String::from_utf8(witness).ok()) else {
            return;
        };
        let mut words: Vec<_> = witness.split(' ').map(str::to_owned).collect();
        let place = place % words.len();
        words[place] = number.to_string();
        self.apply(now, &[b"SET", key, words.join(" ").as_bytes()]);
    }

    /// Deletes all keys, and says so at once if it can.
    pub(super) fn flush(&mut self) {
        self.master.borrow_mut().flush();
        if self.pushes {
            self.replies.extend_from_slice(b">2\r\n$10\r\ninvalidate\r\n_\r\n");
        }
    }

    /// Executes a command of another client.
    pub(super) fn apply(&self, now: Instant, words: &[&[u8]]) {
        let (mut session, mut out) = (Session::default(), BytesMut::new());
        self.master.borrow_mut().apply(now, &mut session, words, &mut out);
    }

    /// Has another client raise the numbers of the stripes that were asked for last: so far above
    /// the number in that request. The keys must be there.
    pub(super) fn outrun(&mut self, now: Instant, ahead: i64) {
        let Some((keys, token, number)) = &self.asked else { return };
        let script = if keys.len() > 1 { RAISE_SET } else { RAISE };
        let count = (keys.len() + 1).to_string();
        let stripes: Vec<_> = keys.iter().map(|key| stripe(key).to_string()).collect();
        let mut words = vec![&b"EVAL"[..], script.text.as_bytes(), count.as_bytes()];
        words.extend(keys.iter().map(Vec::as_slice));
        words.extend([b"redbolt:fence", token.as_ref()]);
        words.extend(stripes.iter().map(String::as_bytes));
        let number = number.saturating_add(ahead).to_string();
        words.push(number.as_bytes());
        self.master.borrow_mut().apply(now, &mut self.session, &words, &mut BytesMut::new());
    }

    /// Returns the first command with a request for a number among the whole ones that were sent.
    pub(super) fn question(&self) -> Option<First> {
        Question::first(&self.sent)
    }

    /// Takes as many of the unsent bytes as the window allows. Returns the `SET`s among the new
    /// commands, whose replies can be votes or not, and the number of bytes taken.
    pub(super) fn take(
        &mut self,
        now: Instant,
        unsent: &[u8],
        can_vote: bool,
    ) -> (Vec<Set>, usize) {
        assert!(self.link == Link::Up, "bytes for a connection that is not there");
        let mut sets = Vec::new();
        let mut new = &unsent[self.offered..];
        while let Some((words, used)) = command(new) {
            let command = Command::new(now, &words);
            sets.extend(command.sets());
            let questions = Question::read_all(&words);
            if let Some(Question { keys, token, number, .. }) = questions.last() {
                let keys = keys.iter().map(|key| key.to_vec()).collect();
                self.asked = Some((keys, *token, *number));
            }
            self.owed.push_back((command, can_vote));
            new = &new[used..];
        }
        assert!(new.is_empty(), "half a command waits to be written");
        let taken = unsent.len().min(self.window);
        self.sent.extend_from_slice(&unsent[..taken]);
        self.offered = unsent.len() - taken;
        (sets, taken)
    }

    /// Returns how many requests have no reply. Requests for numbers in one call have one together.
    pub(super) fn owed(&self) -> usize {
        let requests = |(command, _): &(Command, bool)| match command {
            Command::Numbers(all) => all.len(),
            _ => 1,
        };
        self.owed.iter().map(requests).sum()
    }

    pub(super) fn is_idle(&self) -> bool {
        let is_empty = self.sent.is_empty() && self.replies.is_empty();
        is_empty && self.owed.is_empty() && self.offered == 0
    }

    /// Returns the replies to all whole commands that were sent. One reply may be a lie.
    pub(super) fn serve(&mut self, now: Instant, lie: Option<Lie>) -> Vec<u8> {
        let (mut out, mut done, mut count) = (BytesMut::new(), 0, 0);
        while let Some((words, used)) = command(&self.sent[done..]) {
            let lie = lie.filter(|lie| lie.at == count);
            let honest = out.len();
            if lie.is_none_or(|lie| lie.is_executed) {
                match &words[..] {
                    // The embedded master speaks no RESP3.
                    [b"HELLO", ..] if self.can_push => {
                        resp::map_header(&mut out, 1);
                        resp::bulk(&mut out, b"proto");
                        resp::integer(&mut out, 3);
                    }
                    [b"CLIENT", b"TRACKING" | b"CACHING", ..] if self.can_push => {
                        self.pushes = true;
                        resp::simple(&mut out, b"OK");
                    }
                    _ => {
                        let mut master = self.master.borrow_mut();
                        master.apply(now, &mut self.session, &words, &mut out);
                    }
                }
                if let Some(habit) = self.habit {
                    let told = says(habit, &out.split_off(honest));
                    out.extend_from_slice(&told);
                }
            }
            if let Some(lie) = lie {
                let told = lie.tell(&out.split_off(honest));
                out.extend_from_slice(&told);
            }
            done += used;
            count += 1;
        }
        self.sent.drain(..done);
        out.to_vec()
    }

    /// Returns the index of the first look among the whole commands that were sent.
    pub(super) fn look(&self) -> Option<usize> {
        look(&self.sent)
    }

    /// Puts bytes behind those under way to the core. Returns how many of all bytes the core has
    /// seen, and how many there are.
    pub(super) fn arrive(&mut self, bytes: &[u8]) -> (usize, usize) {
        self.replies.extend_from_slice(bytes);
        (self.shown, self.replies.len())
    }

    /// Shows the first bytes to the core, which returns how many it has consumed. The replies among
    /// the consumed bytes belong to the commands in their order.
    pub(super) fn show(&mut self, count: usize, core: impl FnOnce(&[u8]) -> usize) {
        let done = core(&self.replies[..count]);
        assert!(done <= count, "more is done with than there was");
        let mut rest = &self.replies[..done];
        while let Ok(Status::Complete((value, used))) = resp::parse(rest) {
            rest = &rest[used..];
            let is_news = matches!(value, Value::Push(_) | Value::Error(_) | Value::BulkError(_));
            self.has_told |= is_news || matches!(self.owed.front(), Some((Command::Other, _)));
            if matches!(value, Value::Push(_)) {
                continue;
            }
            let Some((command, can_vote)) = self.owed.pop_front() else { break };
            match (command, value) {
                (Command::Set(set), Value::Simple(b"OK")) => {
                    self.granted.extend(Some(set.token).filter(|_| can_vote));
                }
                (Command::Extend(extensions), value) => {
                    let agreed = extensions.into_iter().zip(integers(&value));
                    for ((token, extension), _) in agreed.filter(|(_, answer)| *answer == 1) {
                        self.extended.entry(token).or_default().push(extension);
                    }
                }
                (Command::Numbers(all), value) => {
                    for (asked, answer) in all.into_iter().zip(answers(&value)) {
                        let fence = asked.what.accepted(asked.number, &answer);
                        let Some(fence) = fence else { continue };
                        self.accepted.hear(asked.token, fence, self.is_honest);
                        if asked.what == What::Acquire && can_vote {
                            self.granted.insert(asked.token);
                        }
                    }
                }
                _ => {}
            }
        }
        self.replies.drain(..done);
        self.shown = count - done;
    }
}
