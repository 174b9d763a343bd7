//! Children of `fork` share the sockets of their parent, and must leave them alone.
#![cfg(all(feature = "net", not(redbolt_loom)))]

#[path = "support/mod.rs"]
mod support;

use std::io;
use std::process;
use std::time::Duration;

use fork::{Fork, fork, waitpid};
use redbolt::{
    Client, Config, Engine, Event, LockError, LockErrorKind, OtherProcess, RestartGuard,
};

use support::servers::Cluster;

const TTL: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(20);

fn config(cluster: &Cluster) -> Config {
    let mut config = Config::new(cluster.addrs()).expect("addresses of servers");
    config.redlock.restart_guard = RestartGuard::Off;
    config
}

/// Runs `child` in a child of this process. Fails if `child` returns an error, or never returns.
fn in_child(child: impl FnOnce() -> Result<(), String>) {
    match fork().expect("this process may fork") {
        Fork::Parent(pid) => {
            let status = waitpid(pid).expect("the child is ours");
            assert_eq!(status, 0, "the child says what was wrong");
        }
        Fork::Child => {
            let result = child();
            if let Err(message) = &result {
                eprintln!("child: {message}");
            }
            process::exit(i32::from(result.is_err()));
        }
    }
}

fn ensure(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

fn is_refused(result: io::Result<()>) -> bool {
    let error = result.err().and_then(io::Error::into_inner);
    error.is_some_and(|error| error.is::<OtherProcess>())
}

/// Polls until the engine has something to tell of locks.
fn next_event(engine: &mut Engine) -> Event {
    let end = engine.now() + PATIENCE;
    while engine.now() < end {
        engine.poll(Some(PATIENCE)).expect("the system works");
        while let Some(event) = engine.next_event() {
            if event.lock().is_some() {
                return event;
            }
        }
    }
    panic!("nothing happens");
}

#[test]
fn a_child_has_no_locks_gets_none_and_takes_none_from_its_parent() {
    let cluster = Cluster::start(3);
    // The parent keeps what the child takes out of its own copy of these.
    let mut client = Some(Client::new(config(&cluster)).expect("servers"));
    let ready = client.as_ref().map(|client| client.ready(PATIENCE).blocking_wait());
    ready.expect("not taken here").expect("three servers");
    let lock = |name: &str| client.as_ref().expect("not taken here").lock(name).ttl(TTL);
    let mut guard = Some(lock("kept").blocking_acquire().expect("nobody else is there"));
    let mut pending = Some(lock("kept").wait(PATIENCE).acquire());
    in_child(|| {
        let (client, guard) = (client.take().ok_or("a client")?, guard.take().ok_or("a guard")?);
        let pending = pending.take().ok_or("a request")?;
        let forked = |result: Result<(), LockError>| {
            result.is_err_and(|e| matches!(e.kind(), LockErrorKind::OtherProcess(_)))
        };
        ensure(!guard.is_held(), "the lock of the parent is held")?;
        ensure(forked(client.lock("new").blocking_acquire().map(drop)), "a lock is acquired")?;
        ensure(forked(pending.blocking_wait().map(drop)), "the parent's request is answered")?;
        ensure(forked(guard.extend(TTL).blocking_wait().map(drop)), "the lock is extended")?;
        ensure(client.nodes().blocking_wait().is_err(), "the nodes are known")?;
        ensure(!client.blocking_shutdown(TTL).is_complete(), "the threads are here")?;
        drop(guard);
        drop(client);
        Ok(())
    });
    let guard = guard.take().expect("the parent has its own");
    assert!(guard.is_held());
    assert_eq!(cluster.holding(b"kept", guard.token().as_ref()), 3);
    guard.extend(TTL).blocking_wait().expect("the connections are in order");
    guard.release().blocking_wait().expect("the thread lives");
    let next = pending.take().expect("the parent has its own").blocking_wait();
    assert_eq!(next.expect("its turn").resource(), b"kept");
}

#[test]
fn an_engine_does_nothing_in_a_child() {
    let cluster = Cluster::start(3);
    let mut engine = Some(Engine::new(config(&cluster)).expect("addresses of servers"));
    let own = engine.as_mut().expect("not taken here");
    assert_eq!(own.settle(PATIENCE).expect("the system works"), 3);
    let lock = own.acquire("kept", TTL, PATIENCE).expect("in bounds");
    assert!(matches!(next_event(own), Event::Acquired { .. }));
    in_child(|| {
        let mut engine = engine.take().ok_or("an engine")?;
        ensure(!engine.is_held(lock) && engine.remaining(lock).is_zero(), "the lock is held")?;
        ensure(engine.disown(lock).is_err(), "its token is given away")?;
        ensure(engine.token(lock).is_none(), "its token is told")?;
        // The command is refused at its first way out.
        ensure(engine.release(lock).is_ok(), "a command is only noted")?;
        ensure(is_refused(engine.poll(Some(PATIENCE))), "it polls")?;
        ensure(is_refused(engine.flush()), "it writes")?;
        ensure(is_refused(engine.drain(PATIENCE).map(drop)), "it drains")?;
        drop(engine);
        Ok(())
    });
    let own = engine.as_mut().expect("the parent has its own");
    assert!(own.is_held(lock));
    let token = own.token(lock).expect("a held lock has a token");
    assert_eq!(cluster.holding(b"kept", token.as_ref()), 3);
    own.release(lock).expect("it is held");
    assert!(matches!(next_event(own), Event::Released { .. }), "nobody has taken the replies away");
    assert_eq!(cluster.holding(b"kept", token.as_ref()), 0);
}
