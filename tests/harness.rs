//! The test support itself: a test is worth what the servers beneath it are worth.

mod support;

use std::io::{self, BufRead, BufReader};
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, thread};

use redbolt::redlock::LOOK;
use rustix::process::{Pid, Signal, kill_process};
use support::clocks::Clocks;
use support::fake::{Action, Fake};
use support::master::Master;
use support::ports::Port;
use support::process::is_alive;
use support::program::find_server;
use support::servers::{Cluster, Node, StartError};
use support::until;
use support::wire::{Connection, Reply, request};

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(20);

#[test]
fn a_master_answers_and_is_gone_when_dropped() {
    let node = Node::start();
    let (pid, addr) = (node.pid(), node.addr());
    node.set_px(b"resource", b"token", LONG);
    assert_eq!(node.get(b"resource").as_deref(), Some(&b"token"[..]));
    assert_eq!(node.keys(), [b"resource"]);
    assert!((1..=20_000).contains(&node.pttl(b"resource")));
    assert_eq!(node.pttl(b"other"), -2);
    assert_eq!(node.info("process_id"), Some(pid.to_string()));
    drop(node);
    assert!(!is_alive(pid));
    assert!(Connection::open(&addr, SHORT).is_err());
}

#[test]
fn a_killed_master_restarts_empty_on_its_port() {
    let mut node = Node::start();
    let (pid, addr, run_id) = (node.pid(), node.addr(), node.info("run_id"));
    node.set_px(b"resource", b"token", LONG);
    let mut open = node.connect(LONG).expect("the node accepts");
    // A connection that the server has not accepted yet would be reset, not closed.
    open.command(&[b"PING"]).expect("the node answers");
    node.kill();
    assert!(!is_alive(pid));
    assert_eq!(open.byte().expect("an orderly end"), None);
    assert!(Connection::open(&addr, SHORT).is_err());
    node.restart();
    assert_eq!(node.addr(), addr);
    assert_ne!(node.pid(), pid);
    assert_ne!(node.info("run_id"), run_id);
    assert_eq!(node.keys(), Vec::<Vec<u8>>::new());
}

#[test]
fn a_stopped_master_keeps_silent_until_it_continues() {
    let node = Node::start();
    let mut early = node.connect(SHORT).expect("the node accepts");
    node.stop();
    let mut late = node.connect(LONG).expect("the kernel accepts for it");
    let silence = early.command(&[b"PING"]).expect_err("nobody answers");
    assert!(matches!(silence.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut));
    late.send(&request(&[b"SET", b"resource", b"token"])).expect("the kernel takes it");
    node.cont();
    assert_eq!(late.reply().expect("the reply comes late"), Reply::Simple("OK".to_owned()));
    assert_eq!(node.get(b"resource").as_deref(), Some(&b"token"[..]));
}

#[test]
fn a_stopped_master_can_be_terminated_and_restarted() {
    let mut node = Node::start();
    let pid = node.pid();
    node.stop();
    node.terminate();
    assert!(!is_alive(pid));
    node.restart();
    assert_eq!(node.command(&[b"PING"]), Reply::Simple("PONG".to_owned()));
}

#[test]
fn twenty_masters_start_at_once_on_ports_of_their_own() {
    let cluster = Cluster::start(20);
    let mut addrs = cluster.addrs();
    addrs.sort();
    addrs.dedup();
    assert_eq!(addrs.len(), 20);
    for node in cluster.iter().skip(1) {
        node.set_px(b"resource", b"token", LONG);
    }
    assert_eq!(cluster.holding(b"resource", b"token"), 19);
    let pids: Vec<_> = cluster.iter().map(Node::pid).collect();
    drop(cluster);
    assert!(!pids.into_iter().any(is_alive));
}

#[test]
fn arguments_reach_the_master() {
    let args = ["--requirepass", "secret", "--maxmemory", "64mb"];
    let node = Node::start_with(&[&args[..], &["--maxmemory-policy", "allkeys-lru"]].concat());
    assert_eq!(node.info("maxmemory_policy").as_deref(), Some("allkeys-lru"));
    let mut stranger = Connection::open(&node.addr(), LONG).expect("the node accepts");
    let refusal = stranger.command(&[b"GET", b"resource"]).expect("the node answers");
    assert!(matches!(refusal, Reply::Error(text) if text.starts_with("NOAUTH")));
}

#[test]
fn a_server_that_does_not_start_is_reported_in_its_own_words() {
    match Node::start_on(Port::free(), &["--no-such-option", "1"]) {
        Err(StartError::Failed(why)) => assert!(why.contains("no-such-option"), "{why}"),
        Err(StartError::PortTaken) => panic!("the port was free"),
        Ok(_) => panic!("the option was accepted"),
    }
}

#[test]
fn a_stranger_on_the_port_is_not_taken_for_the_master() {
    let port = Port::free();
    let mute = TcpListener::bind(port.addr()).expect("the port is free");
    assert!(matches!(Node::start_on(port.clone(), &[]), Err(StartError::PortTaken)));
    drop(mute);
    let _master = Node::start_on(port.clone(), &[]).expect("the port is free again");
    assert!(matches!(Node::start_on(port, &[]), Err(StartError::PortTaken)));
}

#[test]
fn a_missing_server_is_one_plain_message() {
    let why = find_server(None, None).expect_err("nothing is on an empty PATH");
    let expected = "no redis-server or valkey-server on the PATH: tests/run.sh installs a server";
    assert_eq!(why, expected);
    let why = find_server(Some("some-server".into()), Some("/".into())).expect_err("not there");
    assert_eq!(why, "no some-server on the PATH: tests/run.sh installs a server");
}

#[test]
fn a_panic_leaves_no_master_behind() {
    let mut pid = None;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let node = Node::start();
        pid = Some(node.pid());
        panic!("as a failing test does");
    }));
    assert!(panicked.is_err());
    assert!(!is_alive(pid.expect("the node has started")));
}

/// The test runs itself in a second process, which starts two masters, stops one of them, says who
/// they are and waits to be killed.
#[test]
fn a_killed_test_process_leaves_no_master_behind() {
    const VICTIM: &str = "REDBOLT_TEST_VICTIM";
    if env::var_os(VICTIM).is_some() {
        let cluster = Cluster::start(2);
        cluster[1].stop();
        println!("masters {} {}", cluster[0].pid(), cluster[1].pid());
        loop {
            thread::park();
        }
    }
    let mut victim = Command::new(env::current_exe().expect("the test has a path"))
        .args(["--exact", "a_killed_test_process_leaves_no_master_behind", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test runs twice");
    let output = BufReader::new(victim.stdout.take().expect("the output is piped"));
    // `--nocapture` may put what the victim says behind what the test runner says.
    let said = output.lines().map_while(Result::ok).find_map(|line| {
        let (_, pids) = line.split_once("masters ")?;
        Some(pids.split(' ').map(|pid| pid.parse().expect("a pid")).collect::<Vec<u32>>())
    });
    let pids = said.expect("the victim has started its masters");
    assert!(pids.iter().all(|&pid| is_alive(pid)));
    kill_process(Pid::from_child(&victim), Signal::KILL).expect("the victim is alive");
    victim.wait().expect("the victim is ours");
    assert!(until(LONG, || !pids.iter().any(|&pid| is_alive(pid))));
}

#[test]
fn a_silent_server_reads_and_a_deaf_one_does_not() {
    let silent = Fake::silent();
    let mut client = Connection::open(&silent.addr(), SHORT).expect("it accepts");
    assert!(client.command(&[b"PING"]).is_err());
    assert!(until(LONG, || !silent.requests().is_empty()));
    assert_eq!(silent.requests()[0].name(), "PING");
    let deaf = Fake::deaf();
    let mut client = Connection::open(&deaf.addr(), SHORT).expect("it accepts");
    // More than the kernel buffers on the way: the write must come to a halt.
    let blocked = client.send(&vec![b'x'; 64 << 20]).expect_err("nobody reads");
    assert!(matches!(blocked.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut));
    assert_eq!(deaf.requests(), []);
}

#[test]
fn a_closing_server_ends_and_a_resetting_one_resets() {
    let closing = Fake::closing();
    let mut client = Connection::open(&closing.addr(), LONG).expect("it accepts");
    assert_eq!(client.byte().expect("an orderly end"), None);
    let resetting = Fake::scripted(|_| Action::Reset);
    let mut client = Connection::open(&resetting.addr(), LONG).expect("it accepts");
    let reset = client.command(&[b"PING"]).expect_err("a reset");
    assert_eq!(reset.kind(), io::ErrorKind::ConnectionReset);
    assert!(until(LONG, || resetting.open() == 0));
    assert_eq!(resetting.accepted(), 1);
}

#[test]
fn a_script_sees_every_request_and_answers_anything() {
    let fake = Fake::scripted(|request| match request.parts.as_slice() {
        [name] if name == b"PING" => Action::Reply(b"+PONG\r\n+one too many\r\n".to_vec()),
        [_, text] => Action::Later(Duration::from_millis(5), [b":", &text[..], b"\r\n"].concat()),
        _ => Action::Close,
    });
    let mut first = Connection::open(&fake.addr(), LONG).expect("it accepts");
    assert_eq!(first.command(&[b"PING"]).expect("a reply"), Reply::Simple("PONG".to_owned()));
    assert_eq!(first.reply().expect("a reply"), Reply::Simple("one too many".to_owned()));
    let mut second = Connection::open(&fake.addr(), LONG).expect("it accepts");
    assert_eq!(second.command(&[b"incr", b"7"]).expect("a reply"), Reply::Integer(7));
    second.send(&request(&[b"a", b"b", b"c"])).expect("it reads");
    assert_eq!(second.byte().expect("an orderly end"), None);
    let seen: Vec<_> = fake.requests().iter().map(|r| (r.connection, r.name())).collect();
    let expected = [(0, "PING"), (1, "INCR"), (1, "A")].map(|(c, name)| (c, name.to_owned()));
    assert_eq!(seen, expected);
}

#[test]
fn dripped_bytes_arrive_one_by_one_and_do_not_hold_up_the_end() {
    let fake = Fake::dripping(b"+OK\r\n");
    let mut client = Connection::open(&fake.addr(), LONG).expect("it accepts");
    let start = support::now();
    assert_eq!(client.command(&[b"PING"]).expect("a reply"), Reply::Simple("OK".to_owned()));
    assert!(support::now() - start >= Duration::from_millis(500));
    client.send(&request(&[b"PING"])).expect("it reads");
    assert_eq!(client.byte().expect("the first byte"), Some(b'+'));
    drop(fake);
    assert_eq!(client.byte().expect("an orderly end"), None);
}

#[test]
fn a_panicking_script_fails_its_test() {
    let fake = Fake::scripted(|_| panic!("as a failing assertion in a script does"));
    let mut client = Connection::open(&fake.addr(), LONG).expect("it accepts");
    assert!(client.command(&[b"PING"]).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(fake))).is_err());
}

#[test]
fn a_fake_handshake_is_a_real_one() {
    let node = Node::start();
    let fake = Fake::after_handshake(Master::new(), |_| Action::Reply(b"-OOM\r\n".to_vec()));
    let mut real = node.connect(LONG).expect("it accepts");
    let mut faked = Connection::open(&fake.addr(), LONG).expect("it accepts");
    let mut both = |parts: &[&[u8]]| {
        (faked.command(parts).expect("a reply"), real.command(parts).expect("a reply"))
    };
    for parts in [&[&b"PING"[..]][..], &[b"SELECT", b"0"], &[b"SCRIPT", b"LOAD", b"return 1"]] {
        let (faked, real) = both(parts);
        assert_eq!(faked, real, "to {parts:?}");
    }
    let (faked, real) = both(&[b"COMMAND", b"INFO", b"set", b"no-such-command", b"del"]);
    assert_eq!(known(faked), known(real));
    let (faked, real) = both(&[b"INFO"]);
    let real = fields(real);
    for field in fields(faked) {
        assert!(real.contains(&field), "a real server has no field {field}");
    }
    let look = [b"0", &b"0"[..], b"60000", b"3", b"90000000"];
    let look =
        [&[b"EVAL", LOOK.text.as_bytes(), b"2", b"redbolt:witness", b"redbolt:seen"], &look[..]];
    let look = look.concat();
    for count in 1..=2 {
        let (faked, real) = both(&look);
        let (faked, real) = (numbers(faked), numbers(real));
        assert_eq!((faked.len(), real.len()), (11, 11));
        // What the client said, and how often clients have looked.
        let same = |numbers: &[i64]| [numbers[5], numbers[6], numbers[8], numbers[9], numbers[10]];
        assert_eq!(
            (same(&faked), same(&real)),
            ([60_000, 3, 0, 0, count], [60_000, 3, 0, 0, count])
        );
        assert!((faked[1] - real[1]).abs() < 60_000_000, "both tell the time");
    }
    for name in [&b"appendfsync"[..], b"no-appendfsync-on-rewrite", b"no-such-setting"] {
        let (faked, real) = both(&[b"CONFIG", b"GET", name]);
        assert_eq!(faked, real, "{}", name.escape_ascii());
    }
    assert_eq!(both(&[b"GET", b"resource"]).0, Reply::Error("OOM".to_owned()));
}

/// The integers of an array whose last element is `INFO`.
fn numbers(reply: Reply) -> Vec<i64> {
    let Reply::Array(mut fields) = reply else { panic!("{reply:?} to a look") };
    assert!(matches!(fields.pop(), Some(Reply::Bulk(_))), "INFO comes last");
    let number = |field| if let Reply::Integer(number) = field { Some(number) } else { None };
    fields.into_iter().filter_map(number).collect()
}

/// Which of the commands asked for are known.
fn known(reply: Reply) -> Vec<bool> {
    let Reply::Array(commands) = reply else {
        panic!("COMMAND INFO answers with an array");
    };
    commands.into_iter().map(|command| command != Reply::Null).collect()
}

/// The names of the fields of an `INFO`.
fn fields(reply: Reply) -> Vec<String> {
    let Reply::Bulk(info) = reply else {
        panic!("INFO answers with a bulk string");
    };
    let info = String::from_utf8_lossy(&info).into_owned();
    info.lines().filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect()
}

#[test]
fn a_clock_that_is_stepped_ends_a_key_early() {
    const TTL: Duration = Duration::from_secs(3_600);
    let Some(clocks) = Clocks::new(2) else { return };
    let (stepped, right) = (clocks.start(0), clocks.start(1));
    for node in [&stepped, &right] {
        node.set_px(b"resource", b"token", TTL);
    }
    clocks.set(0, TTL / 2);
    assert!(stepped.get(b"resource").is_some() && stepped.pttl(b"resource") <= 1_800_000);
    clocks.set(0, 2 * TTL);
    assert_eq!(stepped.get(b"resource"), None);
    assert!(right.get(b"resource").is_some() && right.pttl(b"resource") > 1_800_000);
}
