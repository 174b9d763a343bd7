//! The masters of a cluster, over the wire and behind its back.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use super::lines;
use crate::client::Client;
use crate::embedded::cluster::wait_for_all;
use crate::embedded::{Cluster, Memory, Node, Options};
use crate::net::Clock;
use crate::redlock::LOOK;

/// Only a failing test takes so long.
const PATIENCE: Duration = Duration::from_secs(20);

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// What a new connection gets for one request, to the end.
fn ask(address: SocketAddr, line: &str) -> String {
    let mut stream = connect(address);
    stream.write_all(&lines(&[line, "QUIT"])).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

fn expects(stream: &mut TcpStream, reply: &[u8]) {
    let mut received = vec![0; reply.len()];
    stream.read_exact(&mut received).unwrap();
    assert_eq!(received.escape_ascii().to_string(), reply.escape_ascii().to_string());
}

/// Whether nothing has come.
fn is_silent(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = stream.read(&mut [0; 1]);
    stream.set_nonblocking(false).unwrap();
    read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

fn run_id(node: &Node) -> String {
    let info = ask(node.addr(), "INFO server");
    info.lines().find(|line| line.starts_with("run_id:")).unwrap().to_string()
}

#[test]
fn a_restart_has_a_new_run_id_and_the_same_port() {
    let cluster = Cluster::start(1).unwrap();
    let node = cluster.node(0).unwrap();
    let (address, url) = (node.addr(), node.url());
    let mut seen = vec![run_id(node)];
    for memory in [Memory::Kept, Memory::Lost, Memory::Kept] {
        node.restart(memory).unwrap();
        seen.push(run_id(node));
        assert_eq!((node.addr(), node.url()), (address, url.clone()));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4);
}

#[test]
fn only_a_restart_with_memory_keeps_keys_and_none_keeps_scripts() {
    let cluster = Cluster::start(1).unwrap();
    let node = cluster.node(0).unwrap();
    let sha = crate::redlock::RELEASE.sha;
    assert!(ask(node.addr(), "SET k v PX 600000").starts_with("+OK"));
    let loading = ["SCRIPT", "LOAD", crate::redlock::RELEASE.text].map(str::as_bytes);
    let mut stream = connect(node.addr());
    let mut request = bytes::BytesMut::new();
    crate::resp::command(&mut request, &loading);
    stream.write_all(&request).unwrap();
    expects(&mut stream, format!("$40\r\n{sha}\r\n").as_bytes());

    node.restart(Memory::Kept).unwrap();
    assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0, "its connections have ended");
    assert_eq!(node.get("k").as_deref(), Some(&b"v"[..]));
    assert!(ask(node.addr(), "GET k").starts_with("$1\r\nv\r\n"));
    assert!(ask(node.addr(), &format!("SCRIPT EXISTS {sha}")).starts_with("*1\r\n:0\r\n"));
    node.restart(Memory::Lost).unwrap();
    assert_eq!(node.get("k"), None);
    assert!(ask(node.addr(), "DBSIZE").starts_with(":0\r\n"));
}

/// The first number of the answer to a look: whether the master has a witness.
fn look(node: &Node) -> String {
    let words = ["EVAL", LOOK.text, "2", "redbolt:witness", "redbolt:seen", "0", "7", "60000", "3"];
    let words: Vec<&[u8]> = words.into_iter().chain(["90000000"]).map(str::as_bytes).collect();
    let mut request = bytes::BytesMut::new();
    crate::resp::command(&mut request, &words);
    let mut stream = connect(node.addr());
    stream.write_all(&request).unwrap();
    stream.write_all(&lines(&["QUIT"])).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.lines().nth(1).unwrap_or_default().to_owned()
}

#[test]
fn the_masters_of_a_cluster_are_declared_fresh_unless_told_otherwise() {
    let options = Options::default().max_keys(2);
    for (options, found) in
        [(Options::default(), ":1"), (options.clone(), ":1"), (options.fresh(false), ":0")]
    {
        let cluster = Cluster::start_with(1, &options).unwrap();
        assert_eq!(look(cluster.node(0).unwrap()), found, "{options:?}");
    }
}

#[test]
fn the_witness_goes_with_the_memory_and_is_not_among_the_locks() {
    let cluster = Cluster::start(1).unwrap();
    let node = cluster.node(0).unwrap();
    let known = |before: &Node| (look(before), look(before));
    assert_eq!(known(node), (":1".into(), ":1".into()));
    node.restart(Memory::Kept).unwrap();
    assert_eq!(known(node), (":2".into(), ":1".into()));
    node.restart(Memory::Lost).unwrap();
    assert_eq!(known(node), (":0".into(), ":1".into()));
    node.flush();
    assert_eq!(known(node), (":0".into(), ":1".into()));
    assert!(node.get("redbolt:witness").is_some() && node.keys().is_empty());
    assert!(node.delete("redbolt:witness"));
    assert_eq!(known(node), (":0".into(), ":1".into()));
}

#[test]
fn nothing_is_read_executed_or_written_in_a_pause() {
    let cluster = Cluster::start(1).unwrap();
    let node = cluster.node(0).unwrap();
    let mut stream = connect(node.addr());
    stream.write_all(&lines(&["SET k v"])).unwrap();
    expects(&mut stream, b"+OK\r\n");
    node.pause();
    // The system takes the request, and a connection too.
    stream.write_all(&lines(&["SET late v"])).unwrap();
    let mut other = connect(node.addr());
    other.write_all(&lines(&["PING"])).unwrap();
    assert!(is_silent(&mut stream) && is_silent(&mut other));
    assert_eq!(node.keys(), [b"k"]);
    assert!(node.delete("k"), "a test can change the memory meanwhile");
    node.resume();
    expects(&mut stream, b"+OK\r\n");
    expects(&mut other, b"+PONG\r\n");
    assert_eq!(node.keys(), [b"late"]);
}

#[test]
fn delayed_replies_keep_their_order_and_leave_when_the_delay_ends() {
    let cluster = Cluster::start(1).unwrap();
    let node = cluster.node(0).unwrap();
    let mut stream = connect(node.addr());
    node.delay(Duration::MAX);
    for number in 0..100 {
        stream.write_all(&lines(&[&format!("ECHO {number:02}")])).unwrap();
    }
    stream.write_all(&lines(&["SET k v"])).unwrap();
    assert!((0..100_000_000).any(|_| node.get("k").is_some()), "executed at once");
    assert!(is_silent(&mut stream));
    node.delay(Duration::ZERO);
    for number in 0..100 {
        expects(&mut stream, format!("$2\r\n{number:02}\r\n").as_bytes());
    }
    expects(&mut stream, b"+OK\r\n");
}

/// The last reply is held back, and the connection with it.
#[test]
fn a_delayed_connection_ends_with_its_last_reply() {
    let cluster = Cluster::start(1).unwrap();
    let node = cluster.node(0).unwrap();
    node.delay(Duration::from_millis(20));
    assert_eq!(ask(node.addr(), "PING"), "+PONG\r\n+OK\r\n");
}

/// Otherwise a client that connects to a stopped master could find the master of another test.
#[test]
fn the_port_of_a_stopped_master_is_refused_and_given_to_nobody() {
    let cluster = Cluster::start(1).unwrap();
    let node = cluster.node(0).unwrap();
    node.stop().unwrap();
    let others: Vec<_> = (0..200).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    assert!(others.iter().all(|other| other.local_addr().unwrap() != node.addr()));
    for _ in 0..200 {
        // A client whose own port was the one it connects to would reach itself.
        let error = TcpStream::connect(node.addr()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }
    node.restart(Memory::Lost).unwrap();
    assert!(ask(node.addr(), "PING").starts_with("+PONG"));
}

#[test]
fn a_test_can_use_a_node_from_many_threads() {
    let cluster = Cluster::start(1).unwrap();
    let node = cluster.node(0).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    node.restart(Memory::Kept).unwrap();
                    node.pause();
                    node.flush();
                    node.resume();
                    node.stop().unwrap();
                    let _ = (node.keys(), format!("{node:?}"));
                }
            });
        }
    });
    node.restart(Memory::Kept).unwrap();
    assert!(ask(node.addr(), "PING").starts_with("+PONG"));
}

#[test]
fn a_client_of_a_cluster_with_a_stopped_master_is_an_error_that_names_the_master() {
    let cluster = Cluster::start(3).unwrap();
    cluster.nodes()[1].stop().unwrap();
    let client = Client::new(cluster.config()).unwrap();
    let down = format!("; {}: down", cluster.nodes()[1].addr());
    let end = Clock::now() + PATIENCE;
    // Each answer comes at once. The first ones may be ahead of the connections.
    loop {
        let error = wait_for_all(&client, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let text = error.to_string();
        if text.starts_with("2 of 3 nodes vote") && text.contains(&down) {
            break;
        }
        assert!(Clock::now() < end, "{text}");
    }
    cluster.nodes()[1].restart(Memory::Lost).unwrap();
    cluster.client().unwrap();
}
