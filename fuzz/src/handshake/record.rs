//! What one server has said on one connection, read without the code of the core.

use std::collections::{BTreeMap, VecDeque};

use redbolt::redlock::{ACQUIRE_SET, LOOK, PROBE, Script};
use redbolt::resp::Value;

use super::is_in;

/// All that was asked and answered on one connection.
#[derive(Default)]
pub(crate) struct Record {
    asked: VecDeque<Question>,
    /// How many questions were asked, and how many of them answered.
    count: usize,
    answered: usize,
    /// The server said that all keys are gone, when this many questions had been asked.
    doubt: Option<usize>,
    /// The lines of all sections of `INFO`; the last word counts.
    fields: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The process behind the connection, as the handshake said.
    process: Option<Vec<u8>>,
    /// There was a reply with which no handshake can be good.
    is_spoilt: bool,
    /// Whether the server was ever asked for its witness, and told.
    pub(crate) has_testified: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Question {
    Login,
    Info,
    Load,
    Probe,
    Look,
    /// A question whose answer decides nothing here.
    Aside,
    /// A request for a lock.
    Take,
    /// Any other request about locks.
    Lock,
}

impl Question {
    pub(crate) fn of(words: &[&[u8]]) -> Self {
        let calls = |script: Script| {
            let names = [script.sha.as_bytes(), script.text.as_bytes()];
            matches!(words, [b"EVAL" | b"EVALSHA", name, ..] if names.contains(name))
        };
        match words {
            [b"AUTH", ..] | [b"SELECT", _] => Self::Login,
            [b"INFO", _] => Self::Info,
            [b"SCRIPT", b"LOAD", _] => Self::Load,
            // The label of a client is no lock.
            [b"SET", key, ..] if is_in(key, b"redbolt:") => Self::Aside,
            [b"EVAL", _, b"0", begin] if is_in(begin, b"redbolt:label:") => Self::Aside,
            [b"SET", ..] => Self::Take,
            [b"EVAL" | b"EVALSHA", ..] if calls(ACQUIRE_SET) => Self::Take,
            [b"EVAL" | b"EVALSHA", ..] if calls(PROBE) => Self::Probe,
            [b"EVAL" | b"EVALSHA", ..] if calls(LOOK) => Self::Look,
            [b"EVAL" | b"EVALSHA" | b"DELIFEQ" | b"DELEX", ..] => Self::Lock,
            _ => Self::Aside,
        }
    }

    fn is_about_locks(self) -> bool {
        matches!(self, Self::Take | Self::Lock)
    }
}

impl Record {
    pub(crate) fn ask(&mut self, question: Question) {
        self.asked.push_back(question);
        self.count += 1;
    }

    /// Notes the next reply.
    pub(crate) fn hear(&mut self, value: &Value<'_>) {
        if let Value::Push(words) = value {
            let words: Vec<_> = words.clone().take(2).collect();
            if matches!(words[..], [Value::Bulk(b"invalidate"), Value::Null]) {
                self.doubt = Some(self.count);
            }
            return;
        }
        let Some(question) = self.asked.pop_front() else { return self.is_spoilt = true };
        let is_asked_later = self.doubt.is_some_and(|doubt| self.answered >= doubt);
        if is_asked_later && matches!(question, Question::Look | Question::Info) {
            self.doubt = None;
        }
        self.answered += 1;
        let is_error = matches!(value, Value::Error(_) | Value::BulkError(_));
        match (question, value) {
            (Question::Login, Value::Simple(b"OK")) => {}
            (Question::Login, _) => self.is_spoilt = true,
            (Question::Info, Value::Bulk(text) | Value::Verbatim { text, .. }) => self.read(text),
            // A session goes on with a node that cannot answer a look for the moment.
            (Question::Info, _) => self.is_spoilt |= self.process.is_none() || !is_error,
            (Question::Load, Value::Bulk(_)) => {}
            (Question::Load | Question::Look, _) if is_error => {}
            (Question::Load, _) => self.is_spoilt = true,
            (
                Question::Probe,
                Value::Error(b"NOPERM this user has no permissions to run the 'set' command"),
            ) => {
                self.is_spoilt = true;
            }
            (Question::Look, Value::Array(fields)) => {
                self.has_testified = true;
                if let Some(Value::Bulk(text)) = fields.clone().last() {
                    self.read(text);
                }
            }
            (Question::Look, _) => self.is_spoilt = true,
            (Question::Probe | Question::Aside | Question::Take | Question::Lock, _) => {}
        }
        if self.process.is_none() && !self.is_open() {
            self.process = Some(self.field(b"run_id").to_vec());
        }
    }

    fn read(&mut self, text: &[u8]) {
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii_end();
            if let Some(colon) = line.iter().position(|byte| *byte == b':') {
                let field = match &line[..colon] {
                    b"server_mode" => b"redis_mode",
                    field => field,
                };
                self.fields.insert(field.to_vec(), line[colon + 1..].to_vec());
            }
        }
    }

    fn field(&self, name: &[u8]) -> &[u8] {
        self.fields.get(name).map_or(b"", Vec::as_slice)
    }

    /// Returns whether the server still has to answer a question about itself.
    pub(crate) fn is_open(&self) -> bool {
        self.asked.iter().any(|question| !question.is_about_locks())
    }

    /// Returns whether the server has said that its keys are gone, and was not asked since.
    pub(crate) fn is_doubted(&self) -> bool {
        self.doubt.is_some()
    }

    pub(crate) fn process(&self) -> Option<&[u8]> {
        self.process.as_deref()
    }

    /// Returns whether the server has proved, in its last words, that it is a master which keeps
    /// its keys.
    pub(crate) fn is_proven(&self) -> bool {
        let is_number =
            |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| text.parse::<u64>().is_ok());
        let memory = self.field(b"maxmemory");
        let keeps = match self.field(b"maxmemory_policy") {
            b"noeviction" => is_number(memory),
            // A policy that was not told.
            b"" => is_number(memory) && memory.iter().all(|byte| matches!(byte, b'0' | b'+')),
            _ => false,
        };
        !self.is_spoilt
            && keeps
            && self.process.is_some()
            && self.field(b"run_id").len() == 40
            && self.field(b"redis_mode") == b"standalone"
            && self.field(b"role") == b"master"
            && self.field(b"loading") == b"0"
    }
}
