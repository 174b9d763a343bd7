//! Acquiring the lock.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use redbolt::redlock::{Holder, NodeId};
use redbolt::time::Instant;
use redbolt::{AcquireError, AcquireOptions, Engine, Event, Fence, LockId, LostReason, Token};

use super::args::Args;
use super::changes::Changes;
use super::contact::{self, Contact, handle_signal};
use super::failure::Failure;
use super::message::{Left, Message};
use super::occupant::Occupant;
use super::speech::Speech;
use super::voters::Voters;
use super::watch::{News, Watch};
use crate::nodes::{self, NodeList};

/// The pause before the first look at what keeps the lock from us. Each pause is twice as long as
/// the one before.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// The longest pause between two looks.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The time between two checks whether the nodes still vote, where no change calls for one. Nobody
/// is asked for that.
const CHECK_EVERY: Duration = Duration::from_millis(500);

/// How long nodes may take to say what they have under the resource, once the wait is over, unless
/// they are far away.
const ASK_TIMEOUT: Duration = Duration::from_millis(100);

/// A lock that is held.
pub(super) struct Lease {
    pub(super) lock: LockId,
    pub(super) token: Token,
    /// The fencing number, if one was asked for.
    pub(super) fence: Option<Fence>,
    pub(super) since: Instant,
    pub(super) valid_until: Instant,
}

/// A request for the lock, under way.
struct Waiting<'a> {
    args: &'a Args,
    speech: &'a Speech,
    start: Instant,
    until: Instant,
    next_look: Instant,
    pause: Duration,
    next_check: Instant,
    voters: Voters,
    changes: Changes,
    /// What the nodes have said last, and when.
    occupant: Option<(Occupant, Instant)>,
    /// What was told as something that somebody has to delete.
    stuck: Option<Occupant>,
}

/// Acquires the lock, unless a signal comes first.
pub(super) fn acquire(watch: &mut Watch, args: &Args, speech: &Speech) -> Result<Lease, Failure> {
    let start = watch.engine.now();
    check(watch, args)?;
    let contact = contact::make(watch, args, speech)?;
    let wait = contact.left;
    let mut waiting = Waiting::new(&watch.engine, args, speech, start, &contact);
    let request = if args.fence {
        let options = AcquireOptions::new().fenced();
        watch.engine.acquire_with(&[args.resource.as_bytes()], args.ttl(), wait, &options)
    } else {
        watch.engine.acquire(args.resource.as_bytes(), args.ttl(), wait)
    };
    let lock = request.map_err(|error| Failure::Usage(error.to_string()))?;
    loop {
        match watch.next(waiting.next_look.min(waiting.next_check))? {
            News::Engine(Event::Acquired { lock: id, valid_until, .. }) if id == lock => {
                return waiting.acquired(watch, lock, valid_until);
            }
            News::Engine(Event::AcquireFailed { lock: id, error }) if id == lock => {
                return Err(waiting.failed(watch, error));
            }
            News::Engine(Event::Queried { holder, .. }) => waiting.looked(watch, &holder)?,
            News::Engine(Event::Node(node)) => {
                waiting.changed(&watch.engine, node);
                waiting.check(&watch.engine);
            }
            News::Signal(signal) => {
                handle_signal(watch, signal).inspect_err(|_| {
                    // No event has said that the lock is held, so that it can be cancelled.
                    _ = watch.engine.cancel(lock);
                })?;
            }
            News::Time => waiting.due(watch),
            News::Engine(_) => {}
        }
    }
}

/// Refuses a resource or a ttl that cannot be used, before anybody is waited for.
fn check(watch: &mut Watch, args: &Args) -> Result<(), Failure> {
    let trial = watch.engine.acquire(args.resource.as_bytes(), args.ttl(), args.wait());
    let trial = trial.map_err(|error| Failure::Usage(error.to_string()))?;
    // No node is connected yet, so that nobody was asked. The event of this request means nothing.
    _ = watch.engine.cancel(trial);
    Ok(())
}

impl<'a> Waiting<'a> {
    fn new(
        engine: &Engine,
        args: &'a Args,
        speech: &'a Speech,
        start: Instant,
        contact: &Contact,
    ) -> Self {
        let now = engine.now();
        Self {
            args,
            speech,
            start,
            until: now + contact.left,
            next_look: start + FIRST_LOOK,
            pause: 2 * FIRST_LOOK,
            next_check: now + CHECK_EVERY,
            voters: Voters::new(engine, contact.is_told),
            changes: Changes::new(engine),
            occupant: None,
            stuck: None,
        }
    }

    /// Keeps the lock alive, as far as that is wanted.
    fn acquired(
        &self,
        watch: &mut Watch,
        lock: LockId,
        valid_until: Instant,
    ) -> Result<Lease, Failure> {
        let args = self.args;
        let token = watch.engine.token(lock).filter(|_| watch.engine.is_held(lock));
        let token = token.ok_or_else(|| Failure::Overrun {
            resource: args.resource_name(),
            end: LostReason::Expired,
            what: "it ended before the command could be started",
            survivors: false,
        })?;
        let since = watch.engine.now();
        if let Some(max_hold) = args.keep_alive() {
            // An error means that the lock has just ended, which has an event of its own.
            _ = watch.engine.keep_alive(lock, args.ttl(), max_hold);
            // Renewals come earlier, so that only an end is announced.
            _ = watch.engine.warn(lock, args.ttl() / 2);
        }
        self.speech.say(&Message::Locked { took: since - self.start });
        let nodes = nodes::not_voting(&watch.engine);
        if !nodes.is_empty() {
            self.speech.say(&Message::NotAllReady { nodes });
        }
        let fence = watch.engine.fence(lock);
        Ok(Lease { lock, token, fence, since, valid_until })
    }

    /// Does what is due.
    fn due(&mut self, watch: &mut Watch) {
        let now = watch.engine.now();
        if now >= self.next_check {
            self.next_check = now + CHECK_EVERY;
            let nodes: Vec<_> = watch.engine.nodes().map(|(node, ..)| node).collect();
            nodes.into_iter().for_each(|node| self.changed(&watch.engine, node));
            self.check(&watch.engine);
        }
        if now >= self.next_look {
            self.look(watch);
        }
    }

    /// Says how a node has changed, if it has.
    fn changed(&mut self, engine: &Engine, node: NodeId) {
        if let Some(news) = self.changes.news(engine, node) {
            self.speech.say(&Message::Node(news));
        }
    }

    /// Says that the nodes which vote are no quorum, if that is news: somebody may have to mend
    /// them.
    fn check(&mut self, engine: &Engine) {
        if let Some(nodes) = self.voters.news(engine) {
            let left = Left::until(self.until, engine.now());
            self.speech.say(&Message::NoQuorumYet { left, nodes });
        }
    }

    /// Asks the nodes what keeps the lock from us.
    fn look(&mut self, watch: &mut Watch) {
        // An error means that an earlier question has not been answered for long.
        _ = watch.engine.query(self.args.resource.as_bytes());
        self.next_look = watch.engine.now() + self.pause;
        self.pause = LONGEST_PAUSE.min(2 * self.pause);
    }

    /// Says what keeps the lock from us.
    fn looked(&mut self, watch: &mut Watch, holder: &Holder) -> io::Result<()> {
        let key = self.args.resource.as_bytes();
        let mut occupant = Occupant::new(&watch.engine, key, holder);
        // What stays so may stay so for ever.
        let before = self.occupant.as_ref().map(|(occupant, _)| occupant);
        if matches!(before, Some(Occupant::Split | Occupant::Unknown | Occupant::Permanent(_))) {
            occupant = occupant.closer(&mut watch.engine, key)?;
        }
        if occupant.is_permanent() && self.stuck.as_ref() != Some(&occupant) {
            self.speech.say(&Message::Stuck { occupant: occupant.clone() });
            self.stuck = Some(occupant.clone());
        }
        if matches!(occupant, Occupant::Held { .. } | Occupant::Free) {
            self.stuck = None;
        }
        let now = watch.engine.now();
        self.occupant = Some((occupant.clone(), now));
        let is_known = self.voters.has_quorum() && occupant != Occupant::Unknown;
        let nodes = if is_known { NodeList::default() } else { self.voters.lines(&watch.engine) };
        self.speech.say(&Message::Waiting {
            waited: now - self.start,
            left: Left::until(self.until, now),
            attempts: watch.engine.counters().attempts,
            occupant,
            nodes,
        });
        Ok(())
    }

    fn failed(self, watch: &mut Watch, error: AcquireError) -> Failure {
        let args = self.args;
        let resource = args.resource_name();
        let asked = match error {
            AcquireError::Held { .. } => match ask(watch, args.resource.as_bytes()) {
                Ok(asked) => asked,
                Err(failure) => return failure,
            },
            _ => None,
        };
        let engine = &watch.engine;
        match error {
            AcquireError::Held { .. } => {
                let known = self.occupant.map(|(known, at)| known.after(engine.now() - at));
                let occupant = asked.or(known).unwrap_or(Occupant::Unknown);
                Failure::Held { resource, occupant, nodes: nodes::not_voting(engine) }
            }
            AcquireError::NoQuorum(outcomes) => {
                Failure::NoQuorum { resource, nodes: nodes::describe(engine, Some(&outcomes)) }
            }
            AcquireError::TooFar { outcomes, round_trip, limit } => {
                let nodes = nodes::describe(engine, Some(&outcomes));
                Failure::TooFar { resource, round_trip, limit, nodes }
            }
            AcquireError::Quarantined { outcomes, retry_after, .. } => {
                let nodes = nodes::describe(engine, Some(&outcomes));
                Failure::Unavailable { resource, retry_after, nodes }
            }
            // This engine has no other request, so the nodes were late and not the queue.
            _ => Failure::NoQuorum { resource, nodes: nodes::describe(engine, None) },
        }
    }
}

/// Asks the nodes what stands under a resource. Returns nothing where they do not say in time.
fn ask(watch: &mut Watch, resource: &[u8]) -> Result<Option<Occupant>, Failure> {
    // An error means that an earlier question has not been answered for long.
    let Ok(asked) = watch.engine.query(resource) else { return Ok(None) };
    let until = watch.engine.now() + nodes::time_to_answer(&watch.engine, ASK_TIMEOUT);
    loop {
        match watch.next(until)? {
            News::Engine(Event::Queried { query, holder, .. }) if query == asked => {
                let occupant = Occupant::new(&watch.engine, resource, &holder);
                return Ok(Some(occupant.closer(&mut watch.engine, resource)?));
            }
            News::Time => return Ok(None),
            News::Signal(signal) => handle_signal(watch, signal)?,
            News::Engine(_) => {}
        }
    }
}
