//! All servers and connections: the harm done to them, and the actions of the core on them.

use std::collections::HashMap;
use std::mem;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use redbolt::embedded::{Memory, Options};
use redbolt::redlock::{
    Action, Ask, Drift, Fence, MAX_NODE_TIMEOUT, NodeError, NodeId, NodeState, Redlock,
    RedlockConfig, Token,
};
use redbolt::time::Instant;

use super::super::lies::{Lie, Twist};
use super::super::questions;
use super::caller::{Caller, RESOURCES};
use super::id;
use super::node::{Link, Node};
use super::order::Order;
use super::request::{Extension, Set};

/// The keys of the witness, with each of the prefixes.
const WITNESS: [&[u8]; 4] =
    [b"redbolt:witness", b"redbolt:seen", b"locks:redbolt:witness", b"locks:redbolt:seen"];

/// The year 2000, in which the clocks of the servers begin.
const EPOCH: Duration = Duration::from_secs(946_684_800);

pub(super) struct Network {
    nodes: Vec<Node>,
    /// The time since 1970 when the clock of the core began.
    epoch: Duration,
    /// The time at which the first `SET` with a token was ready to be written.
    asked: HashMap<Token, Instant>,
    /// The `SET`s since the last check, and whether their nodes may be asked.
    sets: Vec<(Set, bool)>,
    /// The numbers that were told.
    pub(super) order: Order,
    restarts: u64,
}

impl Network {
    /// Creates the servers. With twins, the last node is the process of the first. Without a clock,
    /// the core has the time of 1970.
    pub(super) fn new(count: usize, options: &Options, has_twins: bool, has_clock: bool) -> Self {
        let mut nodes: Vec<Node> = Vec::with_capacity(count);
        for index in 0..count {
            let twin = nodes.first().filter(|_| has_twins && index + 1 == count);
            let node = Node::new(index, options, twin);
            nodes.push(node);
        }
        Self {
            nodes,
            epoch: if has_clock { EPOCH } else { Duration::ZERO },
            asked: HashMap::new(),
            sets: Vec::new(),
            order: Order::default(),
            restarts: 0,
        }
    }

    /// Returns how many nodes said `+OK` to the `SET` of this token.
    pub(super) fn votes(&self, token: &Token) -> usize {
        self.nodes.iter().filter(|node| node.granted.contains(token)).count()
    }

    /// Returns how many nodes agreed to an extension of this token that was sent at `start` or
    /// later and makes the lock valid until `valid_until` at least.
    pub(super) fn extensions(
        &self,
        token: &Token,
        start: Instant,
        valid_until: Instant,
        drift: Drift,
    ) -> usize {
        let agreed = |node: &&Node| {
            let enough = |extension: &Extension| {
                extension.at >= start
                    && drift.valid_until(extension.at, extension.ttl) >= valid_until
            };
            node.extended.get(token).is_some_and(|extensions| extensions.iter().any(enough))
        };
        self.nodes.iter().filter(agreed).count()
    }

    /// Returns how many nodes have told to have accepted this number for the lock with this token,
    /// and how many of them have really done so.
    pub(super) fn accepted(&self, token: &Token, fence: Fence) -> (usize, usize) {
        let all = self.nodes.iter().map(|node| node.accepted.find(token, fence));
        all.fold((0, 0), |(told, really), (one, two)| {
            (told + usize::from(one), really + usize::from(two))
        })
    }

    /// Begins anew for a lock that draws another number.
    pub(super) fn begin_draw(&mut self, token: Token) {
        self.nodes.iter_mut().for_each(|node| node.accepted.begin(&token));
        self.order.begin(token);
    }

    /// Returns the time at which the nodes were asked for this token.
    pub(super) fn asked_at(&self, token: &Token) -> Option<Instant> {
        self.asked.get(token).copied()
    }

    /// Returns how many replies a node owes.
    pub(super) fn owed(&self, node: NodeId) -> usize {
        self.nodes[node.index()].owed()
    }

    /// Carries out the actions of the core on its connections, and takes its bytes.
    pub(super) fn obey(&mut self, now: Instant, redlock: &mut Redlock) {
        // Each node can be closed and connected once.
        for _ in 0..2 * self.nodes.len() {
            match redlock.poll_action() {
                Some(Action::Connect(id)) => {
                    let node = &mut self.nodes[id.index()];
                    assert!(node.link == Link::Down, "a second connection to {id:?}");
                    node.link = Link::Wanted;
                }
                Some(Action::Close(id)) => self.nodes[id.index()].hang_up(),
                _ => break,
            }
        }
        // What was ready before a node told something that takes the vote from this one or another
        // leaves all the same, and is no vote.
        let has_news = self.nodes.iter().any(|node| node.has_told);
        for index in 0..self.nodes.len() {
            self.nodes[index].has_told = false;
            self.transmit(now, redlock, index, has_news);
        }
    }

    fn transmit(&mut self, now: Instant, redlock: &mut Redlock, index: usize, has_news: bool) {
        let state = redlock.node(now, id(index)).expect("it is configured").state;
        let can_vote = !matches!(state, NodeState::Handshake | NodeState::Quarantined);
        let may_be_asked = can_vote || has_news && state == NodeState::Quarantined;
        let Some(unsent) = redlock.poll_transmit(now, id(index)) else { return };
        let (sets, count) = self.nodes[index].take(now, unsent, can_vote);
        redlock.handle_sent(id(index), count);
        self.sets.extend(sets.into_iter().map(|set| (set, may_be_asked)));
    }

    /// Checks the `SET`s since the last time: either the nodes are asked for a key, only if they
    /// may vote, and once for each token or, where a majority is asked first, at other nodes a
    /// second time; or one more node gets the key while the lock is held.
    pub(super) fn check_sets(&mut self, now: Instant, caller: &Caller, config: &RedlockConfig) {
        // An attempt that has asked a majority first can ask the other nodes later.
        let later = match config.ask {
            Ask::Majority => config.longest_node_timeout(config.max_ttl).max(MAX_NODE_TIMEOUT),
            _ => Duration::ZERO,
        };
        for (set, may_be_asked) in mem::take(&mut self.sets) {
            let token = set.token;
            if let Some(valid_until) = caller.valid_until(&token) {
                // A text can have left before the vote that decided, at the same moment.
                if set.is_repeated && caller.is_new(&token, now) {
                    continue;
                }
                let left = valid_until - now;
                let most = left + config.drift.of(left);
                assert!(set.ttl <= most, "{token} is given for {:?} instead of {most:?}", set.ttl);
            } else if !set.is_repeated && !caller.has_just_ended(&token) {
                assert!(may_be_asked, "a node is asked that may not vote");
                let asked = *self.asked.entry(token).or_insert(now);
                assert!(now - asked <= later, "{token} is used again");
                if asked == now {
                    self.order.begin(token);
                }
            }
        }
        self.order.settle();
    }

    /// Opens, breaks or refuses a connection, or changes how much the connection takes.
    pub(super) fn change(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        index: usize,
        script: &mut Unstructured<'_>,
    ) -> Result<()> {
        let choice = script.int_in_range(0..=7)?;
        let node = &mut self.nodes[index];
        match (node.link, choice) {
            (Link::Wanted, 1..) => self.connect(now, redlock, index),
            (Link::Up, 1) => node.window = script.int_in_range(0..=300)?,
            (Link::Up, 2) => node.window = usize::MAX,
            (Link::Wanted | Link::Up, 0) => self.cut(now, redlock, index),
            _ => {}
        }
        Ok(())
    }

    /// Opens a connection that is wanted.
    fn connect(&mut self, now: Instant, redlock: &mut Redlock, index: usize) {
        self.nodes[index].link = Link::Up;
        redlock.set_wall_clock(now, self.epoch + Duration::from_nanos(now.as_nanos()));
        redlock.handle_connected(now, id(index));
    }

    /// Does something to a server that the core does not see.
    pub(super) fn trouble(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        index: usize,
        script: &mut Unstructured<'_>,
    ) -> Result<()> {
        let resource = *script.choose(&RESOURCES)?;
        let node = &mut self.nodes[index];
        match script.int_in_range(0..=7)? {
            0 => {
                self.restarts += 1;
                // Each process has a seed of its own, or two nodes would have one identity.
                node.restart(now, 1_000 + self.restarts, Memory::Lost);
                self.cut_process(now, redlock, index);
                self.lose_numbers(index);
            }
            1 => node.apply(now, &[b"SCRIPT", b"FLUSH"]),
            2 => node.apply(now, &[b"DEL", resource]),
            3 => node.apply(now, &[b"SET", resource, b"foreign", b"PX", b"50"]),
            5 => return self.lose(now, redlock, index, script),
            // Somebody else has held the resource, by a clock that is fast or not.
            6 => {
                let ahead = script.arbitrary::<i64>()? >> script.int_in_range(0..=63)?;
                node.outrun(now, ahead);
            }
            _ => node.apply(now, &[b"SET", resource, b"foreign", b"NX", b"PX", b"500"]),
        }
        Ok(())
    }

    /// Takes away what a server knows of its own data.
    fn lose(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        index: usize,
        script: &mut Unstructured<'_>,
    ) -> Result<()> {
        const FORGED: [&[u8]; 4] =
            [b"", b"garbage", b"another:server:0:0 1 1 1 2000 3", b"9000000000000000 1 1 7"];
        let witness = *script.choose(&WITNESS)?;
        let node = &mut self.nodes[index];
        match script.int_in_range(0..=6)? {
            0 => {
                self.restarts += 1;
                node.restart(now, 1_000 + self.restarts, Memory::Kept);
                self.cut_process(now, redlock, index);
            }
            1 => {
                node.flush();
                self.lose_numbers(index);
            }
            2 => node.apply(now, &[b"DEL", witness]),
            // The server begins to evict, becomes a replica, or says so, until its restart.
            3 => node.habit = Some(script.arbitrary::<u8>()?.into()),
            4 => node.habit = None,
            5 => {
                let number = script.arbitrary::<i64>()? >> script.int_in_range(0..=63)?;
                node.forge(now, witness, script.arbitrary::<u8>()?.into(), number);
            }
            _ => node.apply(now, &[b"SET", witness, script.choose(&FORGED)?]),
        }
        Ok(())
    }

    /// Breaks the connections to a process, which has ended.
    fn cut_process(&mut self, now: Instant, redlock: &mut Redlock, index: usize) {
        for twin in self.twins(index) {
            self.cut(now, redlock, twin);
        }
    }

    /// A process has lost its numbers. What is on its way says nothing of what is there.
    fn lose_numbers(&mut self, index: usize) {
        for twin in self.twins(index) {
            self.nodes[twin].accepted.lose();
            self.nodes[twin].is_honest = self.nodes[twin].link != Link::Up;
        }
        self.order.lose();
    }

    /// Returns the nodes that are the process of this one.
    fn twins(&self, index: usize) -> Vec<usize> {
        let is_twin = |other: &usize| self.nodes[*other].is_twin_of(&self.nodes[index]);
        (0..self.nodes.len()).filter(is_twin).collect()
    }

    pub(super) fn cut(&mut self, now: Instant, redlock: &mut Redlock, index: usize) {
        let node = &mut self.nodes[index];
        if node.link != Link::Down {
            node.hang_up();
            redlock.handle_closed(now, id(index), NodeError::Closed);
        }
    }

    /// Breaks or refuses every connection.
    pub(super) fn refuse(&mut self, now: Instant, redlock: &mut Redlock) {
        for index in 0..self.nodes.len() {
            self.cut(now, redlock, index);
        }
    }

    /// Everybody does what he should. What the core asks for meanwhile has to wait.
    pub(super) fn serve(&mut self, now: Instant, redlock: &mut Redlock) {
        for index in 0..self.nodes.len() {
            if self.nodes[index].link == Link::Wanted {
                self.connect(now, redlock, index);
            } else if self.nodes[index].link == Link::Up {
                let node = &mut self.nodes[index];
                let bytes = node.serve(now, None);
                let (_, there) = node.arrive(&bytes);
                node.show(there, |bytes| redlock.handle_received(now, id(index), bytes));
            }
        }
    }

    /// Lets a server answer, and the bytes travel.
    pub(super) fn answer(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        index: usize,
        script: &mut Unstructured<'_>,
    ) -> Result<()> {
        let node = &mut self.nodes[index];
        if node.link != Link::Up {
            return Ok(());
        }
        let choice = script.int_in_range(0..=15)?;
        let lie = match choice {
            3..=5 => Some(any_lie(script)?),
            14 => match node.question() {
                Some(first) => Some(questions::lie(script, first)?),
                None => None,
            },
            15 => match node.look() {
                Some(at) => Some(Lie::twisted(at, Twist::choose(script)?)),
                None => None,
            },
            _ => None,
        };
        node.is_honest &= choice > 2 && lie.is_none_or(Lie::is_twisted);
        let bytes = match choice {
            0 => invented(script)?,
            1 => damaged(node.serve(now, None), script)?,
            2 => node.serve(now, None).repeat(2),
            _ => node.serve(now, lie),
        };
        let (seen, there) = node.arrive(&bytes);
        // All bytes, or a first part.
        let count = if script.ratio(3, 4)? { there } else { script.int_in_range(seen..=there)? };
        node.show(count, |bytes| redlock.handle_received(now, id(index), bytes));
        Ok(())
    }

    /// Checks that nothing is kept for a connection that is gone.
    pub(super) fn check(&self) {
        for node in &self.nodes {
            let is_fine = node.link == Link::Up || node.is_idle();
            assert!(is_fine, "something is kept for a connection that is gone");
        }
    }
}

/// Returns a wrong reply to one of the next commands.
fn any_lie(script: &mut Unstructured<'_>) -> Result<Lie> {
    let (at, which) = (script.int_in_range(0..=9)?, script.arbitrary::<u8>()?.into());
    Ok(if which < Lie::ERRORS {
        Lie::error(at, which)
    } else if which == 254 {
        Lie::long(at, script.arbitrary()?)
    } else if which < 254 {
        Lie::value(at, which, script.arbitrary()?)
    } else {
        Lie::silence(at)
    })
}

/// Returns bytes that no server wrote.
fn invented(script: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let len = script.int_in_range(0..=40)?.min(script.len());
    Ok(script.bytes(len)?.to_vec())
}

/// Returns the bytes with a few of them replaced, or without their end.
fn damaged(mut bytes: Vec<u8>, script: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    if bytes.is_empty() {
        return Ok(bytes);
    }
    for _ in 0..script.int_in_range(1..=3)? {
        let at = script.int_in_range(0..=bytes.len() - 1)?;
        bytes[at] = script.arbitrary()?;
    }
    if script.arbitrary()? {
        bytes.truncate(script.int_in_range(0..=bytes.len())?);
    }
    Ok(bytes)
}
