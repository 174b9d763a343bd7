//! Error replies, in the words of Redis 7 wherever Redis has words for the case.

use core::fmt;

/// The bytes that Redis shows of an unknown command, and the same again of its arguments.
const ECHOED: usize = 128;

/// Why a request was not executed. `Display` writes the text of the reply without the leading `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    UnknownCommand(String),
    UnknownSubcommand { container: &'static str, name: String },
    WrongArity(&'static str),
    Syntax,
    NotAnInteger,
    InvalidExpire(&'static str),
    DatabaseOutOfRange,
    OutOfMemory,
    AuthenticationRequired,
    WrongPassword,
    NoPasswordConfigured,
    ClientName,
    ScriptFlushOption,
    NoScript,
    ForeignScript,
    ScriptArguments,
    NegativeKeyCount,
    TooManyKeys,
}

impl Refusal {
    /// Quotes the name and the first arguments, cut at the same length as in Redis.
    pub(super) fn unknown_command(name: &[u8], arguments: &[&[u8]]) -> Self {
        let mut text = format!("'{}', with args beginning with: ", echo(name, ECHOED));
        let start = text.len();
        for argument in arguments {
            let shown = text.len() - start;
            if shown >= ECHOED {
                break;
            }
            text.push('\'');
            text.push_str(&echo(argument, ECHOED - shown));
            text.push_str("' ");
        }
        Self::UnknownCommand(text)
    }

    pub(super) fn unknown_subcommand(container: &'static str, name: &[u8]) -> Self {
        Self::UnknownSubcommand { container, name: echo(name, ECHOED) }
    }
}

/// Returns the first `max` bytes of what a client has sent, as text.
fn echo(bytes: &[u8], max: usize) -> String {
    let shown = bytes.get(..max).unwrap_or(bytes);
    String::from_utf8_lossy(shown).into_owned()
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCommand(text) => write!(f, "ERR unknown command {text}"),
            Self::UnknownSubcommand { container, name } => {
                let help = container.to_ascii_uppercase();
                write!(f, "ERR unknown subcommand '{name}'. Try {help} HELP.")
            }
            Self::WrongArity(name) => {
                write!(f, "ERR wrong number of arguments for '{name}' command")
            }
            Self::InvalidExpire(name) => {
                write!(f, "ERR invalid expire time in '{name}' command")
            }
            Self::Syntax => f.write_str("ERR syntax error"),
            Self::NotAnInteger => f.write_str("ERR value is not an integer or out of range"),
            Self::DatabaseOutOfRange => f.write_str("ERR DB index is out of range"),
            Self::OutOfMemory => {
                f.write_str("OOM command not allowed when used memory > 'maxmemory'.")
            }
            Self::AuthenticationRequired => f.write_str("NOAUTH Authentication required."),
            Self::WrongPassword => {
                f.write_str("WRONGPASS invalid username-password pair or user is disabled.")
            }
            Self::NoPasswordConfigured => f.write_str(
                "ERR AUTH <password> called without any password configured for the default \
                 user. Are you sure your configuration is correct?",
            ),
            Self::ClientName => f.write_str(
                "ERR Client names cannot contain spaces, newlines or special characters.",
            ),
            Self::ScriptFlushOption => {
                f.write_str("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
            }
            Self::NoScript => f.write_str("NOSCRIPT No matching script. Please use EVAL."),
            Self::ForeignScript => {
                f.write_str("ERR the embedded master has no Lua and runs only redbolt's scripts")
            }
            Self::ScriptArguments => f.write_str("ERR this script needs more keys or arguments"),
            Self::NegativeKeyCount => f.write_str("ERR Number of keys can't be negative"),
            Self::TooManyKeys => {
                f.write_str("ERR Number of keys can't be greater than number of args")
            }
        }
    }
}
