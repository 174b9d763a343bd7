//! A question to all threads of a client, with one answer: the last thread leaves the whole.

use std::sync::Arc;

use super::error::ClientError;
use super::oneshot::Oneshot;
use super::sync::{Mutex, lock};

/// What the answers of several threads can be put together from.
pub(super) trait Merge: Default {
    /// Adds the answer of another thread. A default value is the answer of no thread.
    fn merge(&mut self, other: Self);
}

pub(super) struct Survey<T> {
    pub(super) answer: Arc<Oneshot<Result<T, ClientError>>>,
    answers: Mutex<Answers<T>>,
}

struct Answers<T> {
    missing: usize,
    whole: T,
}

impl<T: Merge> Survey<T> {
    pub(super) fn of(threads: usize) -> Self {
        let answers = Answers { missing: threads, whole: T::default() };
        Self { answer: Arc::new(Oneshot::new()), answers: Mutex::new(answers) }
    }

    /// Adds the answer of one thread. Returns the whole if no other thread is missing.
    pub(super) fn add(&self, answer: T) -> Option<T> {
        let mut answers = lock(&self.answers);
        answers.whole.merge(answer);
        answers.missing -= 1;
        (answers.missing == 0).then(|| core::mem::take(&mut answers.whole))
    }
}
