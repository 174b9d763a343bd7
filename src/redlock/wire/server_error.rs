//! The meaning of error replies.
//!
//! Everything here serves one question: was the command executed? Only a definite no proves that
//! the command has made no key. An error that is not understood leaves the answer *unknown*.

use core::fmt;

/// The class of an error reply, by what the error says about the node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ServerError {
    /// `NOSCRIPT`: not executed; the script is not loaded.
    NoScript,
    /// `OOM`, `MISCONF`, `NOREPLICAS`, `BUSY`, `TRYAGAIN`, too many clients: not executed; the node
    /// cannot serve for the moment.
    Overloaded,
    /// `LOADING`, `READONLY`, `MASTERDOWN`: not executed; the node is loading its data, or is not a
    /// master.
    NotServing,
    /// `NOAUTH`, `WRONGPASS`, `NOPERM`, `DENIED`: not executed; somebody must change the
    /// configuration.
    Denied,
    /// `NOPERM` for the key alone: not executed; other keys are not affected.
    KeyDenied,
    /// A script may not run one of its commands: somebody must change the configuration. Whether
    /// the commands before that one were executed is unknown.
    ScriptDenied,
    /// `MOVED`, `ASK`, `CLUSTERDOWN`, `CROSSSLOT`: not executed; the node belongs to a Redis
    /// Cluster.
    Cluster,
    /// `WRONGTYPE`: not executed; the key holds somebody's data, which is not a lock.
    WrongType,
    /// An unknown command, or a syntax error: not executed; the server is too old, or is not a
    /// Redis.
    Unsupported,
    /// Any other error. Whether the command was executed is unknown.
    Other,
}

impl ServerError {
    /// Returns the class of an error reply, from its text without the leading `-`.
    pub fn classify(text: &[u8]) -> Self {
        let word = text.split(|byte| *byte == b' ').next().unwrap_or(text);
        match word {
            b"NOSCRIPT" => Self::NoScript,
            b"OOM" | b"MISCONF" | b"NOREPLICAS" | b"BUSY" | b"TRYAGAIN" => Self::Overloaded,
            b"LOADING" | b"READONLY" | b"MASTERDOWN" => Self::NotServing,
            b"NOPERM" if names_key(text) => Self::KeyDenied,
            b"NOAUTH" | b"WRONGPASS" | b"NOPERM" | b"DENIED" | b"-DENIED" => Self::Denied,
            b"MOVED" | b"ASK" | b"CLUSTERDOWN" | b"CROSSSLOT" => Self::Cluster,
            b"WRONGTYPE" => Self::WrongType,
            b"ERR" => Self::classify_generic(&text[word.len()..]),
            _ => Self::classify_in_script(text),
        }
    }

    /// Returns the class of an error from the sentence behind `ERR`, because `ERR` is no code. Only
    /// sentences that rule out execution are recognised. Any other sentence leaves the answer
    /// unknown.
    fn classify_generic(sentence: &[u8]) -> Self {
        let sentence = sentence.trim_ascii_start();
        let is = |start: &[u8]| {
            sentence.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
        };
        if is(b"unknown command") || is(b"unknown subcommand") || is(b"syntax error") {
            Self::Unsupported
        } else if is(b"operation not permitted") || is(b"invalid password") {
            Self::Denied
        } else if is(b"max number of clients reached") {
            Self::Overloaded
        } else if is(b"key should be of string type") {
            // Only `DELEX` reports a wrong type in these words.
            Self::WrongType
        } else {
            Self::classify_in_script(sentence)
        }
    }

    /// Returns the class of an error of a command that a script has called. The sentence may stand
    /// behind another one, about the place in the script.
    fn classify_in_script(text: &[u8]) -> Self {
        let has = |words: &[u8]| memchr::memmem::find(text, words).is_some();
        // The first is of Redis up to 7.0, the second of Redis 7.2 and of Valkey.
        let is_denied = has(b"can't run this command") || has(b"ACL failure in script");
        if is_denied && !names_key(text) { Self::ScriptDenied } else { Self::Other }
    }

    /// Returns whether the same request may succeed soon, without anybody changing anything.
    pub(crate) const fn is_passing(self) -> bool {
        matches!(self, Self::NotServing | Self::Overloaded)
    }

    /// Returns whether the error proves that the command was not executed.
    pub const fn ruled_out_execution(self) -> bool {
        !matches!(self, Self::Other | Self::ScriptDenied)
    }
}

impl core::error::Error for ServerError {}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoScript => "the script is not loaded",
            Self::Overloaded => "the server cannot serve for the moment",
            Self::NotServing => "the server is loading or is not a master",
            Self::Denied => "access is denied",
            Self::KeyDenied => "access to the key is denied",
            Self::ScriptDenied => "a command of a script is denied",
            Self::Cluster => "the server is a node of a cluster",
            Self::WrongType => "the key holds data that is not a lock",
            Self::Unsupported => "the server does not know the command",
            Self::Other => "the server answered with an error",
        })
    }
}

/// What a server complains of, where that is finer than the class of the error and asks for another
/// remedy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Complaint {
    /// `NOAUTH`: the server wants a login, and was given none.
    LoginMissing,
    /// `WRONGPASS`, or its older form: the user or the password is wrong.
    LoginWrong,
    /// A password was given, and the server has none.
    LoginUnwanted,
    /// The server has no database of this number.
    DatabaseUnknown,
    /// `DENIED`: the server runs in protected mode, and takes only its own machine.
    ProtectedMode,
    /// `OOM`: the memory of the server is full.
    MemoryFull,
    /// `MISCONF`: the server cannot save its data.
    PersistenceBroken,
    /// `NOREPLICAS`: the server has fewer replicas than it wants.
    ReplicasMissing,
    /// The server has as many clients as it takes.
    ClientsFull,
    /// `BUSY`: a script hangs.
    ScriptHangs,
}

impl Complaint {
    /// Returns what an error reply complains of, from its text without the leading `-`.
    pub fn read(text: &[u8]) -> Option<Self> {
        let word = text.split(|byte| *byte == b' ').next().unwrap_or(text);
        Some(match word {
            b"NOAUTH" => Self::LoginMissing,
            b"WRONGPASS" => Self::LoginWrong,
            b"DENIED" | b"-DENIED" => Self::ProtectedMode,
            b"OOM" => Self::MemoryFull,
            b"MISCONF" => Self::PersistenceBroken,
            b"NOREPLICAS" => Self::ReplicasMissing,
            b"BUSY" => Self::ScriptHangs,
            b"ERR" => return Self::read_generic(&text[word.len()..]),
            _ => return None,
        })
    }

    /// Reads the sentence behind `ERR`.
    fn read_generic(sentence: &[u8]) -> Option<Self> {
        let sentence = sentence.to_ascii_lowercase();
        let has = |words: &[u8]| memchr::memmem::find(&sentence, words).is_some();
        if has(b"db index") {
            Some(Self::DatabaseUnknown)
        } else if has(b"without any password") || has(b"no password is set") {
            Some(Self::LoginUnwanted)
        } else if has(b"invalid password") {
            Some(Self::LoginWrong)
        } else if has(b"operation not permitted") {
            Some(Self::LoginMissing)
        } else if has(b"max number of clients reached") {
            Some(Self::ClientsFull)
        } else {
            None
        }
    }
}

/// Returns whether a `NOPERM` is about the key. The texts are "No permissions to access a key", and
/// before Redis 7.2 "this user has no permissions to access one of the keys used as arguments".
/// About a command, Redis writes "run" and not "access".
pub(super) fn names_key(text: &[u8]) -> bool {
    let has = |words: &[u8]| memchr::memmem::find(text, words).is_some();
    has(b" access ") && has(b" key")
}

#[cfg(test)]
mod tests;
