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

/// The variable that makes the test binary a client.
pub(crate) const VARIABLE: &str = "REDBOLT_JEPSEN_CLIENT";

/// How a client lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The name of the client in the log. A client in the place of a dead one has another name.
    pub(crate) client: u32,
    /// The seed of all choices of the client.
    pub(crate) seed: u64,
    pub(crate) habit: Habit,
    /// Whether nodes that may have forgotten locks are kept from voting.
    pub(crate) guarded: bool,
    pub(crate) max_ttl: Duration,
    /// How far the clock of a node may be stepped.
    pub(crate) step: Duration,
    pub(crate) nodes: Vec<String>,
    pub(crate) log: PathBuf,
}

/// The habits of a client with its locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Does everything: holds locks briefly or too long, extends, releases, cancels, lets lapse.
    Mixed,
    /// Takes the one lock that all clients want for as long as possible, and lets it lapse.
    Clinging,
}

impl Order {
    /// Returns the order of this process, if there is one.
    pub(crate) fn of_this_process() -> Option<Self> {
        let text = env::var(VARIABLE).ok()?;
        Some(text.parse().unwrap_or_else(|()| panic!("{VARIABLE}={text} is no order")))
    }

    /// Returns the configuration of the engine: as impatient as allowed, so that much happens.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new(&self.nodes).expect("the addresses of servers can be read");
        let redlock = &mut config.redlock;
        redlock.max_ttl = self.max_ttl;
        redlock.drift.step = self.step;
        redlock.connect_timeout = Duration::from_millis(500);
        // A node that is stopped for longer loses its connection, with requests unanswered.
        redlock.close_timeout = Duration::from_millis(700);
        redlock.release_timeout = Duration::from_millis(200);
        redlock.retry_max = Duration::from_millis(20);
        redlock.reconnect_max = Duration::from_millis(50);
        redlock.max_locks = 64;
        redlock.restart_guard = if self.guarded { RestartGuard::On } else { RestartGuard::Off };
        config
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, seed, habit, guarded, .. } = self;
        let (max_ttl, step) = (self.max_ttl.as_millis(), self.step.as_millis());
        let (nodes, log) = (self.nodes.join(","), self.log.display());
        write!(f, "{client} {seed} {habit:?} {guarded} {max_ttl} {step} {nodes} {log}")
    }
}

impl FromStr for Order {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        // The path is the last field, because a path may have spaces.
        let fields: Vec<_> = text.splitn(8, ' ').collect();
        let [client, seed, habit, guarded, max_ttl, step, nodes, log] = fields[..] else {
            return Err(());
        };
        Ok(Self {
            client: number(client)?,
            seed: number(seed)?,
            habit: match habit {
                "Mixed" => Habit::Mixed,
                "Clinging" => Habit::Clinging,
                _ => return Err(()),
            },
            guarded: number(guarded)?,
            max_ttl: Duration::from_millis(number(max_ttl)?),
            step: Duration::from_millis(number(step)?),
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
        habit: Habit::Clinging,
        guarded: true,
        max_ttl: Duration::from_secs(1),
        step: Duration::from_millis(100),
        nodes: vec!["127.0.0.1:1".to_owned(), "127.0.0.1:2".to_owned()],
        log: PathBuf::from("/a folder/log"),
    };
    assert_eq!(order.to_string().parse(), Ok(order));
    assert_eq!("1 2 Mixed".parse::<Order>(), Err(()));
}
