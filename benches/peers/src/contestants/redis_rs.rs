//! Redlock as one writes it by hand on redis-rs: a multiplexed connection per node, the same
//! command to all nodes at once, the decision at the quorum-th vote.

use std::fs;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use redbolt::redlock::RELEASE;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, RedisResult, TlsCertificates, Value};

use super::tasks::{self, Locker};
use crate::meter::Meter;
use crate::names;
use crate::plan::{Outcome, Plan, TTL, Transport};

/// Runs the load. `queue` is how many requests may wait in front of a connection; `None` leaves the
/// default of 50.
pub(crate) fn run(plan: &Plan, transport: Transport, queue: Option<usize>) -> Outcome<Meter> {
    tasks::run(plan, async || Redlock::connect(clients(plan, transport)?, queue).await)
}

/// Returns a client for each node.
fn clients(plan: &Plan, transport: Transport) -> Outcome<Vec<Client>> {
    if transport == Transport::Tcp {
        let open = |node| Ok(Client::open(format!("redis://{node}"))?);
        return plan.nodes.iter().map(open).collect();
    }
    let tls = plan.tls()?;
    let certificates = TlsCertificates { client_tls: None, root_cert: Some(fs::read(&tls.ca)?) };
    let open = |node| Ok(Client::build_with_tls(format!("rediss://{node}"), certificates.clone())?);
    tls.nodes.iter().map(open).collect()
}

struct Redlock {
    nodes: Vec<MultiplexedConnection>,
    quorum: usize,
}

struct Lock {
    resource: [u8; names::LEN],
    token: [u8; 20],
}

impl Redlock {
    async fn connect(clients: Vec<Client>, queue: Option<usize>) -> Outcome<Self> {
        let mut config = AsyncConnectionConfig::new();
        if let Some(queue) = queue {
            config = config.set_pipeline_buffer_size(queue);
        }
        let mut nodes = Vec::new();
        for client in clients {
            let mut node = client.get_multiplexed_async_connection_with_config(&config).await?;
            let mut load = Cmd::new();
            load.arg("SCRIPT").arg("LOAD").arg(RELEASE.text);
            load.query_async::<()>(&mut node).await?;
            nodes.push(node);
        }
        let quorum = nodes.len() / 2 + 1;
        Ok(Self { nodes, quorum })
    }
}

impl Locker for Redlock {
    type Lock = Lock;

    async fn acquire(&self, resource: &[u8]) -> Outcome<Lock> {
        let lock = Lock { resource: resource.try_into()?, token: token() };
        let mut set = Cmd::new();
        set.arg("SET").arg(resource).arg(&lock.token).arg("NX");
        set.arg("PX").arg(TTL.as_millis() as u64);
        let requests = self.nodes.iter().cloned();
        let mut replies: FuturesUnordered<_> = requests.map(|node| send(node, &set)).collect();
        let mut votes = 0;
        while let Some(reply) = replies.next().await {
            votes += usize::from(reply? == Value::Okay);
            if votes == self.quorum {
                return Ok(lock);
            }
        }
        Err(format!("{votes} votes are no quorum").into())
    }

    async fn release(&self, lock: Lock) -> Outcome<()> {
        let mut release = Cmd::new();
        release.arg("EVALSHA").arg(RELEASE.sha).arg(1).arg(&lock.resource).arg(&lock.token);
        let requests = self.nodes.iter().cloned();
        let mut released = 0;
        for reply in join_all(requests.map(|node| send(node, &release))).await {
            released += usize::from(reply? == Value::Int(1));
        }
        // Some releases find no key: a `SET` that still waited in a full queue at the decision was
        // dropped there.
        if released < self.quorum {
            return Err(format!("only {released} nodes had the lock").into());
        }
        Ok(())
    }
}

async fn send(mut node: MultiplexedConnection, command: &Cmd) -> RedisResult<Value> {
    node.send_packed_command(command).await
}

fn token() -> [u8; 20] {
    std::array::from_fn(|_| fastrand::u8(..))
}
