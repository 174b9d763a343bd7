//! A client: the core under test, the driver's part around it, and its ends of the links.

use std::time::Duration;

use redbolt::redlock::{Action, Login, NodeError, NodeId, NodeState, QueryId, Redlock};
use redbolt::time::Instant;

use crate::book::{Lock, State};
use crate::chance::Chance;
use crate::clock::{Clock, micros};
use crate::logins::login;
use crate::net::Net;
use crate::options::Options;
use crate::passing::Passed;
use crate::stops::Stops;
use crate::tricks::Trick;

/// The most bytes that may wait to be written to a node.
const UNSENT_MAX: usize = 1 << 20;

pub(crate) struct Client {
    pub(crate) redlock: Redlock,
    pub(crate) name: usize,
    pub(crate) nonce: u8,
    pub(crate) prefix: &'static [u8],
    /// The version of the password of each node, where nodes ask for one.
    pub(crate) passwords: Vec<u64>,
    /// The least that the client can take for a round trip.
    pub(crate) least_round_trip: u64,
    pub(crate) clock: Clock,
    /// By how much the wall clock is wrong.
    pub(crate) wall_error: i64,
    /// The client reads a clock that stops in suspend, against S9.
    reads_stopping_clock: bool,
    /// The client asks again as soon as it may, against the settings.
    pub(crate) polls_blindly: bool,
    /// The client checks what is due before it reads, not only afterwards.
    is_timely: bool,
    /// The time for which the clock has stood still, by a clock that has not.
    stopped_for: Duration,
    pub(crate) stops: Stops,
    ends: Vec<End>,
    /// The client does nothing until then, and the machine may be suspended.
    asleep_until: u64,
    /// The true time since which the clock has stood still, and what the clock showed then.
    stands_since: Option<(u64, Instant)>,
    busy_until: u64,
    /// The next time at which the core or the driver must be called, whatever else comes.
    pub(crate) due: u64,
    pub(crate) locks: Vec<Lock>,
    /// What the event before has passed on.
    pub(crate) passed: Option<Passed>,
    /// Open queries, with their deadlines.
    pub(crate) queries: Vec<(QueryId, u64)>,
    pub(crate) grants: u64,
    pub(crate) extensions: u64,
}

/// What the machine of a client does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sleep {
    /// The process does not run.
    Pause,
    /// The machine does not run, and the clock that counts goes on.
    Suspend,
    /// The machine does not run, and all its clocks stand still.
    Stop,
}

/// The client's end of a link.
enum End {
    Down,
    Connecting {
        until: u64,
    },
    Up {
        master: usize,
        link: u64,
        /// The time at which the rest of a write that was cut short can be written.
        write_at: u64,
    },
}

impl Client {
    /// Returns a client with a `nonce` of its own, in place of twelve bytes of the system's
    /// entropy.
    pub(crate) fn new(
        name: usize,
        nonce: u8,
        options: &Options,
        clock: Clock,
        chance: &mut Chance,
    ) -> Self {
        let nodes = options.masters;
        let passwords = vec![0; if options.extras.has_logins { nodes } else { 0 }];
        let logins = vec![if passwords.is_empty() { Login::default() } else { login(0) }; nodes];
        let mut config = options.config.clone();
        let prefix = options.extras.prefix(name);
        config.prefix = prefix.to_vec();
        config.ask = options.askers.ask(name);
        options.spoil(&mut config);
        let seed = chance.below(u64::MAX);
        let wall_error = options.first_wall_error(chance);
        let redlock = Redlock::new(config, logins, seed, [nonce; 12]);
        Self {
            redlock: redlock.expect("the configuration is drawn within its bounds"),
            name,
            nonce,
            prefix,
            passwords,
            least_round_trip: options.least_round_trip(),
            clock,
            wall_error,
            reads_stopping_clock: options.clock_stops,
            polls_blindly: options.is_tricked(Trick::PollsBlindly),
            is_timely: options.is_timely,
            stopped_for: Duration::ZERO,
            stops: Stops::default(),
            ends: (0..nodes).map(|_| End::Down).collect(),
            asleep_until: 0,
            stands_since: None,
            busy_until: 0,
            due: 0,
            locks: Vec::new(),
            passed: None,
            queries: Vec::new(),
            grants: 0,
            extensions: 0,
        }
    }

    /// Returns the time in which the client believes.
    pub(crate) fn clock(&self, now: u64) -> Instant {
        let shown = self.stands_since.map_or_else(|| self.clock.show(now), |(_, shown)| shown);
        shown - self.stopped_for
    }

    /// Returns whether the client runs. A client that has slept runs from its next turn on.
    pub(crate) fn is_awake(&self) -> bool {
        self.asleep_until == 0
    }

    /// Returns whether the client can be expected to meet its deadlines.
    pub(crate) fn is_punctual(&self) -> bool {
        self.is_awake() && !self.reads_stopping_clock
    }

    pub(crate) fn sleep(&mut self, now: u64, until: u64, sleep: Sleep) {
        self.asleep_until = until.max(self.asleep_until);
        if sleep == Sleep::Stop || (sleep == Sleep::Suspend && self.reads_stopping_clock) {
            let shown = self.clock.show(now);
            self.stands_since.get_or_insert((now, shown));
        }
    }

    /// Returns whether the client may believe for too long in a lock whose validity began at
    /// `since`, because the clock has stood still and nobody has told yet.
    pub(crate) fn is_excused(&self, since: Instant) -> bool {
        let is_stopped = self.stands_since.is_some() && !self.reads_stopping_clock;
        is_stopped || self.stops.excuse(since)
    }

    /// Ends the sleep of the client at `now` at the latest.
    pub(crate) fn rouse(&mut self, now: u64) {
        self.asleep_until = self.asleep_until.min(now);
    }

    /// Returns the time of the client's next turn, if bytes come at `arrival`.
    pub(crate) fn next(&self, arrival: u64) -> u64 {
        if self.is_awake() { arrival.min(self.due).max(self.busy_until) } else { self.asleep_until }
    }

    /// Takes one turn of the driver's loop: connections, replies, timeouts, and their consequences.
    pub(crate) fn turn(&mut self, net: &mut Net) {
        self.wake(net.now, &mut net.weather.chance);
        self.busy_until = net.now + net.weather.turn;
        let now = self.clock(net.now);
        let wall = net.now.saturating_add_signed(self.wall_error);
        let wall = micros(Instant::from_nanos(wall));
        self.redlock.set_wall_clock(now, Duration::from_micros(wall));
        if self.is_timely {
            self.redlock.handle_timeout(now);
        }
        for index in 0..self.ends.len() {
            // The client has one end per node.
            let Some(node) = NodeId::new(index) else { continue };
            match self.ends[index] {
                End::Connecting { until } if until <= net.now => {
                    if net.nodes[net.addresses[index]].down_until <= net.now {
                        let (master, link) = net.open(self.name, index);
                        self.ends[index] = End::Up { master, link, write_at: u64::MAX };
                        self.tell_login(node);
                        self.redlock.handle_connected(now, node);
                    } else {
                        self.ends[index] = End::Down;
                        let refused = NodeError::Connect(std::io::ErrorKind::ConnectionRefused);
                        self.redlock.handle_closed(now, node, refused);
                    }
                }
                End::Up { master, link, .. } => self.read(net, node, master, link),
                End::Connecting { .. } | End::Down => {}
            }
        }
        self.redlock.handle_timeout(now);
        self.settle(net);
        if let Some((due, reason)) = self.redlock.poll_timeout().filter(|(due, _)| *due <= now) {
            let name = self.name;
            net.fail(format_args!("client {name} spins: due {due:?} at {now:?}, {reason:?}"));
        }
    }

    /// Wakes the client if it slept. The clock may have stood still meanwhile, and then the wall
    /// clock did too; one that is right again has been set by somebody.
    fn wake(&mut self, now: u64, chance: &mut Chance) {
        let mut stopped = 0;
        if let Some((since, shown)) = self.stands_since.take() {
            stopped = now - since;
            self.stopped_for += self.clock.show(now) - shown;
            if !self.reads_stopping_clock {
                self.stops.ended(since, now, self.clock(now));
                if chance.one_in(2) {
                    self.wall_error -= stopped as i64;
                }
            }
        }
        if core::mem::take(&mut self.asleep_until) > 0 {
            self.excuse(now, stopped);
        }
    }

    /// Hands the core the bytes that have arrived on a link, and the end of the link.
    fn read(&mut self, net: &mut Net, node: NodeId, master: usize, id: u64) {
        let now = self.clock(net.now);
        let Net { nodes, checks, .. } = net;
        let Some(link) = nodes[master].link(id) else { return };
        if link.replies.arrive(net.now) {
            let arrived = link.replies.arrived();
            while let Some((_, vote)) = link.votes.front().filter(|(end, _)| *end <= arrived) {
                checks.voted(net.now, self.name, vote);
                link.votes.pop_front();
            }
            while let Some((_, accept)) = link.numbers.front().filter(|(end, _)| *end <= arrived) {
                checks.accepted(net.now, self.name, accept);
                link.numbers.pop_front();
            }
            let done = self.redlock.handle_received(now, node, link.replies.waiting());
            link.replies.take(done);
            while link.looks.front().is_some_and(|(end, _)| *end <= arrived) {
                // A session that is over has not read the answers that came last.
                let is_read = self.is_connected(now, node);
                let Some((_, look)) = link.looks.pop_front().filter(|_| is_read) else { continue };
                let (slots, drift) = (self.ends.len(), checks.rules.drift);
                checks.is_touched |= self.stops.looked(node.index(), slots, look, now, drift);
            }
            self.obey(net);
        }
        let End::Up { .. } = self.ends[node.index()] else { return };
        let Some(link) = net.nodes[master].link(id) else { return };
        if link.ends_at <= net.now && link.replies.next().is_none() {
            self.hang_up(net, node.index());
            self.redlock.handle_closed(now, node, NodeError::Closed);
            self.obey(net);
        }
    }

    /// Returns whether the core has a session with the node.
    fn is_connected(&self, now: Instant, node: NodeId) -> bool {
        use NodeState::{Connecting, Down, Misconfigured};
        let state = self.redlock.node(now, node).map(|status| status.state);
        !matches!(state, None | Some(Down | Misconfigured | Connecting))
    }

    /// Carries out the actions of the core, and takes its events.
    pub(crate) fn settle(&mut self, net: &mut Net) {
        // Twice: a driver may poll again, and must not lose what the core does in answer to the
        // events.
        for _ in 0..2 {
            self.obey(net);
            self.transmit(net);
            self.hear(net);
        }
        self.due = self.due(net.now);
    }

    /// Takes all events.
    pub(crate) fn hear(&mut self, net: &mut Net) {
        while let Some(event) = self.redlock.poll_event() {
            self.heed(net, event);
        }
    }

    fn due(&self, now: u64) -> u64 {
        let mut due = u64::MAX;
        for end in &self.ends {
            match end {
                End::Connecting { until: at } | End::Up { write_at: at, .. } => due = due.min(*at),
                End::Down => {}
            }
        }
        if let Some((at, _)) = self.redlock.poll_timeout() {
            due = due.min(self.clock.true_time(now + 1, at + self.stopped_for));
        }
        due
    }

    fn obey(&mut self, net: &mut Net) {
        while let Some(action) = self.redlock.poll_action() {
            match action {
                Action::Connect(node) => {
                    let (name, index) = (self.name, node.index());
                    if !matches!(self.ends[index], End::Down) {
                        net.fail(format_args!("client {name} connects twice to {node:?}"));
                    }
                    let master = net.addresses[index];
                    let blocked_until = net.weather.blocked_until(name, master);
                    let until = blocked_until.max(net.now) + net.weather.time_to_connect(master);
                    self.ends[index] = End::Connecting { until };
                }
                Action::Close(node) => self.hang_up(net, node.index()),
                Action::Login(node) => {
                    self.tell_login(node);
                    // Another login makes the node due at once.
                    self.redlock.handle_timeout(self.clock(net.now));
                }
                other => net.fail(format_args!("an unknown action: {other:?}")),
            }
        }
    }

    fn hang_up(&mut self, net: &mut Net, node: usize) {
        if let End::Up { master, link, .. } = core::mem::replace(&mut self.ends[node], End::Down) {
            net.hang_up(master, link);
        }
    }

    /// Breaks the link to a node. Returns false if there is none.
    pub(crate) fn cut(&mut self, net: &mut Net, node: usize) -> bool {
        let Some(id) = NodeId::new(node) else { return false };
        if !matches!(self.ends[node], End::Up { .. }) || !self.is_awake() {
            return false;
        }
        self.hang_up(net, node);
        self.redlock.handle_closed(self.clock(net.now), id, NodeError::Closed);
        self.settle(net);
        true
    }

    /// Shuts the client down in good order: what can still be sent is sent.
    pub(crate) fn bow_out(&mut self, net: &mut Net) {
        while let Some(id) = self.first_in(State::Held) {
            self.release(net, id);
        }
        self.redlock.flush_batches(self.clock(net.now));
        self.settle(net);
    }

    /// Kills the process: its ends of all links go, and the bytes under way may still arrive.
    pub(crate) fn die(&mut self, net: &mut Net) {
        for node in 0..self.ends.len() {
            self.hang_up(net, node);
        }
    }

    fn transmit(&mut self, net: &mut Net) {
        let now = self.clock(net.now);
        for node in self.redlock.nodes() {
            let End::Up { master, link, write_at } = &mut self.ends[node.index()] else { continue };
            *write_at = u64::MAX;
            if let Some(bytes) = self.redlock.poll_transmit(now, node) {
                let size = bytes.len();
                if size > UNSENT_MAX {
                    net.checks.fail(net.now, format_args!("{size} bytes wait for {node:?}"));
                }
                let sent = net.send(*master, *link, now, bytes);
                if sent < size {
                    *write_at = net.now + net.weather.delay(*master);
                }
                self.redlock.handle_sent(node, sent);
            }
        }
    }
}
