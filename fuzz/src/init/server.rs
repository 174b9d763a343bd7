//! A server that an operator visits, in a thread of its own.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use bytes::BytesMut;
use redbolt::Clock;
use redbolt::embedded::{Master, Session};
use redbolt::redlock::{CLOSE, REOPEN};
use redbolt::resp::{self, Status, Value};

use super::super::commands::command;
use super::super::handshake::record::{Question, Record};
use super::super::handshake::tale::Tale;
use super::super::handshake::{PASSWORD, is_in};

/// What stands in a witness or in a time, and what no script writes there.
const WORDS: [&str; 9] =
    ["", "0", "-1", "1", "3", "10000", "90000", "18446744073709551615", "18446744073709551616"];

/// What a server will say on its only connection.
pub(super) struct Plan {
    pub(super) master: usize,
    /// The commands that get another reply, by their number.
    untrue: Vec<(usize, Untrue)>,
    /// The number of the command before which the server hangs up.
    end: Option<usize>,
    /// The visitor only asks, in an order of its own.
    is_asked: bool,
}

enum Untrue {
    Tale(Tale),
    /// Another word at this place of a text or of an array.
    Word(usize, &'static str),
}

/// What the servers of one visit share.
#[derive(Clone, Copy)]
pub(super) struct Times<'a> {
    /// How far the clocks of the masters are ahead of ours.
    pub(super) ahead: Duration,
    /// Counts what happens, for an order over all servers.
    pub(super) deeds: &'a AtomicUsize,
}

/// What a server has heard and said.
pub(super) struct Heard {
    pub(super) master: usize,
    /// What was said until the inspection was over.
    pub(super) record: Record,
    /// The inspection is over, and the words prove what they must.
    pub(super) is_proven: bool,
    /// The server has told of a witness.
    pub(super) has_witness: bool,
    /// How many of the keys the server has told to be labels of clients.
    labels: i64,
    /// The number of other keys that the server has told.
    pub(super) keys: Option<i64>,
    /// A command came that writes.
    pub(super) is_ordered: bool,
    /// The order was answered as the scripts answer.
    pub(super) has_obeyed: bool,
    pub(super) is_told_to_close: bool,
    /// When the server said that it is closed, and when the order came to open it, in the order of
    /// deeds.
    pub(super) closed: Option<usize>,
    pub(super) opened: Option<usize>,
}

/// The parts of a visit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Handshake,
    Witness,
    Stamp,
    Time,
    Labels,
    Keys,
    Order,
    Close,
}

struct Server<'a> {
    master: &'a Mutex<Master>,
    session: Session,
    plan: Plan,
    times: Times<'a>,
    input: Vec<u8>,
    /// The bytes that were said and are not yet a whole reply.
    told: Vec<u8>,
    asked: Vec<Part>,
    /// The number of answers.
    answered: usize,
    heard: Heard,
}

impl Plan {
    pub(super) fn choose(script: &mut Unstructured<'_>, node: usize) -> Result<Self> {
        let mut untrue = Vec::new();
        for _ in 0..script.int_in_range(0..=2)? {
            let at = script.int_in_range(0..=31)?;
            untrue.push((at, Untrue::choose(script)?));
        }
        let end = if script.ratio(1, 8)? { Some(script.int_in_range(0..=31)?) } else { None };
        Ok(Self { master: node, untrue, end, is_asked: false })
    }

    /// What is said to a visitor who only asks: the truth if the script is over.
    pub(super) fn asked(script: &mut Unstructured<'_>, node: usize) -> Result<Self> {
        let truth = Self { master: node, untrue: Vec::new(), end: None, is_asked: true };
        if script.is_empty() {
            return Ok(truth);
        }
        Ok(Self { is_asked: true, ..Self::choose(script, node)? })
    }
}

impl Untrue {
    fn choose(script: &mut Unstructured<'_>) -> Result<Self> {
        if script.ratio(1, 3)? {
            return Ok(Self::Word(script.int_in_range(0..=6)?, script.choose(&WORDS)?));
        }
        Ok(Self::Tale(Tale::choose(script)?))
    }

    fn tell(self, part: Part, question: Question, honest: &[u8]) -> Vec<u8> {
        match self {
            Self::Tale(tale) => {
                let is_order = matches!(part, Part::Order | Part::Close);
                tale.tell(if is_order { Question::Look } else { question }, honest)
            }
            Self::Word(place, word) => other_word(place, word, honest),
        }
    }
}

/// Serves one visitor.
pub(super) fn attend(
    listener: &TcpListener,
    master: &Mutex<Master>,
    plan: Plan,
    met: &AtomicBool,
    times: Times<'_>,
) -> Heard {
    let mut server = Server::new(master, plan, times);
    if let Ok((mut stream, _)) = listener.accept() {
        met.store(true, Ordering::Release);
        server.serve(&mut stream);
        // A visitor who resets the connection leaves no port in use.
        let _ = stream.shutdown(Shutdown::Write);
        while stream.read(&mut [0; 1024]).is_ok_and(|len| len > 0) {}
    }
    server.heard
}

impl<'a> Server<'a> {
    fn new(master: &'a Mutex<Master>, plan: Plan, times: Times<'a>) -> Self {
        let heard = Heard {
            master: plan.master,
            record: Record::default(),
            is_proven: false,
            has_witness: false,
            labels: 0,
            keys: None,
            is_ordered: false,
            has_obeyed: false,
            is_told_to_close: false,
            closed: None,
            opened: None,
        };
        let (session, input, told) = (Session::default(), Vec::new(), Vec::new());
        Self { master, session, plan, times, input, told, asked: Vec::new(), answered: 0, heard }
    }

    fn serve(&mut self, stream: &mut TcpStream) {
        let mut buffer = [0; 16 * 1024];
        while let Ok(len @ 1..) = stream.read(&mut buffer) {
            self.input.extend_from_slice(&buffer[..len]);
            let (replies, is_over) = self.answer();
            if stream.write_all(&replies).is_err() || is_over {
                return;
            }
        }
    }

    /// Answers all whole commands. Returns the replies, and whether the server hangs up.
    fn answer(&mut self) -> (Vec<u8>, bool) {
        let (mut done, mut replies) = (0, Vec::new());
        let input = core::mem::take(&mut self.input);
        while let Some((words, used)) = command(&input[done..]) {
            if self.plan.end == Some(self.asked.len()) {
                return (replies, true);
            }
            let reply = self.reply(&words);
            self.told.extend_from_slice(&reply);
            replies.extend(reply);
            done += used;
        }
        self.input = input[done..].to_vec();
        self.hear();
        // Whoever has had fewer answers than questions would wait until the time is up.
        let is_short = self.answered < self.asked.len();
        let is_last = self.plan.is_asked
            || matches!(self.asked.last(), Some(Part::Keys | Part::Order | Part::Close));
        (replies, is_last && is_short)
    }

    /// Executes a command. Returns the reply, true or not.
    fn reply(&mut self, words: &[&[u8]]) -> Vec<u8> {
        let part = match words {
            _ if self.plan.is_asked => Part::Handshake,
            [_, text, ..] if *text == CLOSE.text.as_bytes() => Part::Close,
            _ if self.asked.contains(&Part::Keys) => Part::Order,
            [b"GET", _] if self.asked.contains(&Part::Witness) => Part::Stamp,
            [b"GET", _] => Part::Witness,
            [b"TIME"] => Part::Time,
            [b"EVAL", _, b"0", begin] if is_in(begin, b"redbolt:label:") => Part::Labels,
            [b"DBSIZE"] => Part::Keys,
            _ => Part::Handshake,
        };
        let has_password = words.iter().any(|word| is_in(word, PASSWORD.as_bytes()));
        let may_have = words[0] == b"AUTH" && self.asked.is_empty();
        assert!(!has_password || may_have, "a password leaves");
        let question = Question::of(words);
        if matches!(part, Part::Order | Part::Close) {
            self.heard.is_ordered = true;
            self.heard.is_told_to_close |= part == Part::Close;
            if words[1] == REOPEN.text.as_bytes() {
                self.heard.opened = self.heard.opened.or_else(|| Some(self.deed()));
            }
        } else {
            self.heard.record.ask(question);
        }
        let mut out = BytesMut::new();
        let mut master = self.master.lock().expect("no server has panicked");
        master.apply(Clock::now() + self.times.ahead, &mut self.session, words, &mut out);
        let number = self.asked.len();
        self.asked.push(part);
        match self.plan.untrue.iter().position(|(at, _)| *at == number) {
            Some(place) => self.plan.untrue.swap_remove(place).1.tell(part, question, &out),
            None => out.to_vec(),
        }
    }

    /// Returns the number of this deed, among those of all servers.
    fn deed(&self) -> usize {
        self.times.deeds.fetch_add(1, Ordering::AcqRel)
    }

    /// Notes the whole replies that were said, once all questions of the inspection are known.
    fn hear(&mut self) {
        if !self.plan.is_asked && !self.asked.contains(&Part::Keys) {
            return;
        }
        let mut done = 0;
        while let Ok(Status::Complete((value, used))) = resp::parse(&self.told[done..]) {
            let heard = &mut self.heard;
            if matches!(value, Value::Push(_)) {
                heard.record.hear(&value);
                done += used;
                continue;
            }
            // One reply too many is taken for the answer to the next question.
            let Some(part) = self.asked.get(self.answered) else { break };
            (done, self.answered) = (done + used, self.answered + 1);
            if !matches!(part, Part::Order | Part::Close) {
                heard.record.hear(&value);
            }
            match (part, &value) {
                (Part::Witness, Value::Bulk(_)) => heard.has_witness = true,
                (Part::Labels, Value::Integer(labels)) => heard.labels = *labels,
                // Whoever may not ask for the keys can do without.
                (Part::Keys, Value::Integer(_) | Value::Error(_) | Value::BulkError(_)) => {
                    if let Value::Integer(keys) = value {
                        heard.keys = Some(keys.saturating_sub(heard.labels));
                    }
                    heard.is_proven = heard.record.is_proven();
                }
                (Part::Close, Value::Array(fields)) if fields.len() == 2 => {
                    if matches!(fields.clone().next(), Some(Value::Integer(0))) {
                        let deed = self.times.deeds.fetch_add(1, Ordering::AcqRel);
                        heard.closed = heard.closed.or(Some(deed));
                    }
                }
                (Part::Order, Value::Array(fields)) => heard.has_obeyed = fields.len() == 12,
                _ => {}
            }
        }
        self.told.drain(..done);
    }
}

/// Returns a text or an array of texts with another word. Any other reply stays.
fn other_word(place: usize, word: &str, honest: &[u8]) -> Vec<u8> {
    let mut told = BytesMut::new();
    match resp::parse(honest) {
        Ok(Status::Complete((Value::Bulk(text), _))) => {
            let words = text.split(|byte| *byte == b' ').enumerate();
            let words = words.map(|(at, old)| if at == place { word.as_bytes() } else { old });
            resp::bulk(&mut told, &words.collect::<Vec<_>>().join(&b' '));
        }
        Ok(Status::Complete((Value::Array(parts), _))) => {
            resp::array_header(&mut told, parts.len());
            for (at, part) in parts.enumerate() {
                match part {
                    Value::Bulk(_) | Value::Integer(_) if at == place => {
                        resp::bulk(&mut told, word.as_bytes())
                    }
                    Value::Bulk(old) => resp::bulk(&mut told, old),
                    Value::Integer(old) => resp::integer(&mut told, old),
                    _ => return honest.to_vec(),
                }
            }
        }
        _ => return honest.to_vec(),
    }
    told.to_vec()
}
