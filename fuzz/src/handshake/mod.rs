//! The core and servers that say anything about themselves.
//!
//! Masters answer the handshake, the looks and a few requests for locks, and the script replaces
//! some replies: other words in `INFO`, other numbers in the witness, errors, replies of RESP3,
//! pushes, silence, any bytes. Two nodes can be one process. The checks read both directions
//! without the code of the core:
//!
//! * a node is ready only if its last words prove a standalone master that keeps its keys, and no
//!   two nodes are ready behind which the same process stands (S10);
//! * a node that has never told of its data votes no earlier than a `max_ttl` after it was met
//!   (S11);
//! * a node that has said that its keys are gone votes only after a later answer about itself
//!   (S11);
//! * requests for locks leave for ready nodes only;
//! * the login is sent first, in `AUTH` and nowhere else, and no status shows the password.

pub(crate) mod record;
pub(crate) mod tale;

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use bytes::BytesMut;
use redbolt::embedded::{Master, Memory, Options, Session};
use redbolt::redlock::{
    Action, Login, NodeError, NodeId, NodeState, Redlock, RedlockConfig, RestartGuard,
};
use redbolt::time::Instant;

use self::record::{Question, Record};
use self::tale::Tale;
use super::commands::{FLUSHED, command, resp3};

/// The limit of steps.
const STEPS: usize = 1_000;

/// The limit of turns that are due one after the other.
const TURNS: usize = 20_000;

/// The password of all masters that have one. No message has these words.
pub(crate) const PASSWORD: &str = "J-secret-Z";

struct World {
    redlock: Redlock,
    now: Instant,
    masters: Vec<Master>,
    nodes: Vec<Node>,
    restarts: u64,
}

/// One node: its connection, and the server behind it.
#[derive(Default)]
struct Node {
    link: Link,
    /// The place of its master.
    master: usize,
    session: Session,
    /// Whether the server knows RESP3.
    knows_resp3: bool,
    /// Whether the client is told what becomes of the keys.
    is_tracked: bool,
    /// The commands that the server has not read.
    sent: Vec<u8>,
    has_sent: bool,
    record: Record,
    /// Replies that the core has not consumed.
    replies: Vec<u8>,
    shown: usize,
    /// When the first connection was open.
    met: Option<Instant>,
    /// Whether any session has told of its data.
    has_testified: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Link {
    #[default]
    Down,
    Wanted,
    Up,
}

/// Plays the script.
///
/// # Panics
///
/// Panics if a node is used that has not proved what it must, or if a password is shown.
pub fn handshake(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let Ok(mut world) = World::new(&mut script) else { return };
    for _ in 0..STEPS {
        if script.is_empty() || world.step(&mut script).is_err() {
            break;
        }
        world.look();
    }
}

impl World {
    fn new(script: &mut Unstructured<'_>) -> Result<Self> {
        let count = script.int_in_range(1..=3)?;
        let mut config = RedlockConfig::default();
        config.max_ttl = Duration::from_secs(2);
        config.max_hold = Duration::from_secs(3);
        config.max_locks = 4;
        config.prefix = script.choose(&[&b""[..], b"locks:"])?.to_vec();
        config.restart_guard = *script.choose(&[
            RestartGuard::On,
            RestartGuard::Strict,
            RestartGuard::Durable,
            RestartGuard::Off,
        ])?;
        // A label leaves in the handshake too.
        if !config.prefix.is_empty() {
            config.label = b"who".to_vec();
        }
        let has_login = script.arbitrary()?;
        let mut options = Options::default().fresh(script.arbitrary()?);
        let mut login = Login::default().in_database(script.int_in_range(0..=17)?);
        if has_login {
            options = options.user("app", PASSWORD);
            login = Login::with_user("app", PASSWORD).in_database(login.database);
        }
        // With fewer masters than nodes, two nodes are one process.
        let masters = script.int_in_range(1..=count)?;
        let knows_resp3 = script.ratio(3, 4)?;
        let master = |seed| Master::new(seed, options.clone(), Instant::ZERO);
        let redlock = Redlock::new(config, vec![login; count], 7, [b'n'; 12]);
        Ok(Self {
            redlock: redlock.expect("the configuration is within its bounds"),
            now: Instant::from_nanos(3_600_000_000_000),
            masters: (0..masters as u64).map(master).collect(),
            nodes: (0..count).map(|index| Node::new(index % masters, knows_resp3)).collect(),
            restarts: 0,
        })
    }

    /// Takes one step of the script.
    fn step(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let index = script.int_in_range(0..=self.nodes.len() - 1)?;
        let short = Duration::from_micros(u64::from(script.arbitrary::<u16>()?));
        match script.int_in_range(0..=15)? {
            0 => {
                // The core has room for few locks, and refuses the others.
                let ttl = Duration::from_millis(script.int_in_range(10..=2_000)?);
                drop(self.redlock.acquire(self.now, b"a", ttl, short * 100));
            }
            1 => self.pass(short),
            2 => self.pass(short * 64),
            3 => self.now = self.now + short * 64,
            4 => self.close(index),
            5 => self.trouble(index, script)?,
            6..=8 => self.open(index, script)?,
            _ => self.answer(index, script)?,
        }
        Ok(())
    }

    /// Lets time pass, and calls the core at every deadline.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        for _ in 0..TURNS {
            let next = self.redlock.poll_timeout().map(|(at, _)| at).filter(|at| *at <= end);
            self.now = next.unwrap_or(end).max(self.now);
            self.redlock.handle_timeout(self.now);
            self.look();
            if next.is_none() {
                return;
            }
        }
        panic!("something is due all the time");
    }

    fn open(&mut self, index: usize, script: &mut Unstructured<'_>) -> Result<()> {
        let node = &mut self.nodes[index];
        if node.link != Link::Wanted {
            return Ok(());
        }
        // A client without a wall clock, with one, or with one that was set.
        let wall = Duration::from_nanos(self.now.as_nanos());
        match script.int_in_range(0..=3)? {
            0 => {}
            1 => self.redlock.set_wall_clock(self.now, wall / 2),
            _ => self.redlock.set_wall_clock(self.now, wall),
        }
        node.link = Link::Up;
        node.met.get_or_insert(self.now);
        self.redlock.handle_connected(self.now, id(index));
        Ok(())
    }

    fn close(&mut self, index: usize) {
        if self.nodes[index].link != Link::Down {
            self.nodes[index].hang_up();
            self.redlock.handle_closed(self.now, id(index), NodeError::Closed);
        }
    }

    /// Does something to a server that the core does not see.
    fn trouble(&mut self, index: usize, script: &mut Unstructured<'_>) -> Result<()> {
        let place = self.nodes[index].master;
        match script.int_in_range(0..=3)? {
            0 => {
                self.masters[place].flush();
                let tracked = |node: &&mut Node| node.is_tracked && node.master == place;
                for node in self.nodes.iter_mut().filter(tracked) {
                    node.replies.extend_from_slice(FLUSHED);
                }
                return Ok(());
            }
            1 => self.nodes[index].master = script.int_in_range(0..=self.masters.len() - 1)?,
            choice => {
                let memory = if choice == 2 { Memory::Lost } else { Memory::Kept };
                self.restarts += 1;
                self.masters[place].restart(1_000 + self.restarts, memory, self.now);
            }
        }
        // The address leads to another process from now on.
        self.close(index);
        Ok(())
    }

    /// Lets a server answer, with a few replies that are not honest.
    fn answer(&mut self, index: usize, script: &mut Unstructured<'_>) -> Result<()> {
        let node = &mut self.nodes[index];
        if node.link != Link::Up {
            return Ok(());
        }
        let mut tales = Vec::new();
        for _ in 0..script.int_in_range(0..=2)? {
            tales.push((script.int_in_range(0..=24)?, Tale::choose(script)?));
        }
        node.serve(self.now, &mut self.masters[node.master], tales);
        let there = node.replies.len();
        let count =
            if script.ratio(3, 4)? { there } else { script.int_in_range(node.shown..=there)? };
        let done = self.redlock.handle_received(self.now, id(index), &node.replies[..count]);
        assert!(done <= count, "more is done with than there was");
        node.shown = count - done;
        let told: Vec<u8> = node.replies.drain(..done).collect();
        node.hear(&told);
        Ok(())
    }

    /// Carries out the actions of the core, takes its bytes and events, and checks the nodes.
    fn look(&mut self) {
        for _ in 0..4 * self.nodes.len() {
            match self.redlock.poll_action() {
                Some(Action::Connect(id)) => self.nodes[id.index()].link = Link::Wanted,
                Some(Action::Close(id)) => self.nodes[id.index()].hang_up(),
                Some(_) => {}
                None => break,
            }
        }
        for index in 0..self.nodes.len() {
            if let Some(unsent) = self.redlock.poll_transmit(self.now, id(index)) {
                let unsent = unsent.to_vec();
                self.redlock.handle_sent(id(index), unsent.len());
                self.sent(index, &unsent);
            }
        }
        while let Some(event) = self.redlock.poll_event() {
            let shown = format!("{event:?}");
            assert!(!shown.contains(PASSWORD), "{shown}");
        }
        self.check();
    }

    /// Checks the commands that leave for a node.
    fn sent(&mut self, index: usize, bytes: &[u8]) {
        let status = self.redlock.node(self.now, id(index)).expect("it is configured");
        let is_ready = is_ready(status.state);
        let node = &mut self.nodes[index];
        assert!(node.link == Link::Up, "bytes for a connection that is not there");
        let mut rest = bytes;
        while let Some((words, used)) = command(rest) {
            let question = Question::of(&words);
            if question == Question::Take {
                assert!(is_ready, "a key is asked for before the handshake is over");
            }
            let has_password = words.iter().any(|word| is_in(word, PASSWORD.as_bytes()));
            assert!(!has_password || words[0] == b"AUTH" && !node.has_sent, "a password leaves");
            node.has_sent = true;
            node.record.ask(question);
            rest = &rest[used..];
        }
        node.sent.extend_from_slice(bytes);
    }

    fn check(&self) {
        let guard = self.redlock.config().restart_guard;
        let max_ttl = self.redlock.config().max_ttl;
        let mut processes = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let status = self.redlock.node(self.now, id(index)).expect("it is configured");
            let shown = format!("{status} {}", status.message);
            assert!(!shown.contains(PASSWORD), "{shown}");
            if !is_ready(status.state) {
                continue;
            }
            let process = node.record.process().expect("a node is ready amid its handshake");
            assert!(node.record.is_open() || node.record.is_proven(), "ready without a proof");
            assert!(!processes.contains(&process), "one process is two nodes");
            processes.push(process);
            let votes = status.state != NodeState::Quarantined;
            let believes_all = guard == RestartGuard::Off;
            let is_doubted = node.record.is_doubted() && !believes_all;
            assert!(!votes || !is_doubted, "a node votes whose keys are gone");
            if votes && guard != RestartGuard::Off && !node.has_testified {
                let met = node.met.expect("it is connected");
                assert!(self.now - met >= max_ttl, "a node votes that may have forgotten a lock");
            }
        }
    }
}

impl Node {
    fn new(master: usize, knows_resp3: bool) -> Self {
        Self { master, knows_resp3, ..Self::default() }
    }

    fn hang_up(&mut self) {
        let (met, has_testified) = (self.met, self.has_testified);
        *self = Self { met, has_testified, ..Self::new(self.master, self.knows_resp3) };
    }

    /// Answers all whole commands. A tale is told at its place.
    fn serve(&mut self, now: Instant, master: &mut Master, mut tales: Vec<(usize, Tale)>) {
        let (mut done, mut count) = (0, 0);
        while let Some((words, used)) = command(&self.sent[done..]) {
            let mut out = BytesMut::new();
            match resp3(&words).filter(|_| self.knows_resp3) {
                Some(answer) => {
                    out.extend_from_slice(answer);
                    self.is_tracked |= words[0] == b"CLIENT";
                }
                None => master.apply(now, &mut self.session, &words, &mut out),
            }
            match tales.iter().position(|(at, _)| *at == count) {
                Some(place) => {
                    let tale = tales.swap_remove(place).1;
                    self.replies.extend(tale.tell(Question::of(&words), &out));
                }
                None => self.replies.extend_from_slice(&out),
            }
            (done, count) = (done + used, count + 1);
        }
        self.sent.drain(..done);
    }

    /// Notes the replies that the core has consumed.
    fn hear(&mut self, told: &[u8]) {
        let mut rest = told;
        while let Ok(redbolt::resp::Status::Complete((value, used))) = redbolt::resp::parse(rest) {
            self.record.hear(&value);
            rest = &rest[used..];
        }
        self.has_testified |= self.record.has_testified;
    }
}

/// Returns whether the handshake of a node in this state is over.
fn is_ready(state: NodeState) -> bool {
    use NodeState::{Quarantined, Ready, Stalled, Unhealthy};
    matches!(state, Ready | Stalled | Unhealthy | Quarantined)
}

pub(crate) fn is_in(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Returns the node at this place.
fn id(index: usize) -> NodeId {
    NodeId::new(index).expect("there are few nodes")
}
