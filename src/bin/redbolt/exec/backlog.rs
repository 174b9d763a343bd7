//! The messages that wait to be written, up to a bound.

use std::collections::VecDeque;

/// How many messages wait at most. A reader that is slow, and not stuck, misses none of those that
/// a run usually has.
pub(super) const BOUND: usize = 256;

/// A queue that takes every message at once and never grows past [`BOUND`]. The messages that do
/// not fit are left out, and their number takes their place.
#[derive(Default)]
pub(super) struct Backlog {
    lines: VecDeque<Entry>,
    left_out: u64,
}

/// What is to be written next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    Line(String),
    /// So many messages were left out here.
    LeftOut(u64),
}

impl Backlog {
    pub(super) fn push(&mut self, line: String) {
        // The number needs a place as well.
        let need = 1 + usize::from(self.left_out > 0);
        if self.lines.len() + need > BOUND {
            self.left_out += 1;
            return;
        }
        self.tell_left_out();
        self.lines.push_back(Entry::Line(line));
    }

    pub(super) fn pop(&mut self) -> Option<Entry> {
        if self.lines.is_empty() {
            self.tell_left_out();
        }
        self.lines.pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.left_out == 0
    }

    fn tell_left_out(&mut self) {
        if self.left_out > 0 {
            self.lines.push_back(Entry::LeftOut(self.left_out));
            self.left_out = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: usize) -> Entry {
        Entry::Line(number.to_string())
    }

    fn filled(messages: usize) -> Backlog {
        let mut backlog = Backlog::default();
        (0..messages).for_each(|number| backlog.push(number.to_string()));
        backlog
    }

    #[test]
    fn messages_keep_their_order_and_none_is_left_out_below_the_bound() {
        let mut backlog = filled(BOUND);
        assert!((0..BOUND).all(|number| backlog.pop() == Some(line(number))));
        assert!(backlog.is_empty() && backlog.pop().is_none());
    }

    #[test]
    fn messages_beyond_the_bound_are_counted_where_they_would_have_been() {
        let mut backlog = filled(BOUND + 3);
        assert_eq!(backlog.lines.len(), BOUND);
        assert_eq!(backlog.pop(), Some(line(0)));
        // One place, which the number and the message would both need.
        backlog.push("late".to_owned());
        assert_eq!(backlog.pop(), Some(line(1)));
        backlog.push("on time".to_owned());
        assert_eq!(backlog.lines.len(), BOUND);
        let rest: Vec<_> = (2..BOUND).map(line).collect();
        assert!(rest.into_iter().all(|line| backlog.pop() == Some(line)));
        assert_eq!(backlog.pop(), Some(Entry::LeftOut(4)));
        assert_eq!(backlog.pop(), Some(Entry::Line("on time".to_owned())));
        assert!(backlog.is_empty());
    }

    #[test]
    fn what_was_left_out_is_told_although_nothing_follows() {
        let mut backlog = filled(BOUND + 1);
        (0..BOUND).for_each(|_| _ = backlog.pop());
        assert!(!backlog.is_empty());
        assert_eq!((backlog.pop(), backlog.pop()), (Some(Entry::LeftOut(1)), None));
    }
}
