//! What a [`Rig`] sends and receives: commands as words, answers as bytes.

use core::mem;

use super::looked_at::{is_look, is_unseen, ticket_of};
use super::words::{short, word};
use super::*;

impl Rig {
    /// Returns what has left for a node since the last look, one string of words per command.
    /// Tokens show as `#` and the number of the attempt, scripts by name.
    pub(super) fn sent(&mut self, index: usize) -> Vec<String> {
        self.transmit(index);
        mem::take(&mut self.outputs[index])
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
            let is_aside = match ticket_of(&words) {
                Some(_) => self.ticket.is_some(),
                None => words[0] == "PTTL" && self.ttl.is_some(),
            };
            let is_look =
                is_door || is_aside || is_unseen(&words) || is_look(&words) && self.answers_looks;
            let opts_in = words[..2] == ["CLIENT", "CACHING"];
            let opted_in = mem::replace(&mut self.opts_in[index][0], opts_in);
            if !is_look {
                if words[0] == "GETRANGE" {
                    self.opts_in[index][1] = opted_in;
                }
                let words = words.iter().map(|word| short(word)).collect::<Vec<_>>();
                let begin = if opted_in && self.shows_opt_ins { "OPTIN " } else { "" };
                self.outputs[index].push(format!("{begin}{}", words.join(" ")));
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
                words if ticket_of(words).is_some() => {
                    let words = words.to_vec();
                    self.answer_ticket(&words)
                }
                [pttl, ..] if pttl == "PTTL" => self.ttl.expect("it is answered here").to_owned(),
                words => self.masters[index].answer(self.now, words),
            };
            self.receive(index, &reply);
            self.transmit(index);
        }
    }

    fn answer_ticket(&mut self, words: &[String]) -> String {
        let [first, second] = self.ticket.expect("it is answered here");
        let number = ticket_of(words).expect("it is about a ticket");
        match &words[0][..] {
            "SET" if number == self.ticket_number.wrapping_add(1) => second.to_owned(),
            "SET" => {
                self.ticket_number = number;
                first.to_owned()
            }
            "PTTL" => ":30000".to_owned(),
            _ => ":1".to_owned(),
        }
    }

    /// Returns whether the next answer of a node is one about a ticket or the end of a key, which
    /// is answered at once.
    pub(super) fn owes_aside(&mut self, index: usize) -> bool {
        if self.opens_doors {
            return false;
        }
        self.transmit(index);
        let is_aside = |words: &[String]| ticket_of(words).is_some() || words[0] == "PTTL";
        self.owed[index].front().is_some_and(|words| words.as_deref().is_some_and(is_aside))
    }

    pub(super) fn has_output(&mut self, index: usize) -> bool {
        self.transmit(index);
        !self.outputs[index].is_empty()
    }

    /// Lets a node answer what has left for it. The final CRLF is added.
    pub(super) fn reply(&mut self, index: usize, reply: &str) {
        if reply.starts_with("$20") {
            self.seen = reply.to_owned();
        }
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
