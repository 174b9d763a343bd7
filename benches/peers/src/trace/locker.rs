//! Redlock on several resources as one writes it by hand: the same command to all nodes at once,
//! the decision at the quorum-th vote, and after a refusal everything is taken back.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, RedisResult, Value};

use crate::plan::{Outcome, TTL};

/// Sets all keys, or none where one exists.
const TAKE: &str = "\
for _, key in ipairs(KEYS) do if redis.call('EXISTS', key) == 1 then return 0 end end
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
return 1";

/// Deletes the keys that have the token, and returns how many.
const RELEASE: &str = "\
local count = 0
for _, key in ipairs(KEYS) do
if redis.call('GET', key) == ARGV[1] then count = count + redis.call('DEL', key) end
end
return count";

/// How long a server may take to answer: a run does not fail for a slow one.
const LONGEST_REPLY: Duration = Duration::from_secs(10);

pub(crate) type Token = [u8; 20];

pub(crate) struct Locker {
    nodes: Vec<MultiplexedConnection>,
    quorum: usize,
    take: String,
    release: String,
}

impl Locker {
    pub(crate) async fn connect(nodes: &[SocketAddr], queue: Option<usize>) -> Outcome<Self> {
        // The timeout of the library is half a second, and a busy server makes it an error.
        let mut config = AsyncConnectionConfig::new().set_response_timeout(Some(LONGEST_REPLY));
        if let Some(queue) = queue {
            config = config.set_pipeline_buffer_size(queue);
        }
        let (mut connections, mut shas) = (Vec::new(), Vec::new());
        for node in nodes {
            let client = Client::open(format!("redis://{node}"))?;
            let mut node = client.get_multiplexed_async_connection_with_config(&config).await?;
            for script in [TAKE, RELEASE] {
                let load = redis::cmd("SCRIPT").arg("LOAD").arg(script).to_owned();
                shas.push(load.query_async::<String>(&mut node).await?);
            }
            connections.push(node);
        }
        // Every node gives a script the same name.
        let mut shas = shas.into_iter();
        let names = shas.next().zip(shas.next()).ok_or("nodes are needed")?;
        let quorum = connections.len() / 2 + 1;
        Ok(Self { nodes: connections, quorum, take: names.0, release: names.1 })
    }

    /// Takes all these locks or none. Returns whether they are held.
    pub(crate) async fn take(&self, names: &[Vec<u8>], token: &Token) -> Outcome<bool> {
        let command = self.command(&self.take, names, token).arg(TTL.as_millis() as u64).to_owned();
        self.vote(&command, names, token, &Value::Int(1)).await
    }

    /// Takes one lock. Returns whether the lock is held.
    pub(crate) async fn take_one(&self, name: &[u8], token: &Token) -> Outcome<bool> {
        let mut set = redis::cmd("SET");
        set.arg(name).arg(token).arg("NX").arg("PX").arg(TTL.as_millis() as u64);
        self.vote(&set, &[name.to_vec()], token, &Value::Okay).await
    }

    async fn vote(
        &self,
        command: &Cmd,
        names: &[Vec<u8>],
        token: &Token,
        yes: &Value,
    ) -> Outcome<bool> {
        let requests = self.nodes.iter().cloned();
        let mut replies: FuturesUnordered<_> = requests.map(|node| send(node, command)).collect();
        let (mut votes, mut refusals) = (0, 0);
        while let Some(reply) = replies.next().await {
            if reply? == *yes {
                votes += 1;
            } else {
                refusals += 1;
            }
            if votes == self.quorum {
                return Ok(true);
            }
            if refusals > self.nodes.len() - self.quorum {
                break;
            }
        }
        // The requests that were dropped here may still wait in a queue, in front of this one.
        while replies.next().await.is_some() {}
        self.release(names, token).await?;
        Ok(false)
    }

    /// Releases what is held of these on every node.
    pub(crate) async fn release(&self, names: &[Vec<u8>], token: &Token) -> Outcome<()> {
        let command = self.command(&self.release, names, token);
        let requests = self.nodes.iter().cloned();
        for reply in join_all(requests.map(|node| send(node, &command))).await {
            reply?;
        }
        Ok(())
    }

    fn command(&self, script: &str, names: &[Vec<u8>], token: &Token) -> Cmd {
        let mut command = redis::cmd("EVALSHA");
        command.arg(script).arg(names.len()).arg(names).arg(token);
        command
    }
}

async fn send(mut node: MultiplexedConnection, command: &Cmd) -> RedisResult<Value> {
    node.send_packed_command(command).await
}
