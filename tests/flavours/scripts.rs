//! The scripts on each flavour, and on the embedded master, which knows them without Lua: the same
//! commands must have the same replies everywhere.

use fastrand::Rng;
use redbolt::embedded::Server;
use redbolt::redlock::{EXTEND, EXTEND_MANY, RELEASE, RELEASE_MANY, Script};

use crate::owner::PATIENCE;
use crate::support::flavours::Flavour;
use crate::support::wire::{Connection, Reply, request};

const KEYS: [&str; 4] = ["a", "b", "c", "d"];
const TOKENS: [&str; 3] = ["ours", "theirs", ""];
/// So far apart that the time a test takes never moves a ttl from one to another, in milliseconds.
const TTLS: [i64; 3] = [1_000_000, 2_000_000, 3_000_000];

type Command = Vec<String>;

fn command(words: &[&str]) -> Command {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// What a server answers to all of them.
fn replies(addr: &str, commands: &[Command]) -> Vec<Reply> {
    let mut connection = Connection::open(addr, PATIENCE).expect("it accepts");
    let mut replies = Vec::with_capacity(commands.len());
    // Several at a time, and no more than the kernel buffers on the way.
    for some in commands.chunks(32) {
        let requests = some
            .iter()
            .flat_map(|command| request(&command.iter().map(String::as_bytes).collect::<Vec<_>>()));
        connection.send(&requests.collect::<Vec<_>>()).expect("it reads");
        let some = some.iter().map(|command| {
            let reply = connection.reply().expect("a reply");
            comparable(command, reply)
        });
        replies.extend(some);
    }
    replies
}

/// The part of a reply that is the same everywhere.
fn comparable(command: &Command, reply: Reply) -> Reply {
    match (command[0].as_str(), reply) {
        // Which of the ttls it is; -1 and -2 stay what they are.
        ("PTTL", Reply::Integer(ttl)) if ttl > 0 => {
            Reply::Integer(TTLS.into_iter().filter(|known| *known < ttl).count() as i64)
        }
        // Only the first word has a meaning.
        (_, Reply::Error(text)) => {
            Reply::Error(text.split(' ').next().unwrap_or_default().to_owned())
        }
        (_, reply) => reply,
    }
}

/// A call of a script by its text or by its name.
fn call(rng: &mut Rng, script: Script, keys: &[&str], arguments: &[String]) -> Command {
    let (name, script) = if rng.bool() { ("EVAL", script.text) } else { ("EVALSHA", script.sha) };
    let mut command = command(&[name, script, &keys.len().to_string()]);
    command.extend(keys.iter().map(|&key| key.to_owned()));
    command.extend_from_slice(arguments);
    command
}

/// A call over some keys. The engine asks about a key twice only with different tokens.
fn any_call(rng: &mut Rng) -> Command {
    let mut pairs: Vec<_> = KEYS.into_iter().flat_map(|key| TOKENS.map(|t| (key, t))).collect();
    rng.shuffle(&mut pairs);
    let script = [RELEASE, EXTEND, RELEASE_MANY, EXTEND_MANY][rng.usize(..4)];
    let many = script == RELEASE_MANY || script == EXTEND_MANY;
    pairs.truncate(if many { rng.usize(1..=pairs.len()) } else { 1 });
    let (keys, tokens): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let mut arguments = command(&tokens);
    if script == EXTEND || script == EXTEND_MANY {
        arguments.extend(keys.iter().map(|_| any(rng, &TTLS).to_string()));
    }
    call(rng, script, &keys, &arguments)
}

fn any<T: Copy>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.usize(..values.len())]
}

/// Keys come, go and lose their ttl; after each script it is looked at what became of them.
fn random_commands(seed: u64) -> Vec<Command> {
    let mut rng = Rng::with_seed(seed);
    let load = |script: Script| command(&["SCRIPT", "LOAD", script.text]);
    let mut commands: Vec<_> = [RELEASE, EXTEND, RELEASE_MANY, EXTEND_MANY].map(load).into();
    for _ in 0..500 {
        for _ in 0..rng.usize(1..=4) {
            let (key, token) = (any(&mut rng, &KEYS), any(&mut rng, &TOKENS));
            let ttl = any(&mut rng, &TTLS).to_string();
            commands.push(match rng.u8(..8) {
                0 => command(&["DEL", key]),
                // As somebody leaves it who makes it persistent.
                1 => command(&["SET", key, token]),
                2 => command(&["SET", key, token, "NX", "PX", &ttl]),
                _ => command(&["SET", key, token, "PX", &ttl]),
            });
        }
        commands.push(any_call(&mut rng));
        for key in KEYS {
            commands.push(command(&["GET", key]));
            commands.push(command(&["PTTL", key]));
        }
    }
    commands
}

#[test]
fn every_flavour_and_the_embedded_master_answer_the_scripts_alike() {
    let flavours = Flavour::all();
    let nodes: Vec<_> = flavours.iter().map(|flavour| (flavour.name, flavour.start())).collect();
    for seed in 0..4 {
        let embedded = Server::start().expect("it finds a port");
        let commands = random_commands(seed);
        let expected = replies(&embedded.addr().to_string(), &commands);
        for (name, node) in &nodes {
            assert_eq!(node.command(&[b"FLUSHALL"]), Reply::Simple("OK".to_owned()));
            let found = replies(&node.addr(), &commands);
            for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let so_far = &commands[index.saturating_sub(12)..=index];
                assert_eq!(found, expected, "{name} with seed {seed}: {so_far:?}");
            }
        }
    }
}

/// The embedded master has no other types than strings.
#[test]
fn every_flavour_leaves_data_of_another_type_to_its_owner() {
    let rows: [(Script, &[&str], Reply); 4] = [
        (RELEASE, &["ours"], Reply::Error("WRONGTYPE".to_owned())),
        (EXTEND, &["ours", "1000"], Reply::Error("WRONGTYPE".to_owned())),
        (RELEASE_MANY, &["ours"], Reply::Array(vec![Reply::Integer(0)])),
        (EXTEND_MANY, &["ours", "1000"], Reply::Array(vec![Reply::Integer(0)])),
    ];
    for flavour in Flavour::all() {
        let node = flavour.start();
        node.command(&[b"RPUSH", b"list", b"ours"]);
        for (script, arguments, expected) in &rows {
            let call = [&["EVAL", script.text, "1", "list"], *arguments].concat();
            let found = replies(&node.addr(), &[command(&call)]);
            assert_eq!(found[0], *expected, "{}: {}", flavour.name, script.text);
            assert_eq!((node.keys(), node.pttl(b"list")), (vec![b"list".to_vec()], -1));
        }
    }
}
