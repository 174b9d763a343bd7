//! Many engines that want one resource of the same masters, each some way from them. Nothing takes
//! time but the way, so what is measured here are round trips, and no processors.

mod data;
mod hand_overs;
mod turns;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::mem;

use super::*;

/// The way from an engine to a master, in nanoseconds, and by how much it can be longer.
const WAY: u64 = 250_000;
const JITTER: u64 = 500_000;
const ROUND_TRIP: Duration = Duration::from_nanos(2 * WAY + JITTER);

const LONG: Duration = Duration::from_secs(600);
const LONG_TTL: Duration = Duration::from_secs(60);

/// What arrives, and at which engine or master.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Arrival {
    Request { engine: usize, master: usize, words: String },
    Reply { engine: usize, master: usize, reply: String },
    Push { engine: usize, master: usize, key: String },
}

/// The key of the resource at one master: the engine and the token as a word, and who is told of
/// which key.
struct Key {
    owner: Option<(usize, String)>,
    ends: Instant,
    told: Vec<(usize, String)>,
    /// Whether there is a mark of one who waits.
    is_wanted: bool,
    /// The tickets that were drawn, and when they end.
    tickets: BTreeMap<String, Instant>,
    /// What a read of data that are no lock answers, and the question for their end.
    data: Option<(&'static str, &'static str)>,
}

struct Together {
    engines: Vec<Rig>,
    keys: [Key; 5],
    now: Instant,
    rng: fastrand::Rng,
    arrivals: BinaryHeap<Reverse<(Instant, u64, Arrival)>>,
    sent: u64,
    /// When the last thing that is under way arrives, by engine, master and direction.
    last: Vec<[[Instant; 2]; 5]>,
    /// What the masters have executed.
    commands: usize,
    /// The way, and by how much it can be longer, in nanoseconds.
    way: u64,
    jitter: u64,
    /// The last request of each engine, if it was not cancelled.
    wanted: Vec<Option<LockId>>,
    /// The engines that have died or stand still.
    gone: Vec<bool>,
    /// How many engines were told of the key of the resource.
    pushes: usize,
    /// The engine whose ways are longer by this.
    late: (usize, Duration),
    /// For all requests.
    options: AcquireOptions,
}

impl Together {
    fn new(engines: usize, seed: u64) -> Self {
        Self::new_telling(engines, seed, true)
    }

    /// The same with masters that tell what happens to keys, or do not.
    fn new_telling(engines: usize, seed: u64, tells: bool) -> Self {
        let rig = |engine| {
            let mut rig = Rig::unconnected_seeded(5, seed * 1_000 + engine as u64, |_| ());
            rig.masters.iter_mut().for_each(|master| master.tracks = tells);
            rig.connect_all(5);
            (rig.opens_doors, rig.shows_opt_ins) = (false, true);
            (rig.ticket, rig.ttl) = (None, None);
            rig
        };
        let engines: Vec<_> = (0..engines).map(rig).collect();
        Self {
            keys: core::array::from_fn(|_| Key {
                owner: None,
                ends: Instant::ZERO,
                told: Vec::new(),
                is_wanted: false,
                tickets: BTreeMap::new(),
                data: None,
            }),
            now: engines[0].now,
            rng: fastrand::Rng::with_seed(seed),
            arrivals: BinaryHeap::new(),
            sent: 0,
            last: vec![[[Instant::ZERO; 2]; 5]; engines.len()],
            wanted: vec![None; engines.len()],
            gone: vec![false; engines.len()],
            pushes: 0,
            engines,
            commands: 0,
            way: WAY,
            jitter: JITTER,
            late: (0, Duration::ZERO),
            options: AcquireOptions::new(),
        }
    }

    /// Sends something on its way, behind all that was sent before.
    fn send(&mut self, arrival: Arrival) {
        let (engine, master, back) = match &arrival {
            Arrival::Request { engine, master, .. } => (*engine, *master, 0),
            Arrival::Reply { engine, master, .. } | Arrival::Push { engine, master, .. } => {
                (*engine, *master, 1)
            }
        };
        let mut way = Duration::from_nanos(self.way + self.rng.u64(..self.jitter));
        if engine == self.late.0 {
            way += self.late.1;
        }
        let last = &mut self.last[engine][master][back];
        *last = (*last).max(self.now + way);
        self.arrivals.push(Reverse((*last, self.sent, arrival)));
        self.sent += 1;
    }

    /// Lets an engine catch up with the time, and sends what it has for the masters.
    fn turn(&mut self, engine: usize) {
        let rig = &mut self.engines[engine];
        rig.advance(self.now - rig.now);
        self.flush(engine);
    }

    fn flush(&mut self, engine: usize) {
        for master in 0..5 {
            for words in self.engines[engine].sent(master) {
                self.send(Arrival::Request { engine, master, words });
            }
        }
    }

    /// Returns the engine for which something is due next, and when.
    fn due(&self) -> (usize, Instant) {
        let due = |(rig, gone): (&Rig, &bool)| match rig.redlock.poll_timeout() {
            Some(due) if !gone => due.0,
            _ => Instant::FAR_FUTURE,
        };
        let dues = self.engines.iter().zip(&self.gone).map(due).enumerate();
        dues.min_by_key(|(_, due)| *due).expect("there are engines")
    }

    fn arrival(&self) -> Option<Instant> {
        self.arrivals.peek().map(|Reverse((at, ..))| *at)
    }

    /// Goes on to the next moment at which anything happens, and returns what an engine has to
    /// tell.
    fn step(&mut self) -> Vec<(usize, Event)> {
        let (engine, due) = self.due();
        let engine = match self.arrival().filter(|at| *at <= due) {
            Some(at) => {
                self.now = self.now.max(at);
                let Reverse((_, _, arrival)) = self.arrivals.pop().expect("it was there");
                self.arrived(arrival)
            }
            None => {
                self.now = self.now.max(due);
                Some(engine)
            }
        };
        let Some(engine) = engine else { return Vec::new() };
        self.turn(engine);
        self.engines[engine].events().into_iter().map(|event| (engine, event)).collect()
    }

    /// Returns the engine at which something has arrived.
    fn arrived(&mut self, arrival: Arrival) -> Option<usize> {
        match arrival {
            Arrival::Request { engine, master, words } => {
                let reply = self.execute(engine, master, &words);
                self.send(Arrival::Reply { engine, master, reply });
                None
            }
            Arrival::Reply { engine, .. } | Arrival::Push { engine, .. } if self.gone[engine] => {
                None
            }
            Arrival::Reply { engine, master, reply } => {
                let rig = &mut self.engines[engine];
                rig.advance(self.now - rig.now);
                rig.reply(master, &reply);
                Some(engine)
            }
            Arrival::Push { engine, master, key } => {
                self.pushes += usize::from(key == "r");
                let rig = &mut self.engines[engine];
                rig.advance(self.now - rig.now);
                let length = key.len();
                let push = format!(">2\r\n$10\r\ninvalidate\r\n*1\r\n${length}\r\n{key}\r\n");
                rig.redlock.handle_received(rig.now, node(master), push.as_bytes());
                rig.run_actions();
                Some(engine)
            }
        }
    }

    /// Executes a command at a master, and returns the reply.
    fn execute(&mut self, engine: usize, master: usize, words: &str) -> String {
        self.commands += 1;
        let opts_in = words.starts_with("OPTIN ");
        let words: Vec<_> = words.trim_start_matches("OPTIN ").split(' ').collect();
        self.expire(master);
        let key = &mut self.keys[master];
        if let ["GETRANGE" | "PTTL", read, ..] = words[..] {
            if opts_in && self.engines[engine].masters[master].tracks {
                key.told.push((engine, read.to_owned()));
            }
        }
        let is_owner = |token: &str| {
            key.owner.as_ref().is_some_and(|owner| owner.0 == engine && owner.1 == token)
        };
        if let Some((read, end)) = key.data {
            match words[..] {
                ["SET", "r", ..] => return "$-1".to_owned(),
                ["GETRANGE", "r", ..] => return read.to_owned(),
                ["PTTL", "r"] => return end.to_owned(),
                _ => {}
            }
        }
        match words[..] {
            ["SET", "r", _, ..] if key.owner.is_some() => return "$-1".to_owned(),
            ["SET", "r", token, ..] => {
                (key.owner, key.ends) = (Some((engine, token.to_owned())), self.now + LONG_TTL);
            }
            ["GETRANGE", "r", ..] => {
                let Some((owner, token)) = &key.owner else { return NOBODY.to_owned() };
                let token: u64 = token[1..].parse().expect("a number");
                return format!("$20\r\n{owner:012}{token:08}");
            }
            ["PTTL", "r"] if key.owner.is_none() => return ":-2".to_owned(),
            ["PTTL", "r"] => return format!(":{}", (key.ends - self.now).as_millis()),
            ["PTTL", ticket] => {
                let left = key.tickets.get(ticket).map(|ends| (*ends - self.now).as_millis());
                return left.map_or_else(|| ":-2".to_owned(), |left| format!(":{left}"));
            }
            ["EVALSHA", "release", "1", "r", token] if is_owner(token) => key.owner = None,
            ["SET", ticket, "ticket:", .., "NX", "PX", life] => {
                let life = ms(life.parse().expect("a number"));
                if key.tickets.contains_key(ticket) {
                    return "$-1".to_owned();
                }
                key.tickets.insert(ticket.to_owned(), self.now + life);
                return "+OK".to_owned();
            }
            ["SET", "redbolt:wanted:r", ..] => {
                key.is_wanted = true;
                return "+OK".to_owned();
            }
            ["EVALSHA", "release", "1", "redbolt:wanted:r", ..] => {
                return format!(":{}", u8::from(mem::take(&mut key.is_wanted)));
            }
            ["EVALSHA", "release", "1", ticket, "ticket:", ..] => {
                let is_there = key.tickets.remove(ticket).is_some();
                if is_there {
                    self.tell(master, ticket);
                }
                return format!(":{}", u8::from(is_there));
            }
            ["EVALSHA", "release", "1", _, _] => return ":0".to_owned(),
            _ => panic!("the masters do not know {words:?}"),
        }
        self.tell(master, "r");
        if words[0] == "SET" { "+OK" } else { ":1" }.to_owned()
    }

    /// Ends the keys of a master whose time is over.
    fn expire(&mut self, master: usize) {
        let (key, now) = (&mut self.keys[master], self.now);
        if key.owner.is_some() && key.ends <= now {
            key.owner = None;
            self.tell(master, "r");
        }
        let tickets = &mut self.keys[master].tickets;
        let over: Vec<_> = tickets.iter().filter(|(_, ends)| **ends <= now).collect();
        let over: Vec<_> = over.into_iter().map(|(ticket, _)| ticket.clone()).collect();
        for ticket in over {
            self.keys[master].tickets.remove(&ticket);
            self.tell(master, &ticket);
        }
    }

    /// Tells those who want to hear of a key.
    fn tell(&mut self, master: usize, key: &str) {
        let told = mem::take(&mut self.keys[master].told);
        let (told, others) = told.into_iter().partition(|(_, wanted)| wanted == key);
        self.keys[master].told = others;
        for (engine, key) in told {
            self.send(Arrival::Push { engine, master, key });
        }
    }

    /// Lets time pass.
    fn pass(&mut self, time: Duration) -> Vec<(usize, Event)> {
        let (until, mut events) = (self.now + time, Vec::new());
        while self.due().1.min(self.arrival().unwrap_or(Instant::FAR_FUTURE)) <= until {
            events.extend(self.step());
        }
        self.now = until;
        events
    }

    /// Lets an engine ask for the resource.
    fn ask(&mut self, engine: usize) {
        self.ask_for(engine, LONG);
    }

    /// Lets the first engine have the resource, and all others ask then. Returns its lock.
    fn all_ask(&mut self) -> (usize, LockId) {
        self.ask(0);
        let owner = self.next();
        for engine in 1..self.engines.len() {
            self.ask(engine);
            self.pass(ms(1));
        }
        owner
    }

    /// Lets an engine ask for the resource, and wait for so long.
    fn ask_for(&mut self, engine: usize, wait: Duration) {
        self.turn(engine);
        let rig = &mut self.engines[engine];
        let lock = rig.redlock.acquire_with(rig.now, &[b"r"], LONG_TTL, wait, &self.options);
        self.wanted[engine] = Some(lock.expect("it is in bounds"));
        self.flush(engine);
    }

    /// Lets an engine give up its last request.
    fn cancel(&mut self, engine: usize) {
        self.turn(engine);
        let lock = self.wanted[engine].take().expect("a request");
        let rig = &mut self.engines[engine];
        rig.redlock.cancel(rig.now, lock).expect("it waits");
        rig.events();
        self.flush(engine);
    }

    /// Releases a lock. Returns that of the next in line, if the lock was passed on.
    fn release(&mut self, engine: usize, lock: LockId) -> Option<LockId> {
        self.turn(engine);
        let rig = &mut self.engines[engine];
        rig.redlock.release(rig.now, lock).expect("it is held");
        let is_granted = |event: &Event| matches!(event, Event::Acquired { .. });
        let passed = rig.events().into_iter().find(is_granted).and_then(|event| event.lock());
        self.flush(engine);
        passed
    }

    /// Lets an engine forget a lock without a release. Returns when the keys are too few for a
    /// quorum: when two of them are left.
    fn forget(&mut self, engine: usize, lock: LockId) -> Instant {
        self.turn(engine);
        let rig = &mut self.engines[engine];
        rig.redlock.disown(rig.now, lock).expect("it is held");
        let is_its = |key: &&Key| key.owner.as_ref().is_some_and(|(owner, _)| *owner == engine);
        let mut ends: Vec<_> = self.keys.iter().filter(is_its).map(|key| key.ends).collect();
        ends.sort();
        ends[ends.len() - 3]
    }

    /// Lets time pass until somebody has the lock.
    fn next(&mut self) -> (usize, LockId) {
        let since = self.now;
        loop {
            for (engine, event) in self.step() {
                if let Event::Acquired { lock, .. } = event {
                    return (engine, lock);
                }
            }
            assert!(self.now - since < Duration::from_secs(60), "nobody has the lock");
        }
    }
}
