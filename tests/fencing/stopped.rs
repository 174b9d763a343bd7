//! A holder that is stopped between its last look at the lock and its write.
//!
//! The holder has to be a process of its own, so this program runs itself again, with the servers
//! in its environment.

use std::env;
use std::io::{BufRead, BufReader, Write, stdin};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use redbolt::redlock::RestartGuard;
use redbolt::{Client, Config, Guard};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::PATIENCE;
use crate::fenced::postgres::OneRow;
use crate::fenced::psql::Psql;
use crate::fenced::storage::Storage;
use crate::storages;
use crate::support::servers::Cluster;
use crate::support::until;

const NODES: &str = "REDBOLT_TEST_FENCED_NODES";
const SCHEMA: &str = "REDBOLT_TEST_FENCED_SCHEMA";

/// How long the new holder has to wait for the stopped one.
const TTL: Duration = Duration::from_secs(1);

/// Killed and waited for on `Drop`.
struct Holder(Child);

impl Drop for Holder {
    fn drop(&mut self) {
        // Errors mean that it has ended, as it should.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// FAULTS 35, seen by the storage.
#[test]
fn a_holder_that_was_stopped_writes_late_and_postgres_refuses() {
    let Some(psql) = storages::psql() else { return };
    let cluster = Cluster::start(3);
    let storage = OneRow::create(psql.clone()).expect("the schema is new");
    let mut holder = start(&cluster, &psql);
    let mut said = lines(holder.0.stdout.take().expect("a pipe"));
    assert!(said.any(|line| line.ends_with("holds the lock and has read \"\"")));

    stop(&holder);
    // The word is in the pipe before the holder goes on: its very next step is the write.
    writeln!(holder.0.stdin.as_mut().expect("a pipe"), "write").expect("the holder is alive");
    let client = Client::new(config(cluster.addrs())).expect("a client can be made");
    let guard = take(&client, PATIENCE);
    let fence = guard.fence().expect("one was asked for");
    assert_eq!(storage.mark_and_read(fence).expect("nobody is newer"), "");
    storage.write(fence, "of the new holder").expect("nobody is newer");

    kill_process(Pid::from_child(&holder.0), Signal::CONT).expect("it is there");
    let outcome = said.find(|line| line.starts_with("the write: "));
    assert_eq!(outcome.as_deref(), Some("the write: Err(Late)"));
    assert_eq!(storage.look().expect("it can be read"), "of the new holder");
    storage.write(fence, "and goes on").expect("the late one has changed nothing");
    assert!(until(PATIENCE, || holder.0.try_wait().expect("it is ours").is_some()));
}

/// What the other process does; nothing where it is run by itself.
#[test]
fn holder() {
    let Ok(nodes) = env::var(NODES) else { return };
    let storage = OneRow(Psql::new(&env::var(SCHEMA).expect("both are set")));
    let client = Client::new(config(nodes.split(','))).expect("a client can be made");
    let guard = take(&client, TTL);
    let fence = guard.fence().expect("one was asked for");
    let seen = storage.mark_and_read(fence).expect("nobody is newer");
    println!("holds the lock and has read {seen:?}");
    // A look at the lock would stand here, before the stop, and would find the lock held.
    let mut word = String::new();
    stdin().read_line(&mut word).expect("the test writes a line");
    println!("the write: {:?}", storage.write(fence, "of the stopped holder"));
}

fn start(cluster: &Cluster, psql: &Psql) -> Holder {
    let this = env::current_exe().expect("a program can find itself");
    let mut command = Command::new(this);
    command.args(["--exact", "stopped::holder", "--nocapture"]);
    command.env(NODES, cluster.addrs().join(",")).env(SCHEMA, &psql.schema);
    command.envs(psql.variables.iter().map(|(name, value)| (name, value)));
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    Holder(command.spawn().expect("this program can be run"))
}

fn lines(out: ChildStdout) -> impl Iterator<Item = String> {
    BufReader::new(out).lines().map(|line| line.expect("it is text"))
}

/// Returns when the process has really stopped.
fn stop(holder: &Holder) {
    let pid = Pid::from_child(&holder.0);
    kill_process(pid, Signal::STOP).expect("it runs");
    let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let news = waitid(WaitId::Pid(pid), options).expect("it is ours to wait for");
    assert!(news.is_some_and(|news| news.stopped()));
}

fn take(client: &Client, ttl: Duration) -> Guard {
    let request = client.lock("orders/42").ttl(ttl).wait(PATIENCE).fenced();
    request.blocking_acquire().expect("it is free, or soon will be")
}

fn config<I>(nodes: I) -> Config
where
    I: IntoIterator<Item: AsRef<str>>,
{
    let mut config = Config::new(nodes).expect("the addresses of servers can be read");
    // The servers of a test have just been started.
    config.redlock.restart_guard = RestartGuard::Off;
    config.redlock.node_timeout = Some(Duration::from_secs(5));
    config
}
