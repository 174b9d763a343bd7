//! What a [`Rig`] sends and receives: commands as words, answers as bytes.

use super::looked_at::{is_look, is_ticket, is_unseen};
use super::words::{short, word};
use super::*;

impl Rig {
    /// Returns what has left for a node since the last look, one string of words per command.
    /// Tokens show as `#` and the number of the attempt, scripts by name.
    pub(super) fn sent(&mut self, index: usize) -> Vec<String> {
        self.transmit(index);
        core::mem::take(&mut self.outputs[index])
    }

    /// Takes the bytes that wait for a node.
    pub(super) fn transmit(&mut self, index: usize) {
        let bytes = self.redlock.poll_transmit(self.now, node(index)).unwrap_or_default().to_vec();
        self.redlock.handle_sent(node(index), bytes.len());
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let Ok(Status::Complete((Value::Array(parts), used))) = Parser::new().parse(rest)
            else {
                panic!("the machine sent what is no command: {:?}", rest.escape_ascii());
            };
            let words: Vec<_> = parts.map(|part| word(&part)).collect();
            let is_door = words[0] == "GETRANGE" && self.opens_doors;
            let is_aside = is_ticket(&words) && self.ticket.is_some()
                || words[0] == "PTTL" && self.ttl.is_some();
            let is_look =
                is_door || is_aside || is_unseen(&words) || is_look(&words) && self.answers_looks;
            if !is_look {
                let words = words.iter().map(|word| short(word)).collect::<Vec<_>>();
                self.outputs[index].push(words.join(" "));
            }
            self.owed[index].push_back(is_look.then_some(words));
            rest = &rest[used..];
        }
    }

    /// Answers the looks at a node that are next to be answered.
    pub(super) fn answer_looks(&mut self, index: usize) {
        self.transmit(index);
        while let Some(Some(words)) = self.owed[index].front() {
            let reply = match &words[..] {
                [get, ..] if get == "GETRANGE" => NOBODY.to_owned(),
                words if is_ticket(words) => self.ticket.expect("it is answered here").to_owned(),
                [pttl, ..] if pttl == "PTTL" => self.ttl.expect("it is answered here").to_owned(),
                words => self.masters[index].answer(self.now, words),
            };
            self.receive(index, &reply);
            self.transmit(index);
        }
    }

    /// Returns whether the next answer of a node is one about a ticket or the end of a key, which
    /// is answered at once.
    pub(super) fn owes_aside(&mut self, index: usize) -> bool {
        if self.opens_doors {
            return false;
        }
        self.transmit(index);
        let is_aside = |words: &[String]| is_ticket(words) || words[0] == "PTTL";
        self.owed[index].front().is_some_and(|words| words.as_deref().is_some_and(is_aside))
    }

    pub(super) fn has_output(&mut self, index: usize) -> bool {
        self.transmit(index);
        !self.outputs[index].is_empty()
    }

    /// Lets a node answer what has left for it. The final CRLF is added.
    pub(super) fn reply(&mut self, index: usize, reply: &str) {
        self.answer_looks(index);
        self.receive(index, reply);
        if self.owed[index].front().is_some_and(Option::is_some) {
            self.answer_looks(index);
        }
    }

    pub(super) fn receive(&mut self, index: usize, reply: &str) {
        let bytes = format!("{reply}\r\n");
        self.owed[index].pop_front();
        let done = self.redlock.handle_received(self.now, node(index), bytes.as_bytes());
        assert_eq!(done, bytes.len(), "all of {reply:?} is one reply");
        self.run_actions();
    }
}
