//! [`Who`]: who has some resources.

use super::error::{DeskError, MAX_RESOURCES};
use super::report::WhoReport;
use super::{round, verdict};
use crate::engine::config::Config;
use crate::net::Talk;
use crate::redlock::{NodeError, Stored};

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
    /// Returns a [`DeskError`] if nobody could be asked anything.
    pub fn run(&self) -> Result<WhoReport, DeskError> {
        let given = self.resources.len();
        if given == 0 || given > Self::MAX_RESOURCES {
            return Err(DeskError::Count { given });
        }
        let quorum = self.config.check_engine()?;
        let keys = round::keys(&self.config, &self.resources)?;
        let look = |talk: &mut Talk| talk.look(&keys);
        let (nodes, stored) = round::visit(&self.config, look)?;
        let resource = |(place, resource): (usize, &Vec<u8>)| {
            let at = |stored: &Result<Vec<Result<Stored, NodeError>>, NodeError>| match stored {
                Ok(stored) => stored[place].clone(),
                Err(error) => Err(*error),
            };
            let stored = stored.iter().map(at).collect();
            verdict::judge(resource.clone(), stored, &nodes, quorum)
        };
        let resources = self.resources.iter().enumerate().map(resource).collect();
        Ok(WhoReport { quorum, nodes, resources })
    }
}
