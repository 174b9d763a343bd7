//! Clients here are blocking sockets with a timeout, which only a failing test reaches.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use bytes::BytesMut;

use super::lines;
use crate::embedded::connection::{INPUT_MAX, OUTPUT_MAX};
use crate::embedded::{CONNECTIONS_MAX, Options, Server};
use crate::resp::command;

struct Client(TcpStream);

impl Client {
    fn new(server: &Server) -> Self {
        let stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(stream)
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    #[track_caller]
    fn expects(&mut self, reply: &[u8]) {
        let mut received = vec![0; reply.len()];
        self.0.read_exact(&mut received).unwrap();
        assert_eq!(received.escape_ascii().to_string(), reply.escape_ascii().to_string());
    }

    #[track_caller]
    fn ping(&mut self) {
        self.write(&lines(&["PING"]));
        self.expects(b"+PONG\r\n");
    }

    /// What comes until the server closes. A reset counts as an end: the server does not read what
    /// comes after a request that it refuses, and the system answers that with a reset.
    fn rest(&mut self) -> String {
        let mut received = Vec::new();
        match self.0.read_to_end(&mut received) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            Err(error) => panic!("the server does not close: {error}"),
        }
        received.escape_ascii().to_string()
    }
}

const REQUESTS: [&str; 5] = ["SET k token NX PX 60000", "SET k x NX", "GET k", "foo", "DEL k"];
const REPLIES: &[u8] = b"+OK\r\n$-1\r\n$5\r\ntoken\r\n\
    -ERR unknown command 'foo', with args beginning with: \r\n:1\r\n";

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::start().unwrap();
    let mut client = Client::new(&server);
    for rounds in [1, 3, 1_000] {
        client.write(&lines(&REQUESTS).repeat(rounds));
        client.expects(&REPLIES.repeat(rounds));
    }
}

/// The thread serves connections in the order in which they came, so that once the second has an
/// answer, the first has been read.
#[test]
fn requests_may_be_split_at_every_byte() {
    let server = Server::start().unwrap();
    let mut client = Client::new(&server);
    let mut barrier = Client::new(&server);
    let requests = lines(&REQUESTS);
    for split in 1..requests.len() {
        let (start, end) = requests.split_at(split);
        client.write(start);
        barrier.ping();
        client.write(end);
        client.expects(REPLIES);
    }
    for byte in &requests {
        client.write(&[*byte]);
        barrier.ping();
    }
    client.expects(REPLIES);
}

#[test]
fn a_key_expires_by_itself() {
    let server = Server::start().unwrap();
    let mut client = Client::new(&server);
    client.write(&lines(&["SET k token NX PX 20"; 2]));
    client.expects(b"+OK\r\n$-1\r\n");
    let expired = |_| {
        let mut reply = [0; 5];
        client.write(&lines(&["SET k token NX"]));
        client.0.read_exact(&mut reply).unwrap();
        &reply == b"+OK\r\n"
    };
    assert!((0..1_000_000).any(expired));
}

#[test]
fn an_empty_request_is_passed_over() {
    let server = Server::start().unwrap();
    let mut client = Client::new(&server);
    client.write(b"*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n");
    client.expects(b"+PONG\r\n");
}

#[test]
fn what_is_no_request_is_answered_once_and_ends_the_connection() {
    let server = Server::start().unwrap();
    let inline = "-ERR the embedded master takes no inline commands\\r\\n";
    for (bytes, reply) in [
        (&b"PING\r\n"[..], inline),
        (b"\0", inline),
        (b"*1\r\n+PING\r\n", "-ERR Protocol error: expected \\'$\\'\\r\\n"),
        (b"*1\r\n*1\r\n$4\r\nPING\r\n", "-ERR Protocol error: expected \\'$\\'\\r\\n"),
        (b"*x\r\n", "-ERR Protocol error: invalid length\\r\\n"),
        (b"*1\r\n$-2\r\n", "-ERR Protocol error: invalid length\\r\\n"),
        (b"*1\r\n$4\r\nPINGxx", "-ERR Protocol error: bulk without line end\\r\\n"),
        (b"*99999999\r\n", "-ERR Protocol error: too many elements\\r\\n"),
    ] {
        let mut client = Client::new(&server);
        client.write(b"*1\r\n$4\r\nPING\r\n");
        client.expects(b"+PONG\r\n");
        client.write(bytes);
        assert_eq!(client.rest(), reply);
    }
    Client::new(&server).ping();
}

#[test]
fn quit_is_the_last_request() {
    let server = Server::start().unwrap();
    let mut client = Client::new(&server);
    client.write(&lines(&["SET k v", "QUIT", "DEL k"]));
    assert_eq!(client.rest(), "+OK\\r\\n+OK\\r\\n");
    let mut client = Client::new(&server);
    client.write(&lines(&["GET k"]));
    client.expects(b"$1\r\nv\r\n");
}

#[test]
fn a_client_that_has_finished_writing_gets_its_replies() {
    let server = Server::start().unwrap();
    let mut client = Client::new(&server);
    client.write(&lines(&REQUESTS));
    client.0.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.rest(), REPLIES.escape_ascii().to_string());
}

#[test]
fn a_request_may_be_long_but_not_too_long() {
    let server = Server::start().unwrap();
    let mut client = Client::new(&server);
    let value = vec![b'v'; INPUT_MAX - 100];
    let mut request = BytesMut::new();
    command(&mut request, &[b"ECHO", &value]);
    client.write(&request);
    let mut reply = format!("${}\r\n", value.len()).into_bytes();
    reply.extend_from_slice(&value);
    client.expects(&reply);
    client.expects(b"\r\n");

    // The writer may meet the closed connection before it is through.
    request.clear();
    command(&mut request, &[b"SET", b"k", &vec![b'v'; 4 * INPUT_MAX]]);
    let _ = client.0.write_all(&request);
    let rest = client.rest();
    assert!(rest.is_empty() || rest == "-ERR Protocol error: request too long\\r\\n", "{rest}");
    let mut client = Client::new(&server);
    client.write(&lines(&["DBSIZE"]));
    client.expects(b":0\r\n");
}

/// What the sockets of both ends buffer comes on top of the bound, hence the generous factor.
#[test]
fn a_client_that_never_reads_is_closed() {
    let server = Server::start().unwrap();
    let mut client = Client::new(&server);
    let mut request = BytesMut::new();
    command(&mut request, &[b"ECHO", &vec![b'v'; INPUT_MAX / 2]]);
    let sent = (0..1_000).find(|_| client.0.write_all(&request).is_err());
    let sent = sent.expect("the server takes as much as it is given") * request.len();
    assert!(sent > OUTPUT_MAX, "closed after {sent} bytes");
    assert!(sent < 16 * OUTPUT_MAX, "closed after {sent} bytes");
    Client::new(&server).ping();
}

/// A few bytes of request for a large reply: the bound is looked at before each request, so that
/// the last one is never executed.
#[test]
fn large_replies_to_small_requests_stay_bounded() {
    let server = Server::start().unwrap();
    let mut client = Client::new(&server);
    let mut request = BytesMut::new();
    command(&mut request, &[b"SET", b"k", &vec![b'v'; INPUT_MAX / 2]]);
    client.write(&request);
    client.expects(b"+OK\r\n");
    let mut requests = ["GET k"; 101];
    requests[100] = "SET reached v";
    client.write(&lines(&requests));
    client.rest();
    let mut client = Client::new(&server);
    client.write(&lines(&["EXISTS k reached"]));
    client.expects(b":1\r\n");
}

#[test]
fn the_number_of_connections_is_bounded() {
    let server = Server::start().unwrap();
    let connect = |_| {
        let mut client = Client::new(&server);
        client.ping();
        client
    };
    let mut clients: Vec<Client> = (0..CONNECTIONS_MAX).map(connect).collect();
    let mut refused = Client::new(&server);
    assert_eq!(refused.rest(), "-ERR max number of clients reached\\r\\n");
    for client in &mut clients {
        client.ping();
    }
    // The end of a connection is served before anything of a later one in the same place.
    clients.pop().unwrap();
    clients[0].ping();
    let mut client = Client::new(&server);
    client.ping();
    clients[0].ping();
}

#[test]
fn a_stopped_server_closes_its_clients_and_its_port() {
    let server = Server::start().unwrap();
    let (mut client, idle) = (Client::new(&server), Client::new(&server));
    client.write(&lines(&["SET k v", "INFO server"]));
    client.expects(b"+OK\r\n$");
    let address = server.addr();
    server.stop().unwrap();
    client.rest();
    Client(idle.0).rest();
    let error = TcpStream::connect(address).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_restart_on_the_same_port_is_a_new_empty_master() {
    let run_id = |server: &Server| {
        let mut client = Client::new(server);
        client.write(&lines(&["INFO server", "QUIT"]));
        let info = client.rest();
        info.split("\\r\\n").find(|line| line.starts_with("run_id:")).unwrap().to_string()
    };
    let server = Server::start().unwrap();
    let mut client = Client::new(&server);
    client.write(&lines(&["SET k v"]));
    client.expects(b"+OK\r\n");
    let (port, before) = (server.addr().port(), run_id(&server));
    let taken = Server::bind(port, Options::default()).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AddrInUse);
    drop(server);

    let server = Server::bind(port, Options::default()).unwrap();
    assert_eq!(server.addr().port(), port);
    assert_ne!(run_id(&server), before);
    let mut client = Client::new(&server);
    client.write(&lines(&["DBSIZE"]));
    client.expects(b":0\r\n");
}

#[test]
fn the_url_holds_what_it_takes_to_connect() {
    let server = Server::start().unwrap();
    assert_eq!(server.url(), format!("redis://{}", server.addr()));
    let server = Server::bind(0, Options::default().password("p@ss/ word")).unwrap();
    assert_eq!(server.url(), format!("redis://:p%40ss%2F%20word@{}", server.addr()));
    let server = Server::bind(0, Options::default().user("engine", "secret")).unwrap();
    assert_eq!(server.url(), format!("redis://engine:secret@{}", server.addr()));
    let mut client = Client::new(&server);
    client.write(&lines(&["PING", "AUTH engine secret"]));
    client.expects(b"-NOAUTH Authentication required.\r\n+OK\r\n");
    client.ping();
}
