//! Others that lock, to compare with: `--peer poll`, `--peer pubsub` and `--peer etcd`. A contender
//! has connections of its own.
//!
//! * `poll`: Redlock as its clients mostly have it, written by hand on sockets. It asks all nodes
//!   at once, and where that fails takes back what it got and comes again after a random pause of
//!   up to 200 ms, which is the default of `rslock` and of `node-redlock`.
//! * `pubsub`: one node, whose release publishes a message, as Redisson has it, written by hand on
//!   sockets. Whoever is refused waits for a message, or for the end of the ttl, and then asks
//!   again.
//! * `etcd`: the lock of etcd, a queue of keys in a log that its servers agree on, through its HTTP
//!   gateway. The lease is as long as the run, so that nothing keeps it alive meanwhile.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use redbolt::Clock;

use crate::Outcome;
use crate::load::{Load, sleep_until};
use crate::record::Record;

const PAUSE: Duration = Duration::from_millis(200);

const RELEASE: &str = "if redis.call('get',KEYS[1])==ARGV[1] then return \
                       redis.call('del',KEYS[1]) else return 0 end";

/// The same with a message to all who wait.
const RELEASE_AND_TELL: &str = "if redis.call('get',KEYS[1])==ARGV[1] then \
                                redis.call('del',KEYS[1]) return \
                                redis.call('publish',ARGV[2],'') else return 0 end";

/// Where releases are published. A run has one resource.
const CHANNEL: &str = "redbolt-contend-released";

/// How many lines the answer to `SUBSCRIBE` has, and the line that tells of a message.
const SUBSCRIBED: usize = 6;
const MESSAGE: &str = "message";

/// One contender.
pub(crate) enum Peer {
    Poll { nodes: Vec<BufReader<TcpStream>>, token: String, rng: Rng },
    PubSub { node: [BufReader<TcpStream>; 1], news: BufReader<TcpStream>, token: String, rng: Rng },
    Etcd { node: BufReader<TcpStream>, lease: String, key: String },
}

const KINDS: [&str; 3] = ["poll", "pubsub", "etcd"];

fn open(node: &str) -> Outcome<BufReader<TcpStream>> {
    let stream = TcpStream::connect(node)?;
    stream.set_nodelay(true)?;
    Ok(BufReader::new(stream))
}

impl Peer {
    /// For the driver: each of its processes would complain, all at once.
    pub(crate) fn check(kind: &str) -> Outcome {
        if KINDS.contains(&kind) {
            return Ok(());
        }
        Err(format!("no peer is called {kind:?}; there are {}", KINDS.join(", ")).into())
    }

    pub(crate) fn connect(kind: &str, nodes: &[String], number: usize) -> Outcome<Self> {
        match kind {
            "poll" => {
                let nodes = nodes.iter().map(|node| open(node)).collect::<Outcome<_>>()?;
                Ok(Self::Poll { nodes, token: String::new(), rng: rng(number) })
            }
            "pubsub" => {
                let (node, mut news) = ([open(&nodes[0])?], open(&nodes[0])?);
                news.get_mut().write_all(command(&["SUBSCRIBE", CHANNEL]).as_bytes())?;
                (0..SUBSCRIBED).try_for_each(|_| line(&mut news).map(drop))?;
                Ok(Self::PubSub { node, news, token: String::new(), rng: rng(number) })
            }
            "etcd" => {
                let mut node = open(&nodes[number % nodes.len()])?;
                let answer = post(&mut node, "lease/grant", r#"{"TTL":"3600"}"#)?;
                let lease = field(&answer, "ID")?;
                Ok(Self::Etcd { node, lease, key: String::new() })
            }
            _ => Err(format!("no peer is called {kind:?}").into()),
        }
    }

    /// Runs a thread for each contender.
    pub(crate) fn threads(peers: &mut [Self], load: &Load) -> Outcome<Vec<Record>> {
        thread::scope(|scope| {
            let run = |(number, peer): (usize, &'_ mut Self)| {
                peer.contend(load, number as u32).map_err(|error| error.to_string())
            };
            let threads = peers.iter_mut().enumerate().map(|one| scope.spawn(move || run(one)));
            let threads: Vec<_> = threads.collect();
            let mut all = Vec::new();
            for thread in threads {
                all.extend(thread.join().map_err(|_| "a contender panicked")??);
            }
            Ok(all)
        })
    }

    /// Contends as the threads of a client do.
    fn contend(&mut self, load: &Load, thread: u32) -> Outcome<Vec<Record>> {
        let mut records = Vec::new();
        while Clock::now() < load.end {
            let asked = Clock::now();
            let is_granted = self.acquire(load)?;
            let granted = Clock::now();
            let (asked, ended) = (asked.as_nanos(), granted.as_nanos());
            let mut record =
                Record { process: 0, thread, asked, queued: asked, ended, released: 0 };
            if is_granted {
                if !load.hold.is_zero() {
                    sleep_until(granted + load.hold);
                }
                record.released = Clock::now().as_nanos();
                self.release(load)?;
            }
            records.push(record);
            if !is_granted {
                break;
            }
        }
        Ok(records)
    }

    /// Returns whether the lock is held; if not, the time is over.
    fn acquire(&mut self, load: &Load) -> Outcome<bool> {
        let over = load.end + load.grace;
        match self {
            Self::Poll { nodes, token, rng } => loop {
                *token = format!("{:016x}", rng.u64(..));
                let millis = load.ttl.as_millis().to_string();
                let words = ["SET", load.resource(), token, "NX", "PX", &millis];
                let votes = ask(nodes, &words)?.iter().filter(|answer| *answer == "+OK").count();
                if votes > nodes.len() / 2 {
                    return Ok(true);
                }
                ask(nodes, &["EVAL", RELEASE, "1", load.resource(), token])?;
                if Clock::now() >= over {
                    return Ok(false);
                }
                sleep_until(Clock::now() + PAUSE.mul_f64(rng.f64()));
            },
            Self::PubSub { node, news, token, rng } => loop {
                *token = format!("{:016x}", rng.u64(..));
                let millis = load.ttl.as_millis().to_string();
                // A release that comes from now on is told of after this `SET`.
                drop_messages(news)?;
                let words = ["SET", load.resource(), token, "NX", "PX", &millis];
                if ask(node, &words)?[0] == "+OK" {
                    return Ok(true);
                }
                let left = ask(node, &["PTTL", load.resource()])?[0].clone();
                // A key that is gone by now has no ttl; one without an end is none of ours.
                let left = left.trim_start_matches(':').parse().unwrap_or(0);
                let left = Duration::from_millis(left).min(over - Clock::now());
                await_message(news, left)?;
                if Clock::now() >= over {
                    return Ok(false);
                }
            },
            Self::Etcd { node, lease, key } => {
                let left = (over - Clock::now()).max(Duration::from_millis(1));
                node.get_ref().set_read_timeout(Some(left))?;
                // "contended" in Base64, as the gateway wants names: the name matters to nobody.
                let body = format!(r#"{{"name":"Y29udGVuZGVk","lease":"{lease}"}}"#);
                match post(node, "lock/lock", &body) {
                    Ok(answer) => {
                        *key = field(&answer, "key")?;
                        Ok(true)
                    }
                    Err(error) if is_timeout(error.as_ref()) => Ok(false),
                    Err(error) => Err(error),
                }
            }
        }
    }

    fn release(&mut self, load: &Load) -> Outcome {
        match self {
            Self::Poll { nodes, token, .. } => {
                ask(nodes, &["EVAL", RELEASE, "1", load.resource(), token]).map(drop)
            }
            Self::PubSub { node, token, .. } => {
                let words = ["EVAL", RELEASE_AND_TELL, "1", load.resource(), token, CHANNEL];
                ask(node, &words).map(drop)
            }
            Self::Etcd { node, key, .. } => {
                node.get_ref().set_read_timeout(None)?;
                post(node, "lock/unlock", &format!(r#"{{"key":"{key}"}}"#)).map(drop)
            }
        }
    }
}

fn rng(number: usize) -> Rng {
    Rng::with_seed(Clock::now().as_nanos() ^ u64::from(process::id()) << 40 ^ number as u64)
}

/// Waits for a message, for this time at most.
fn await_message(news: &mut BufReader<TcpStream>, wait: Duration) -> Outcome {
    let end = Clock::now() + wait;
    loop {
        let left = end - Clock::now();
        if left.is_zero() {
            return Ok(());
        }
        news.get_ref().set_read_timeout(Some(left))?;
        match line(news) {
            Ok(line) if line == MESSAGE => return Ok(()),
            Err(error) if !is_timeout(error.as_ref()) => return Err(error),
            _ => {}
        }
    }
}

/// Drops the messages that have come.
fn drop_messages(news: &mut BufReader<TcpStream>) -> Outcome {
    news.get_ref().set_nonblocking(true)?;
    let read = loop {
        match news.fill_buf() {
            Ok([]) => break Err(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => {
                let len = bytes.len();
                news.consume(len);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    news.get_ref().set_nonblocking(false)?;
    Ok(read?)
}

fn is_timeout(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

fn command(words: &[&str]) -> String {
    let mut bytes = format!("*{}\r\n", words.len());
    for word in words {
        bytes += &format!("${}\r\n{word}\r\n", word.len());
    }
    bytes
}

/// Sends a command to all nodes, and then reads the first line of each answer.
fn ask(nodes: &mut [BufReader<TcpStream>], words: &[&str]) -> Outcome<Vec<String>> {
    let bytes = command(words);
    for node in &mut *nodes {
        node.get_mut().write_all(bytes.as_bytes())?;
    }
    nodes.iter_mut().map(line).collect()
}

fn line(node: &mut BufReader<TcpStream>) -> Outcome<String> {
    let mut line = String::new();
    match node.read_line(&mut line)? {
        0 => Err("a server has closed the connection".into()),
        _ => Ok(line.trim_end().to_owned()),
    }
}

/// Sends a request to the gateway of etcd. Returns the body of the answer.
fn post(node: &mut BufReader<TcpStream>, path: &str, body: &str) -> Outcome<String> {
    let head = format!("POST /v3/{path} HTTP/1.1\r\nHost: etcd\r\nContent-Length: {}", body.len());
    node.get_mut().write_all(format!("{head}\r\n\r\n{body}").as_bytes())?;
    let status = line(node)?;
    let mut len = 0;
    loop {
        let header = line(node)?.to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            len = value.trim().parse()?;
        }
    }
    let mut answer = vec![0; len];
    node.read_exact(&mut answer)?;
    let answer = String::from_utf8(answer)?;
    if status.contains(" 200 ") { Ok(answer) } else { Err(format!("{status}: {answer}").into()) }
}

/// Returns the text of a field of a flat object.
fn field(json: &str, name: &str) -> Outcome<String> {
    let rest = json.split_once(&format!("\"{name}\":\"")).map(|(_, rest)| rest);
    let text = rest.and_then(|rest| rest.split_once('"')).map(|(text, _)| text.to_owned());
    text.ok_or_else(|| format!("no {name} in {json}").into())
}
