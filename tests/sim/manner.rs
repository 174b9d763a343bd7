//! The manner of a request for a lock: as most are, for a lock that was let go of, or with options.

use std::time::Duration;

use redbolt::redlock::{AcquireOptions, LockId, RequestError, Token};

use crate::book::Orphan;
use crate::chance::Chance;
use crate::client::Client;
use crate::clock::MS;
use crate::names::Resources;
use crate::net::Net;
use crate::thrift::Pauses;

/// How a lock is asked for, beyond its resources, its ttl and its wait.
#[derive(Default)]
pub(crate) struct Manner {
    /// The lock is one that was let go of.
    pub(crate) orphan: Option<Orphan>,
    options: Option<AcquireOptions>,
    /// The node timeout that is among the options.
    pub(crate) node_timeout: Option<Duration>,
    /// The shortest pauses between attempts, if the client chooses them.
    pub(crate) pauses: Option<Pauses>,
    /// The token that is among the options. The same for equal resources, so that a client tries
    /// its tokens again and again, and the core must know which of them are good.
    own: Option<Token>,
    /// The lock shall have a fencing number.
    pub(crate) is_fenced: bool,
}

impl Manner {
    /// Asks for a fencing number as well.
    pub(crate) fn fenced(self) -> Self {
        let options = self.options.unwrap_or_default().fenced();
        Self { options: Some(options), is_fenced: true, ..self }
    }

    pub(crate) fn adopting(orphan: Orphan) -> Self {
        Self { orphan: Some(orphan), ..Self::default() }
    }

    /// Draws the options of a request: none, tries and pauses, or a token of the client's.
    pub(crate) fn draw(
        chance: &mut Chance,
        client: &Client,
        resources: Resources,
        wait: u64,
    ) -> Self {
        let mut options = AcquireOptions::new();
        let (mut node_timeout, mut own, mut pauses) = (None, None, None);
        match chance.below(6) {
            0 | 1 => {
                let token = token(client.nonce, resources);
                options = options.token(token);
                own = Some(token);
                pauses = Some(Pauses::one_try());
            }
            2 if wait > 0 => {
                let tries = 1 + chance.below(4);
                options = options.tries(tries as u32);
                let (least, span) = (chance.below(20 * MS), chance.below(50 * MS));
                pauses = Some(Pauses::chosen(least, tries));
                let [least, most] = [least, least + span].map(Duration::from_nanos);
                options = options.retry_delay(move |retry| retry.random_between(least, most));
            }
            3 => {
                let config = client.redlock.config();
                // No longer than a client is excused for that has slept.
                let most = config.node_timeout(config.max_ttl).as_millis() as u64;
                let timeout = Duration::from_millis(1 + chance.below(most.max(1)));
                node_timeout = Some(timeout.min(config.node_timeout(config.max_ttl)));
                options = node_timeout.into_iter().fold(options, AcquireOptions::node_timeout);
            }
            _ => return Self::default(),
        }
        Self { options: Some(options), node_timeout, pauses, own, ..Self::default() }
    }
}

/// Returns the token that a client of this `nonce` has for these resources.
fn token(nonce: u8, resources: Resources) -> Token {
    let mut bytes = *b"the-token-of-client-";
    bytes[15] = nonce;
    bytes[16..].copy_from_slice(&resources.0.to_be_bytes());
    Token::from_bytes(bytes)
}

impl Client {
    /// Asks the core for a lock. The core may refuse: because there are too many locks, or because
    /// a token could not be told from another's.
    pub(crate) fn ask(
        &mut self,
        net: &mut Net,
        resources: Resources,
        manner: &Manner,
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        let (now, names) = (self.clock(net.now), resources.names());
        let redlock = &mut self.redlock;
        let blind = AcquireOptions::new().retry_delay(|_| Duration::ZERO);
        let options = match (manner, &names[..]) {
            (Manner { options: Some(options), .. }, _) => options,
            (Manner { orphan: Some(orphan), .. }, names) => {
                return redlock.adopt(now, names, orphan.token, ttl, wait);
            }
            _ if self.polls_blindly => &blind,
            (_, [name]) => return redlock.acquire(now, name, ttl, wait),
            (_, names) => return redlock.acquire_all(now, names, ttl, wait),
        };
        let asked = redlock.acquire_with(now, &names, ttl, wait, options);
        if let (Ok(_), Some(token)) = (&asked, &manner.own) {
            net.checks.begins_anew(token);
        }
        asked
    }
}
