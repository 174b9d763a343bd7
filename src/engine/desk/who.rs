//! [`Who`]: who has some resources.

use super::client::Labels;
use super::error::{MAX_RESOURCES, WhoError};
use super::nodes::VisitedNode;
use super::report::WhoReport;
use super::round::{self, Round};
use super::{client, verdict};
use crate::engine::config::Config;
use crate::net::Talk;
use crate::redlock::{NodeError, Stored, label_key};

/// Asks all nodes of a deployment what stands under some resources, whether a lock of redbolt, of
/// another library, or data that is no lock. Writes nothing on any node.
///
/// The answer is advice: it was true when the nodes answered, and must not decide what a lock
/// should decide. Unlike [`Engine::query`](crate::Engine::query), which a program asks that has an
/// engine anyway, `Who` tells what each node has, has longer values, also asks nodes that cannot
/// vote, and needs no engine.
///
/// Each node must let us run `INFO`, `EVAL`, `GET` and `PTTL`. `STRLEN` and `TYPE` are used where
/// they are allowed.
///
/// ```no_run
/// use redbolt::{Config, Who};
///
/// let config = Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?;
/// let report = Who::new(config, ["orders/42"]).run()?;
/// for resource in report.resources() {
///     println!("{}", resource.state);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nobody is asked before `run`"]
pub struct Who {
    config: Config,
    resources: Vec<Vec<u8>>,
}

impl Who {
    /// The largest number of resources that can be asked about at once.
    pub const MAX_RESOURCES: usize = MAX_RESOURCES;

    /// Asks about these resources. The nodes, their logins, `prefix`, `quorum`, `restart_guard`,
    /// `drift` and `connect_timeout` of the configuration count.
    pub fn new<R: Into<Vec<u8>>>(config: Config, resources: impl IntoIterator<Item = R>) -> Self {
        Self { config, resources: resources.into_iter().map(Into::into).collect() }
    }

    /// Visits all nodes, and blocks meanwhile. Connecting, the login, and the answers about each 32
    /// resources may take `connect_timeout` each, and the lookup of a name as long as the system
    /// lets it.
    ///
    /// Each node is visited in a thread of its own. A node that cannot be asked is part of the
    /// report.
    ///
    /// # Errors
    ///
    /// Returns a [`WhoError`] for a configuration or a resource that is out of bounds, for too
    /// many resources, and if the system can start no thread. What is wrong with a node is no
    /// error, but part of the report.
    pub fn run(&self) -> Result<WhoReport, WhoError> {
        let given = self.resources.len();
        if given == 0 || given > Self::MAX_RESOURCES {
            return Err(WhoError::Count { given });
        }
        let quorum = self.config.check_engine()?;
        let keys = round::keys(&self.config, &self.resources)?;
        let prefix = &self.config.redlock.prefix;
        let look = |talk: &mut Talk| {
            let stored = talk.look(&keys);
            let engines = client::engines(&stored);
            let label_keys: Vec<_> = engines.iter().map(|nonce| label_key(prefix, nonce)).collect();
            let labels = client::labels(engines, talk.look(&label_keys));
            (stored, labels)
        };
        let mut round = Round::begin(&self.config, quorum)?;
        let answers = round.ask(look)?;
        let nodes = round.nodes;
        let (stored, labels) = parted(answers, &nodes);
        let resource = |(place, resource): (usize, &Vec<u8>)| {
            let at = |stored: &Result<Found, NodeError>| match stored {
                Ok(stored) => stored[place].clone(),
                Err(error) => Err(*error),
            };
            let stored = stored.iter().map(at).collect();
            let mut found = verdict::judge(resource.clone(), stored, &nodes, quorum);
            for value in &mut found.values {
                let engine = value.value.drawn_by().map(|(nonce, _)| nonce);
                value.client = engine.and_then(|engine| client::of(engine, &labels));
            }
            found
        };
        let resources = self.resources.iter().enumerate().map(resource).collect();
        Ok(WhoReport { quorum, nodes, resources })
    }
}

/// What one node has under each resource.
type Found = Vec<Result<Stored, NodeError>>;

/// Parts what each node has from the labels of all nodes that count.
fn parted(
    answers: Vec<Result<(Found, Labels), NodeError>>,
    nodes: &[VisitedNode],
) -> (Vec<Result<Found, NodeError>>, Labels) {
    let mut all = Labels::new();
    let stored = answers.into_iter().zip(nodes).map(|(answer, node)| {
        let (stored, labels) = answer?;
        all.extend(labels.into_iter().filter(|_| node.weight.counts()));
        Ok(stored)
    });
    (stored.collect(), all)
}
