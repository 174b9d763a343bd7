//! The part of a fake server that behaves well: the answers of a healthy master to a handshake.
//!
//! The answers cover every command with which a client may ask for the identity of the server, in
//! any order. All other commands are for the test to answer.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use redbolt::redlock::PROBE;
use rustix::time::{ClockId, clock_gettime};
use sha1_smol::Sha1;

use super::fake::Request;
use super::wire::bulk;

/// The commands that `COMMAND INFO` knows, without a native compare-and-delete.
const COMMANDS: [&str; 12] = [
    "auth", "del", "eval", "evalsha", "get", "getrange", "mget", "pexpire", "ping", "pttl",
    "script", "set",
];

/// The identity that the fake master claims. A test may change the fields before the start.
#[derive(Clone, Debug)]
pub(crate) struct Master {
    /// 40 hexadecimal digits, different for every value that [`Master::new`] makes.
    pub(crate) run_id: String,
    /// The uptime in seconds; [`Master::new`] says a day, longer than any quarantine.
    pub(crate) uptime: u64,
    /// The role, `master` or `slave`.
    pub(crate) role: String,
    pub(crate) loading: bool,
    pub(crate) cluster: bool,
    /// The memory limit in bytes, 0 for none.
    pub(crate) maxmemory: u64,
    pub(crate) maxmemory_policy: String,
    /// How many keys were evicted.
    pub(crate) evicted: u64,
    /// What a look finds: 1 for the witness of this server, 2 for that of another, 0 for none.
    pub(crate) found: u8,
    /// How old the witness is.
    pub(crate) witness_age: Duration,
    /// How often clients have looked. Clones count together.
    pub(crate) looks: Arc<AtomicU64>,
    /// Nobody may change to RESP3.
    pub(crate) refuses_resp3: bool,
}

impl Master {
    /// Returns a master fit to vote.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            run_id: format!("{:032x}{number:08x}", process::id()),
            uptime: 86_400,
            role: "master".to_owned(),
            loading: false,
            cluster: false,
            maxmemory: 0,
            maxmemory_policy: "noeviction".to_owned(),
            evicted: 0,
            found: 1,
            witness_age: Duration::from_secs(86_400),
            looks: Arc::default(),
            refuses_resp3: false,
        }
    }

    /// Returns the reply to a command of the handshake, or `None` for any other command.
    pub(crate) fn answer(&self, request: &Request) -> Option<Vec<u8>> {
        let reply = match request.name().as_str() {
            "PING" => b"+PONG\r\n".to_vec(),
            "AUTH" | "SELECT" | "CLIENT" => b"+OK\r\n".to_vec(),
            "HELLO" if self.refuses_resp3 => b"-NOPROTO unsupported protocol version\r\n".to_vec(),
            "HELLO" => self.hello(request),
            // Nobody is told of anything, and the value is for scripts.
            "GET" if request.part(1).ends_with(b"redbolt:witness") => b"$-1\r\n".to_vec(),
            "INFO" => bulk(self.info_text().as_bytes()),
            "TIME" => time(),
            "COMMAND" => command_info(request),
            "CONFIG" => settings(request),
            "SCRIPT" => script(request),
            "EVAL" | "EVALSHA" if request.part(3).ends_with(b"redbolt:witness") => {
                self.look(request)
            }
            // All rights are there.
            "EVAL" | "EVALSHA" if is_probe(request) => b"*0\r\n".to_vec(),
            _ => return None,
        };
        Some(reply)
    }

    /// Answers a script of the witness. The deployment is as the client says.
    fn look(&self, request: &Request) -> Vec<u8> {
        let time = now().as_micros();
        let birth = time - self.witness_age.as_micros();
        let count = self.looks.fetch_add(1, Ordering::Relaxed) + 1;
        let argument = |index| String::from_utf8_lossy(request.part(index)).into_owned();
        let (max_ttl, nodes) = (argument(7), argument(8));
        let found = self.found;
        let mut reply = format!(
            "*12\r\n:{found}\r\n:{time}\r\n:{birth}\r\n:{birth}\r\n:{birth}\r\n\
             :{max_ttl}\r\n:{nodes}\r\n:{time}\r\n:0\r\n:0\r\n:{count}\r\n"
        )
        .into_bytes();
        reply.extend(bulk(self.info_text().as_bytes()));
        reply
    }

    fn hello(&self, request: &Request) -> Vec<u8> {
        let version = if request.part(1) == b"3" { 3 } else { 2 };
        let open = if version == 3 { "%7" } else { "*14" };
        let mode = if self.cluster { "cluster" } else { "standalone" };
        let role = &self.role;
        format!(
            "{open}\r\n+server\r\n+redis\r\n+version\r\n+7.0.15\r\n+proto\r\n:{version}\r\n\
             +id\r\n:1\r\n+mode\r\n+{mode}\r\n+role\r\n+{role}\r\n+modules\r\n*0\r\n"
        )
        .into_bytes()
    }

    /// Returns all sections at once, whichever the client asked for; clients look for single
    /// fields.
    pub(crate) fn info_text(&self) -> String {
        let mode = if self.cluster { "cluster" } else { "standalone" };
        let Self { run_id, uptime, role, maxmemory, maxmemory_policy, evicted, .. } = self;
        let (loading, cluster) = (u8::from(self.loading), u8::from(self.cluster));
        let pid = process::id();
        format!(
            "# Server\r\nredis_version:7.0.15\r\nredis_mode:{mode}\r\nprocess_id:{pid}\r\n\
             run_id:{run_id}\r\nuptime_in_seconds:{uptime}\r\n\r\n\
             # Memory\r\nmaxmemory:{maxmemory}\r\nmaxmemory_policy:{maxmemory_policy}\r\n\r\n\
             # Persistence\r\nloading:{loading}\r\naof_enabled:0\r\n\
             aof_last_write_status:ok\r\n\r\n\
             # Stats\r\nevicted_keys:{evicted}\r\n\r\n\
             # Replication\r\nrole:{role}\r\nmaster_replid:{run_id}\r\n\
             second_repl_offset:-1\r\n\r\n\
             # Cluster\r\ncluster_enabled:{cluster}\r\n"
        )
    }
}

/// Returns whether a request tries the rights of the client.
pub(super) fn is_probe(request: &Request) -> bool {
    [PROBE.text, PROBE.sha].iter().any(|script| script.as_bytes() == request.part(1))
}

fn time() -> Vec<u8> {
    let now = now();
    let mut reply = b"*2\r\n".to_vec();
    reply.extend(bulk(now.as_secs().to_string().as_bytes()));
    reply.extend(bulk(now.subsec_micros().to_string().as_bytes()));
    reply
}

/// Returns the time since 1970.
#[expect(clippy::disallowed_methods, reason = "a master tells the time of day")]
fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Realtime)).expect("after 1970")
}

/// Answers `COMMAND INFO name …`: for each name the known facts, or nil.
fn command_info(request: &Request) -> Vec<u8> {
    let names = request.parts.get(2..).unwrap_or_default();
    let mut reply = format!("*{}\r\n", names.len()).into_bytes();
    for name in names {
        let name = String::from_utf8_lossy(name).to_lowercase();
        if COMMANDS.contains(&name.as_str()) {
            reply.extend(format!("*6\r\n${}\r\n{name}\r\n:-2\r\n*0\r\n", name.len()).bytes());
            reply.extend_from_slice(b":1\r\n:1\r\n:1\r\n");
        } else {
            reply.extend_from_slice(b"*-1\r\n");
        }
    }
    reply
}

/// Answers `CONFIG GET name …` as a server whose append-only file is off.
fn settings(request: &Request) -> Vec<u8> {
    let known = [(&b"appendfsync"[..], &b"everysec"[..]), (b"no-appendfsync-on-rewrite", b"no")];
    let names = request.parts.get(2..).unwrap_or_default();
    let asked: Vec<_> = known.iter().filter(|(name, _)| names.iter().any(|n| n == name)).collect();
    let mut reply = format!("*{}\r\n", 2 * asked.len()).into_bytes();
    for (name, value) in asked {
        reply.extend(bulk(name));
        reply.extend(bulk(value));
    }
    reply
}

/// Answers `SCRIPT LOAD text` with the digest. The test decides whether `EVALSHA` knows the script
/// later.
fn script(request: &Request) -> Vec<u8> {
    if request.part(1).eq_ignore_ascii_case(b"LOAD") {
        bulk(Sha1::from(request.part(2)).hexdigest().as_bytes())
    } else {
        b"+OK\r\n".to_vec()
    }
}
