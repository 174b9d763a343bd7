//! The commands that the master knows: names, arities and the answers of `COMMAND INFO`.

use bytes::BytesMut;

use super::number;
use super::refusal::Refusal;
use crate::resp;

/// A command whose name, subcommand and number of arguments have been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Auth,
    ClientSetInfo,
    ClientSetName,
    ConfigGet,
    Count,
    DbSize,
    Del,
    Describe,
    Docs,
    Echo,
    Eval,
    EvalSha,
    Exists,
    Get,
    Info,
    GetRange,
    Mget,
    Pexpire,
    Ping,
    Pttl,
    Quit,
    ScriptExists,
    ScriptFlush,
    ScriptLoad,
    Select,
    Set,
    Time,
}

/// One row of the table of commands.
#[derive(Debug)]
struct Spec {
    /// Lower case; a subcommand is called `container|name`, as Redis calls it in its errors.
    name: &'static str,
    /// The words of a request, the name included: exactly this number, or at least this number if
    /// negative.
    arity: i64,
    flags: &'static [&'static str],
    /// First key, last key, step: positions in the request, all zero for a command without keys.
    keys: [i64; 3],
    /// The command of the name without a subcommand.
    command: Option<Command>,
    /// Where there are subcommands, the second word decides.
    subcommands: &'static [Self],
}

const fn spec(
    name: &'static str,
    arity: i64,
    flags: &'static [&'static str],
    keys: [i64; 3],
    command: Command,
) -> Spec {
    Spec { name, arity, flags, keys, command: Some(command), subcommands: &[] }
}

const fn container(
    name: &'static str,
    arity: i64,
    command: Option<Command>,
    subcommands: &'static [Spec],
) -> Spec {
    Spec { name, arity, flags: &[], keys: NO_KEYS, command, subcommands }
}

const NO_KEYS: [i64; 3] = [0, 0, 0];
const ONE_KEY: [i64; 3] = [1, 1, 1];
const ALL_KEYS: [i64; 3] = [1, -1, 1];

/// Searched from the top: the commands of a lock come first.
static TABLE: &[Spec] = &[
    spec("evalsha", -3, &["noscript", "movablekeys"], NO_KEYS, Command::EvalSha),
    spec("set", -3, &["write", "denyoom"], ONE_KEY, Command::Set),
    spec("get", 2, &["readonly", "fast"], ONE_KEY, Command::Get),
    spec("getrange", 4, &["readonly"], ONE_KEY, Command::GetRange),
    spec("pttl", 2, &["readonly", "fast"], ONE_KEY, Command::Pttl),
    spec("del", -2, &["write"], ALL_KEYS, Command::Del),
    spec("exists", -2, &["readonly", "fast"], ALL_KEYS, Command::Exists),
    spec("mget", -2, &["readonly", "fast"], ALL_KEYS, Command::Mget),
    spec("pexpire", -3, &["write", "fast"], ONE_KEY, Command::Pexpire),
    spec("ping", -1, &["fast"], NO_KEYS, Command::Ping),
    spec("eval", -3, &["noscript", "movablekeys"], NO_KEYS, Command::Eval),
    spec("echo", 2, &["fast"], NO_KEYS, Command::Echo),
    spec("info", -1, &[], NO_KEYS, Command::Info),
    spec("dbsize", 1, &["readonly", "fast"], NO_KEYS, Command::DbSize),
    spec("time", 1, &["fast"], NO_KEYS, Command::Time),
    spec("auth", -2, &["noscript", "fast", "no_auth"], NO_KEYS, Command::Auth),
    spec("select", 2, &["fast"], NO_KEYS, Command::Select),
    spec("quit", -1, &["noscript", "fast", "no_auth"], NO_KEYS, Command::Quit),
    container("script", -2, None, SCRIPT),
    container("client", -2, None, CLIENT),
    container("config", -2, None, CONFIG),
    container("command", -1, Some(Command::Describe), COMMAND),
];

static SCRIPT: &[Spec] = &[
    spec("script|load", 3, &["noscript"], NO_KEYS, Command::ScriptLoad),
    spec("script|exists", -3, &["noscript"], NO_KEYS, Command::ScriptExists),
    spec("script|flush", -2, &["noscript"], NO_KEYS, Command::ScriptFlush),
];

static CLIENT: &[Spec] = &[
    spec("client|setname", 3, &["noscript"], NO_KEYS, Command::ClientSetName),
    spec("client|setinfo", 4, &["noscript"], NO_KEYS, Command::ClientSetInfo),
];

static CONFIG: &[Spec] =
    &[spec("config|get", -3, &["admin", "noscript"], NO_KEYS, Command::ConfigGet)];

static COMMAND: &[Spec] = &[
    spec("command|info", -2, &[], NO_KEYS, Command::Describe),
    spec("command|docs", -2, &[], NO_KEYS, Command::Docs),
    spec("command|count", 2, &[], NO_KEYS, Command::Count),
];

/// Returns the command of a request, and the name for errors about its arguments. The error is that
/// of Redis about the name or the number of words.
pub(super) fn resolve(request: &[&[u8]]) -> Result<(Command, &'static str), Refusal> {
    let Some((name, arguments)) = request.split_first() else {
        return Err(Refusal::unknown_command(b"", &[]));
    };
    let mut spec = find(name).ok_or_else(|| Refusal::unknown_command(name, arguments))?;
    if let (Some(word), false) = (arguments.first(), spec.subcommands.is_empty()) {
        let chosen = spec.subcommands.iter().find(|row| row.is_subcommand(word));
        spec = chosen.ok_or_else(|| Refusal::unknown_subcommand(spec.name, word))?;
    }
    let words = number::signed(request.len());
    let fits = if spec.arity < 0 { words >= -spec.arity } else { words == spec.arity };
    match spec.command {
        Some(command) if fits => Ok((command, spec.name)),
        _ => Err(Refusal::WrongArity(spec.name)),
    }
}

/// Appends the reply to `COMMAND INFO names…`: nil for a name that the master does not know, and
/// the whole table where no name is given.
pub(super) fn describe(names: &[&[u8]], out: &mut BytesMut) {
    if names.is_empty() {
        resp::array_header(out, TABLE.len());
        TABLE.iter().for_each(|spec| spec.describe(out));
        return;
    }
    resp::array_header(out, names.len());
    for name in names {
        match find(name) {
            Some(spec) => spec.describe(out),
            None => resp::null(out),
        }
    }
}

/// The number of commands, without subcommands.
pub(super) fn count() -> usize {
    TABLE.len()
}

fn find(name: &[u8]) -> Option<&'static Spec> {
    TABLE.iter().find(|spec| name.eq_ignore_ascii_case(spec.name.as_bytes()))
}

impl Spec {
    fn is_subcommand(&self, word: &[u8]) -> bool {
        let name = self.name.split_once('|').map(|(_, name)| name);
        name.is_some_and(|name| word.eq_ignore_ascii_case(name.as_bytes()))
    }

    /// Appends the six fields that every version of Redis has sent.
    fn describe(&self, out: &mut BytesMut) {
        resp::array_header(out, 6);
        resp::bulk(out, self.name.as_bytes());
        resp::integer(out, self.arity);
        resp::array_header(out, self.flags.len());
        self.flags.iter().for_each(|flag| resp::simple(out, flag));
        self.keys.iter().for_each(|position| resp::integer(out, *position));
    }
}
