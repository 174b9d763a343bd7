//! Servers that have a good certificate, and break the rules behind the handshake.

use std::time::Duration;

use redbolt::Client;
use redbolt::redlock::{NodeError, TlsError};

use super::certificates::{Authority, LOCAL};
use super::terminator::{Harm, Terminator};
use super::{PATIENCE, TTL, client, config, redbolt};
use crate::support::servers::{Cluster, Node};
use crate::support::until;

/// Requests that are longer together than what the system keeps for a socket.
const COUNT: usize = 1_000;

/// A real server behind an end of TLS that does this.
struct World {
    authority: Authority,
    server: Node,
    end: Terminator,
}

impl World {
    fn new(harm: Harm) -> Self {
        let (authority, server) = (Authority::new(), Node::start());
        let identity = authority.sign("server", &LOCAL);
        let end = Terminator::start(&server.addr(), &identity, harm);
        Self { authority, server, end }
    }

    fn url(&self) -> String {
        format!("rediss://{}?ca={}", self.end.addr(), self.authority.ca())
    }

    /// Takes locks, keeps them and gives them back.
    fn assert_works(&self) {
        let client = client(&[self.url()]);
        for _ in 0..10 {
            let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire();
            let guard = guard.expect("it is free");
            assert_eq!(self.server.get(b"a").as_deref(), Some(guard.token().as_ref()));
            guard.extend(TTL).blocking_wait().expect("it is held");
            guard.release().blocking_wait().expect("the client runs");
        }
        let state = client.nodes().blocking_wait().expect("the client runs").remove(0);
        assert_eq!((state.counters.connects, state.counters.failures), (1, 0), "{state:?}");
    }

    /// Asserts that the node is out for one of these reasons and tried again, that two others do
    /// without it, and that two such nodes cost the lock.
    fn assert_out(&self, causes: &[NodeError]) {
        let others = Cluster::start(2);
        let nodes = [others[0].addr(), others[1].addr(), self.url()];
        let mut config = config(&nodes);
        config.redlock.connect_timeout = Duration::from_secs(2);
        config.redlock.reconnect_max = Duration::from_millis(50);
        let client = Client::new(config).expect("a client can be made");
        let state = || client.nodes().blocking_wait().expect("the client runs").remove(2);
        let is_out = || {
            let (error, failures) = (state().error, state().counters.failures);
            error.is_some_and(|error| causes.contains(&error)) && failures >= 3
        };
        assert!(until(PATIENCE, is_out), "{:?}, none of {causes:?}", state());
        let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire();
        guard.expect("two of three").release().blocking_wait().expect("the client runs");

        redbolt(&nodes[..2], &["init", "--fresh"]).expect(0);
        let other = self.url().replace("127.0.0.1", "localhost");
        let nodes = [others[0].addr(), self.url(), other];
        let failed = redbolt(&nodes, &["exec", "--wait", "2s", "a", "--", "echo"]).expect(69);
        let texts: Vec<_> = causes.iter().map(NodeError::to_string).collect();
        for node in &nodes[1..] {
            let place = node.split('?').next().unwrap_or(node);
            let is_in = |line: &str| texts.iter().any(|text| line.contains(text));
            let is_told = |line: &str| line.contains(place) && is_in(line);
            assert!(failed.err.lines().any(is_told), "{place}, {texts:?}: {}", failed.err);
        }
        assert_eq!(failed.out, "", "the command was run");
    }
}

/// FAULTS 1: one answer in many records.
#[test]
fn answers_in_records_of_a_few_bytes_are_put_together() {
    World::new(Harm::Tiny).assert_works();
}

#[test]
fn a_server_that_changes_its_keys_again_and_again_is_followed() {
    World::new(Harm::Refresh).assert_works();
}

/// FAULTS 18: what the socket does not take waits, and leaves in order as soon as the socket does.
#[test]
fn a_server_that_stops_reading_for_a_while_gets_everything_afterwards() {
    let world = World::new(Harm::None);
    let mut config = config(&[world.url()]);
    config.redlock.node_timeout = Some(PATIENCE);
    config.redlock.close_timeout = PATIENCE;
    let client = Client::new(config).expect("a client can be made");
    drop(client.lock("first").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("it is free"));
    world.end.stop_reading();
    let name = |number: usize| format!("{number:0>4000}");
    let requests: Vec<_> = (0..COUNT)
        .map(|number| client.lock(name(number)).ttl(TTL).wait(PATIENCE).acquire())
        .collect();
    let state = || client.nodes().blocking_wait().expect("the client runs").remove(0);
    assert!(until(PATIENCE, || state().in_flight >= COUNT), "{:?}", state());
    world.end.go_on();
    // Nothing else is written that could take along what is left.
    let guards = requests.into_iter().map(|request| request.blocking_wait());
    let guards: Result<Vec<_>, _> = guards.collect();
    assert_eq!(guards.expect("all are free").len(), COUNT);
    let state = state();
    assert_eq!((state.counters.connects, state.counters.failures), (1, 0), "{state:?}");
}

/// FAULTS 15: the server says that the session has ended, and leaves the socket open. Nothing
/// more is waited for.
#[test]
fn a_session_ends_with_close_notify_although_the_socket_stays() {
    World::new(Harm::CloseNotify).assert_out(&[NodeError::Closed]);
}

/// FAULTS 15: the end that comes with the last bytes is seen with these bytes. Nothing else would
/// tell of such an end.
#[test]
fn a_session_that_ends_in_the_segment_of_an_answer_is_over_at_once() {
    World::new(Harm::LastWords).assert_out(&[NodeError::Closed]);
}

/// FAULTS 15: half of an answer is none, whether the session has ended or not.
#[test]
fn a_socket_that_ends_amid_an_answer_ends_the_session() {
    World::new(Harm::Vanish).assert_out(&[NodeError::Closed]);
}

/// FAULTS 4: a record that the server cannot have sealed, and what is no record. Whoever stands
/// between cannot have a vote counted.
#[test]
fn what_the_server_has_not_sealed_ends_the_session() {
    let failed = NodeError::Tls(TlsError::Protocol);
    let forged = b"\x17\x03\x03\x00\x20+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+O";
    World::new(Harm::Bytes(forged)).assert_out(&[failed]);
    let not_tls = NodeError::Tls(TlsError::NotTls);
    World::new(Harm::Bytes(b"+OK\r\n")).assert_out(&[not_tls]);
}

/// FAULTS 5: what would never end is ended by its bound.
#[test]
fn records_without_data_and_without_end_end_the_session() {
    let failed = NodeError::Tls(TlsError::Protocol);
    let not_tls = NodeError::Tls(TlsError::NotTls);
    // Records without anything, changes of the cipher, and a length that no record has.
    let rows: [&[u8]; 3] =
        [b"\x17\x03\x03\x00\x00", b"\x14\x03\x03\x00\x01\x01", b"\x17\x03\x03\xff\xff"];
    for bytes in rows {
        World::new(Harm::Bytes(bytes)).assert_out(&[failed, not_tls]);
    }
}
