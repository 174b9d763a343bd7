//! The operations that are counted.

use std::hint::black_box;

use redbolt::redlock::Ask;
use redbolt::resp::{Parser, Status, Value};

use crate::cycles::Cycles;
use crate::flow::Flow;
use crate::replies::{GROUP, Replies, in_groups, mark, one_by_one};

pub(crate) struct Work {
    pub(crate) name: &'static str,
    /// Prepares, runs so many rounds, and returns the number of operations in them.
    work: fn(rounds: usize) -> usize,
}

/// All operations: reading a reply, and a cycle of acquisition and release over five nodes.
pub(crate) const WORK: [Work; 6] = [
    Work { name: "parse-one-by-one", work: |rounds| parse(one_by_one(1000), rounds) },
    Work { name: "parse-in-groups", work: |rounds| parse(in_groups(8), rounds) },
    Work { name: "cycle-alone", work: |rounds| cycle(1, rounds) },
    Work { name: "cycle-in-groups", work: |rounds| cycle(GROUP, rounds) },
    Work { name: "cycle-512-in-flight", work: |rounds| flow(Ask::All, rounds) },
    Work { name: "cycle-512-by-majority", work: |rounds| flow(Ask::Majority, rounds) },
];

pub(crate) fn find(name: &str) -> &'static Work {
    WORK.iter().find(|work| work.name == name).expect("it is one of the list")
}

impl Work {
    pub(crate) fn run(&self, rounds: usize) -> usize {
        (self.work)(rounds)
    }
}

/// Reads the replies and looks at each value, as the core does.
fn parse(replies: Replies, rounds: usize) -> usize {
    let mut parser = Parser::new();
    for _ in 0..rounds {
        let mut rest = &black_box(&replies.bytes)[..];
        let mut marks = 0_u64;
        while let Ok(Status::Complete((value, used))) = parser.parse(rest) {
            rest = &rest[used..];
            if let Value::Array(answers) = value {
                marks = marks.wrapping_add(mark(b'*', answers.len() as u64));
                answers.for_each(|answer| marks = marks.wrapping_add(mark_of(&answer)));
            } else {
                marks = marks.wrapping_add(mark_of(&value));
            }
        }
        assert_eq!((rest, marks), (&[][..], replies.mark));
    }
    rounds * replies.count
}

fn mark_of(value: &Value<'_>) -> u64 {
    match value {
        Value::Simple(text) => mark(b'+', text.len() as u64),
        Value::Integer(integer) => mark(b':', *integer as u64),
        _ => mark(b'_', 0),
    }
}

fn cycle(in_flight: usize, rounds: usize) -> usize {
    let mut cycles = Cycles::new(5, in_flight);
    (0..rounds).map(|_| cycles.run()).sum()
}

/// A round here has as many cycles as many of the other rounds.
fn flow(ask: Ask, rounds: usize) -> usize {
    let mut flow = Flow::new(5, 512, ask);
    (0..rounds.div_ceil(20)).map(|_| flow.run()).sum()
}
