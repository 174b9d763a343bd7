//! The scripts of the witness on each flavour, and on the embedded master, which knows them without
//! Lua: the same commands must have the same replies everywhere, times and identities aside.

use fastrand::Rng;
use redbolt::embedded::Server;
use redbolt::redlock::{CLOSE, DECLARE_FRESH, LOOK, RAISE_MAX_TTL, REOPEN};

use crate::owner::PATIENCE;
use crate::support::flavours::Flavour;
use crate::support::wire::{Connection, Reply};

type Command = Vec<String>;

/// Stands for the identity of the server, in commands and in comparable replies.
const ID: &str = "IDENTITY";

/// What somebody may have written where a witness is looked for.
const WITNESSES: [&str; 22] = [
    "IDENTITY:0 5 6 7 8000 9",
    "IDENTITY:0 5 6 7 8000 9 and more",
    "IDENTITY:0 5 6 7 8000 9and more",
    "IDENTITY:0 005 06 07 08 09",
    "IDENTITY:0 0 0 0 1000 3",
    "IDENTITY:1 5 6 7 8000 9",
    "another 5 6 7 8000 9",
    "IDENTITY:0 9000000000000000 6 7 8000 9",
    "IDENTITY:0 5 6 7 8000 99999999999999999999",
    "IDENTITY:0 5 6 7 8000",
    "IDENTITY:0 5 6  7 8000 9",
    "IDENTITY:0 5 6 -7 8000 9",
    " IDENTITY:0 5 6 7 8000 9",
    "IDENTITY:0\t5 6 7 8000 9 10",
    "IDENTITY:0",
    "",
    "IDENTITY:0 5 6 7 8000 1003 7",
    "IDENTITY:0 5 6 7 8000 1003 8",
    "IDENTITY:0 5 6 7 8000 1003",
    "another 5 6 7 8000 1003 7",
    "IDENTITY:0 5 6 7 8000 5 7",
    "IDENTITY:0 5 6 7 8000 3 07 8",
];

/// What somebody may have written where a stamp is looked for.
const STAMPS: [&str; 9] = [
    "1 2 3 4",
    "1 2 3 4 5",
    "01 02 03 04x",
    "1 2 3",
    "x 2 3 4",
    "9000000000000000 2 3 4",
    "18446744073709551616 36893488147419103232 3 4",
    "1 2 3 9007199254740993",
    "",
];

/// A server, and what is not the same elsewhere.
struct Subject {
    connection: Connection,
    id: String,
    /// The time of each call so far, by the server's clock.
    times: Vec<i64>,
}

impl Subject {
    fn new(addr: &str) -> Self {
        let mut connection = Connection::open(addr, PATIENCE).expect("the server accepts");
        let info: String =
            ["server", "replication", "stats"].map(|name| info(&mut connection, name)).concat();
        let facts = ["run_id", "master_replid", "evicted_keys"].map(|name| fact(&info, name));
        Self { connection, id: facts.join(":"), times: Vec::new() }
    }

    /// Sends one command. Returns the part of the reply that is the same everywhere.
    fn send(&mut self, command: &Command) -> Reply {
        let words: Vec<_> = command.iter().map(|word| word.replace(ID, &self.id)).collect();
        let words: Vec<_> = words.iter().map(String::as_bytes).collect();
        match self.connection.command(&words).expect("the server answers") {
            Reply::Array(fields) if fields.len() == 12 => {
                let Reply::Integer(time) = fields[1] else { panic!("{:?} is no time", fields[1]) };
                self.times.push(time);
                Reply::Array(fields.into_iter().map(|field| self.field(field)).collect())
            }
            // For how long a node must be left alone, and has been.
            Reply::Array(fields) if fields.len() == 2 => {
                let sign = |field| match field {
                    Reply::Integer(micros) if micros > 1_000_000 => Reply::Integer(1_000_000),
                    Reply::Integer(_) if fields[0] != Reply::Integer(-1) => Reply::Integer(0),
                    field => field,
                };
                Reply::Array(fields.iter().cloned().map(sign).collect())
            }
            Reply::Bulk(text) => Reply::Bulk(self.text(&text)),
            Reply::Error(text) => Reply::Error(text.split(' ').next().unwrap_or("").to_owned()),
            // The ttl of a key that has one.
            Reply::Integer(ttl) if ttl > 1_000 => Reply::Integer(1_000),
            reply => reply,
        }
    }

    fn field(&self, field: Reply) -> Reply {
        match field {
            Reply::Integer(number) => Reply::Bulk(self.word(&number.to_string()).into_bytes()),
            Reply::Bulk(info) => {
                let info = String::from_utf8_lossy(&info);
                let facts = ["run_id", "master_replid", "evicted_keys"];
                let id = facts.map(|name| fact(&info, name)).join(":");
                assert_eq!(id, self.id, "INFO in the answer has the identity");
                for name in ["role", "loading", "maxmemory_policy", "aof_enabled"] {
                    assert_ne!(fact(&info, name), "", "{name} is in {info}");
                }
                // Valkey has the second name.
                let modes = ["redis_mode", "server_mode"].map(|name| fact(&info, name));
                assert!(modes.iter().any(|mode| !mode.is_empty()), "{info}");
                Reply::Bulk(ID.into())
            }
            other => panic!("{other:?} in an answer"),
        }
    }

    fn text(&self, text: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(text).replace(&self.id, ID);
        text.split(' ').map(|word| self.word(word)).collect::<Vec<_>>().join(" ").into_bytes()
    }

    /// Names a time by the call that had it.
    fn word(&self, word: &str) -> String {
        let time = word.parse().ok();
        let call = self.times.iter().position(|known| Some(*known) == time);
        match (call, time) {
            (Some(call), _) => format!("the time of call {call}"),
            // Closing a node does not tell the time.
            (None, Some(1_000_000_000..8_000_000_000_000_000)) => "a time".to_owned(),
            (None, _) => word.to_owned(),
        }
    }
}

fn info(connection: &mut Connection, section: &str) -> String {
    match connection.command(&[b"INFO", section.as_bytes()]) {
        Ok(Reply::Bulk(text)) => String::from_utf8_lossy(&text).into_owned(),
        other => panic!("{other:?} to INFO"),
    }
}

fn fact(info: &str, name: &str) -> String {
    let mut facts = info.lines().filter_map(|line| line.split_once(':'));
    facts.find(|(known, _)| *known == name).map_or("", |(_, value)| value).to_owned()
}

fn any<'a>(rng: &mut Rng, values: &[&'a str]) -> &'a str {
    values[rng.usize(..values.len())]
}

fn command(words: &[&str]) -> Command {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// A call of one of the scripts, by its text or by its name.
fn call(rng: &mut Rng) -> Command {
    let scripts = [LOOK, LOOK, DECLARE_FRESH, RAISE_MAX_TTL, CLOSE, CLOSE, REOPEN];
    let script = scripts[rng.usize(..scripts.len())];
    let nodes = if script == CLOSE { "1000" } else { any(rng, &["3", "5"]) };
    let (name, script) = if rng.bool() { ("EVAL", script.text) } else { ("EVALSHA", script.sha) };
    let keys = if rng.u8(..20) == 0 { ["w", "w"] } else { ["w", "s"] };
    let database = if rng.u8(..8) == 0 { "1" } else { "0" };
    let wall = any(rng, &["0", "1795311527520834"]);
    let max_ttl = any(rng, &["500", "1000", "60000", "0099999"]);
    let change = any(rng, &["7", "7", "8"]);
    // Either any time since the last call is longer, or none.
    let span = any(rng, &["0", "90000000", "90000000"]);
    command(&[name, script, "2", keys[0], keys[1], database, wall, max_ttl, nodes, span, change])
}

fn random_commands(seed: u64) -> Vec<Command> {
    let mut rng = Rng::with_seed(seed);
    let load = |script: redbolt::redlock::Script| command(&["SCRIPT", "LOAD", script.text]);
    let mut commands: Vec<_> = [LOOK, DECLARE_FRESH, RAISE_MAX_TTL, CLOSE, REOPEN].map(load).into();
    for _ in 0..1_000 {
        let (witness, stamp) = (any(&mut rng, &WITNESSES), any(&mut rng, &STAMPS));
        match rng.u8(..12) {
            0 => commands.push(command(&["SET", "w", witness])),
            1 => commands.push(command(&["SET", "w", witness, "PX", "90000000"])),
            2 => commands.push(command(&["SET", "s", stamp])),
            3 => commands.push(command(&["SET", "lock", "token"])),
            4 => commands.push(command(&["DEL", "w"])),
            5 => commands.push(command(&["DEL", "s"])),
            6 | 7 => commands.push(command(&["DEL", "w", "s", "lock"])),
            8 => commands.push(command(&["SET", "label:a", "web-3 4711 billing"])),
            9 => commands.push(command(&["DEL", "label:a"])),
            _ => {}
        }
        commands.push(call(&mut rng));
        for look in [["GET", "w"], ["GET", "s"], ["PTTL", "w"], ["PTTL", "s"]] {
            commands.push(command(&look));
        }
        commands.push(command(&["DBSIZE"]));
    }
    commands
}

#[test]
fn every_flavour_and_the_embedded_master_keep_the_witness_alike() {
    let flavours = Flavour::all();
    let nodes: Vec<_> = flavours.iter().map(|flavour| (flavour.name, flavour.start())).collect();
    for seed in 0..3 {
        let embedded = Server::start().expect("the server finds a port");
        let commands = random_commands(seed);
        let mut subject = Subject::new(&embedded.addr().to_string());
        let expected: Vec<_> = commands.iter().map(|command| subject.send(command)).collect();
        for (name, node) in &nodes {
            assert_eq!(node.command(&[b"FLUSHALL"]), Reply::Simple("OK".to_owned()));
            let mut subject = Subject::new(&node.addr());
            for (index, command) in commands.iter().enumerate() {
                let found = subject.send(command);
                let so_far = &commands[index.saturating_sub(12)..=index];
                assert_eq!(found, expected[index], "{name} with seed {seed}: {so_far:?}");
            }
        }
    }
}

/// What a client asks about the append-only file, and what the embedded master says of a file that
/// is off.
#[test]
fn the_embedded_master_tells_the_time_and_the_settings_as_every_flavour_does() {
    let questions: [&[&str]; 8] = [
        &["CONFIG", "GET", "appendfsync"],
        &["config", "get", "No-AppendFsync-on-Rewrite"],
        &["CONFIG", "GET", "no-such-setting"],
        &["CONFIG", "GET"],
        &["CONFIG"],
        &["CONFIG", "NONSENSE"],
        &["TIME", "now"],
        &["EVALSHA", LOOK.sha, "2", "w", "s"],
    ];
    let embedded = Server::start().expect("the server finds a port");
    let mut embedded = Subject::new(&embedded.addr().to_string());
    for flavour in Flavour::all() {
        let node = flavour.start();
        let mut real = Subject::new(&node.addr());
        for question in questions {
            let (found, expected) =
                (real.send(&command(question)), embedded.send(&command(question)));
            assert_eq!(found, expected, "{}: {question:?}", flavour.name);
        }
        for subject in [&mut embedded, &mut real] {
            let reply = subject.connection.command(&[b"TIME"]).expect("the server answers");
            let Reply::Array(parts) = reply else { panic!("{reply:?} to TIME") };
            let number = |part: &Reply| match part {
                Reply::Bulk(digits) => String::from_utf8_lossy(digits).parse::<u64>().ok(),
                _ => None,
            };
            let numbers: Vec<_> = parts.iter().map(number).collect();
            assert!(matches!(numbers[..], [Some(1..), Some(..1_000_000)]), "{parts:?}");
        }
    }
}
