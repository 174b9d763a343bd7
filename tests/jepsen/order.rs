//! The order that a client process gets at its start.
//!
//! The order travels in one environment variable, because the command line belongs to the test
//! runner.

use std::env;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use redbolt::Config;
use redbolt::redlock::RestartGuard;

use crate::log::Log;
use crate::secrets::Secrets;

/// The variable that makes the test binary a client.
pub(crate) const VARIABLE: &str = "REDBOLT_JEPSEN_CLIENT";

/// The time for a connection to come up, and again for its handshake.
const CONNECT: Duration = Duration::from_millis(500);

/// A node that is stopped for longer loses its connection, with requests unanswered.
const CLOSE: Duration = Duration::from_millis(700);

/// The longest pause between two attempts to connect.
const RECONNECT: Duration = Duration::from_millis(50);

/// The longest pause between two attempts for a lock.
pub(crate) const RETRY: Duration = Duration::from_millis(20);

/// How a client lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The name of the client in the log. A client in the place of a dead one has another name.
    pub(crate) client: u32,
    /// The seed of all choices of the client.
    pub(crate) seed: u64,
    pub(crate) body: Body,
    pub(crate) habit: Habit,
    /// The rule for nodes that may have forgotten locks.
    pub(crate) guard: RestartGuard,
    /// Whether the client has no right to be told that keys are gone.
    pub(crate) is_deaf: bool,
    pub(crate) max_ttl: Duration,
    /// How far the clock of a node may be stepped.
    pub(crate) step: Duration,
    /// How far the clock of a node may be from true time.
    pub(crate) skew: Duration,
    pub(crate) nodes: Vec<String>,
    pub(crate) log: PathBuf,
}

/// The part of the library with which a client takes its locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// One `Engine`, and a loop around it.
    Engine,
    /// One `Client`, and threads and tasks that share it.
    Client,
}

/// The habits of a client with its locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Does everything: holds locks briefly or too long, extends, releases, cancels, lets lapse.
    Mixed,
    /// Takes the one lock that all clients want for as long as possible, and lets it lapse.
    Clinging,
    /// Waits for the one lock that all clients want, and keeps it alive for long. All clients have
    /// this habit while they are gathered, and their own one otherwise.
    Gathered,
    /// Takes locks with numbers on many resources, for a ttl of a few round trips.
    Numbered,
}

impl Order {
    /// Returns the order of this process, if there is one.
    pub(crate) fn of_this_process() -> Option<Self> {
        let text = env::var(VARIABLE).ok()?;
        Some(text.parse().unwrap_or_else(|()| panic!("{VARIABLE}={text} is no order")))
    }

    /// Returns how long it takes at most until a client is connected to all nodes that are there,
    /// and has given up all connections that lead nowhere.
    pub(crate) fn timeouts() -> Duration {
        CLOSE + 2 * CONNECT + RECONNECT
    }

    /// Returns two times for which nodes can stand still. After the first they answer on the same
    /// connections. After the second, clients are in the handshakes of their next ones.
    pub(crate) fn stalls() -> [Duration; 2] {
        [CLOSE * 6 / 7, CLOSE + CONNECT * 4 / 5]
    }

    /// Returns how long a shutdown may take that waits for nothing but answers of nodes that are
    /// there. By then these have answered or are given up, and the others have had as long again.
    pub(crate) fn shuts_down() -> Duration {
        2 * CLOSE
    }

    /// Returns the configuration of the engine: as impatient as allowed, so that much happens.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new(&self.nodes).expect("the addresses of servers can be read");
        config.credentials = Some(Secrets::of(&self.log).credentials(self.is_deaf));
        let redlock = &mut config.redlock;
        redlock.max_ttl = self.max_ttl;
        redlock.drift.step = self.step;
        redlock.fence_skew = self.skew;
        redlock.connect_timeout = CONNECT;
        redlock.close_timeout = CLOSE;
        redlock.release_timeout = Duration::from_millis(200);
        redlock.retry_max = RETRY;
        redlock.reconnect_max = RECONNECT;
        redlock.max_locks = 64;
        redlock.restart_guard = self.guard;
        #[cfg(redbolt_sabotage)]
        {
            redlock.saboteur = crate::sabotage::chosen();
        }
        config
    }

    /// Returns the habit of the client for its next lock.
    pub(crate) fn next_habit(&self, log: &Log) -> Habit {
        if log.is_gathering() { Habit::Gathered } else { self.habit }
    }

    /// Returns whether the client does nothing but take one lock again and again.
    pub(crate) fn is_clinging(&self) -> bool {
        self.habit == Habit::Clinging
    }

    pub(crate) fn open_log(&self) -> Log {
        Log::open(self.log.clone())
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, seed, body, habit, guard, is_deaf, .. } = self;
        let [max_ttl, step, skew] = [self.max_ttl, self.step, self.skew].map(|t| t.as_millis());
        let (nodes, log) = (self.nodes.join(","), self.log.display());
        write!(f, "{client} {seed} {body:?} {habit:?} {guard} {is_deaf} ")?;
        write!(f, "{max_ttl} {step} {skew} {nodes} {log}")
    }
}

impl FromStr for Order {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        // The path is the last field, because a path may have spaces.
        let fields: Vec<_> = text.splitn(11, ' ').collect();
        let [client, seed, body, habit, guard, is_deaf, max_ttl, step, skew, nodes, log] =
            fields[..]
        else {
            return Err(());
        };
        Ok(Self {
            client: number(client)?,
            seed: number(seed)?,
            body: match body {
                "Engine" => Body::Engine,
                "Client" => Body::Client,
                _ => return Err(()),
            },
            habit: match habit {
                "Mixed" => Habit::Mixed,
                "Clinging" => Habit::Clinging,
                "Gathered" => Habit::Gathered,
                "Numbered" => Habit::Numbered,
                _ => return Err(()),
            },
            guard: RestartGuard::from_name(guard).ok_or(())?,
            is_deaf: number(is_deaf)?,
            max_ttl: Duration::from_millis(number(max_ttl)?),
            step: Duration::from_millis(number(step)?),
            skew: Duration::from_millis(number(skew)?),
            nodes: nodes.split(',').map(str::to_owned).collect(),
            log: PathBuf::from(log),
        })
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, ()> {
    text.parse().map_err(|_| ())
}

#[test]
fn an_order_survives_its_journey() {
    let order = Order {
        client: 7,
        seed: u64::MAX,
        body: Body::Client,
        habit: Habit::Clinging,
        guard: RestartGuard::Durable,
        is_deaf: true,
        max_ttl: Duration::from_secs(1),
        step: Duration::from_millis(100),
        skew: Duration::from_millis(1_500),
        nodes: vec!["127.0.0.1:1".to_owned(), "127.0.0.1:2".to_owned()],
        log: PathBuf::from("/a folder/log"),
    };
    assert_eq!(order.to_string().parse(), Ok(order));
    assert_eq!("1 2 Engine Mixed".parse::<Order>(), Err(()));
}
