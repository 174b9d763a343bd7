//! Connections and servers: honest, damaged, or made up.

use arbitrary::{Result, Unstructured};
use bytes::BytesMut;
use redbolt::embedded::{Master, Options, Session};
use redbolt::redlock::{Action, Redlock, Trouble};
use redbolt::resp::{self, Status, Value};
use redbolt::time::Instant;

use super::id;

pub(super) struct Network {
    nodes: Vec<Node>,
}

struct Node {
    master: Master,
    link: Link,
    /// When bytes arrived last with which an `+OK` can have ended.
    granted_at: Option<Instant>,
    /// What the core has sent and the server has not read.
    sent: Vec<u8>,
    /// What the server has answered and the core has not done with.
    replies: Vec<u8>,
}

#[derive(PartialEq, Eq)]
enum Link {
    Down,
    Wanted,
    Up,
}

impl Network {
    pub(super) fn new(count: usize) -> Self {
        let node = |index: usize| Node {
            master: Master::new(index as u64, Options::default(), Instant::ZERO),
            link: Link::Down,
            granted_at: None,
            sent: Vec::new(),
            replies: Vec::new(),
        };
        Self { nodes: (0..count).map(node).collect() }
    }

    /// How many nodes can have granted something since then.
    pub(super) fn granted_since(&self, since: Instant) -> usize {
        self.nodes.iter().filter(|node| node.granted_at >= Some(since)).count()
    }

    /// Carries out what the core wants of its connections, and takes what it sends.
    pub(super) fn obey(&mut self, now: Instant, redlock: &mut Redlock) {
        while let Some(action) = redlock.poll_action() {
            let (Action::Connect(id) | Action::Close(id)) = action else { continue };
            let node = &mut self.nodes[id.index()];
            match action {
                Action::Connect(_) => {
                    assert!(node.link == Link::Down, "a second connection to {id:?}");
                    node.link = Link::Wanted;
                }
                _ => node.hang_up(),
            }
        }
        for (index, node) in self.nodes.iter_mut().enumerate() {
            if let Some(bytes) = redlock.poll_transmit(now, id(index)) {
                assert!(node.link == Link::Up, "bytes for a connection that is not there");
                node.sent.extend_from_slice(bytes);
                let count = bytes.len();
                redlock.handle_sent(id(index), count);
            }
        }
    }

    /// A connection comes up, or breaks, or is refused.
    pub(super) fn change(
        &mut self,
        now: Instant,
        redlock: &mut Redlock,
        index: usize,
        script: &mut Unstructured<'_>,
    ) -> Result<()> {
        let works = script.int_in_range(0..=7)? > 0;
        let node = &mut self.nodes[index];
        match node.link {
            Link::Wanted if works => {
                node.link = Link::Up;
                redlock.handle_connected(now, id(index));
            }
            Link::Wanted | Link::Up if !works => self.cut(now, redlock, index),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn cut(&mut self, now: Instant, redlock: &mut Redlock, index: usize) {
        let node = &mut self.nodes[index];
        if node.link != Link::Down {
            node.hang_up();
            redlock.handle_closed(now, id(index), Trouble::Closed);
        }
    }

    /// Every connection that is wanted is refused.
    pub(super) fn refuse(&mut self, now: Instant, redlock: &mut Redlock) {
        for index in 0..self.nodes.len() {
            self.cut(now, redlock, index);
        }
    }

    /// A server answers, and the bytes take their way.
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
        let arrived = match script.int_in_range(0..=9)? {
            0 => script.bytes_of_any_length()?,
            1 => damaged(node.serve(now), script)?,
            2 => node.serve(now).repeat(2),
            _ => node.serve(now),
        };
        node.replies.extend_from_slice(&arrived);
        // All of it, or the first part.
        let all = node.replies.len();
        let there = if script.ratio(3, 4)? { all } else { script.int_in_range(0..=all)? };
        if node.replies[..there].contains(&b'K') {
            node.granted_at = Some(now);
        }
        let done = redlock.handle_received(now, id(index), &node.replies[..there]);
        assert!(done <= there, "more is done with than there was");
        node.replies.drain(..done);
        Ok(())
    }

    /// Nothing is kept for a connection that is gone.
    pub(super) fn check(&self) {
        for node in &self.nodes {
            let is_idle = node.sent.is_empty() && node.replies.is_empty();
            assert!(node.link == Link::Up || is_idle, "bytes of a connection that is gone");
        }
    }
}

impl Node {
    fn hang_up(&mut self) {
        self.link = Link::Down;
        self.sent.clear();
        self.replies.clear();
    }

    /// The replies to all whole requests that were sent.
    fn serve(&mut self, now: Instant) -> Vec<u8> {
        let (mut out, mut done, mut session) = (BytesMut::new(), 0, Session::default());
        while let Ok(Status::Complete((value, used))) = resp::parse(&self.sent[done..]) {
            let Value::Array(words) = value else { panic!("what is sent is no command") };
            let words: Vec<&[u8]> = words
                .map(|word| match word {
                    Value::Bulk(word) => word,
                    other => panic!("{other:?} is no word"),
                })
                .collect();
            self.master.apply(now, &mut session, &words, &mut out);
            done += used;
        }
        assert_eq!(done, self.sent.len(), "half a command is sent");
        self.sent.clear();
        out.to_vec()
    }
}

/// The same bytes with a few others among them, or without their end.
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

/// Bytes as a script has them: a length, then as many.
trait Bytes {
    fn bytes_of_any_length(&mut self) -> Result<Vec<u8>>;
}

impl Bytes for Unstructured<'_> {
    fn bytes_of_any_length(&mut self) -> Result<Vec<u8>> {
        let len = self.int_in_range(0..=40)?.min(self.len());
        Ok(self.bytes(len)?.to_vec())
    }
}
