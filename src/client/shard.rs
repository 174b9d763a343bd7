//! One thread of a client, as the other threads see the thread: started, given commands, stopped,
//! joined.

use core::time::Duration;
use std::sync::Arc;
use std::thread::{self, JoinHandle, ThreadId};

use super::command::Command;
use super::mailbox::Mailbox;
use super::pending::PendingAnswer;
use super::runtime;
use super::shutdown::ShutdownReport;
use super::sync::{Mutex, lock};
use super::thread_end::ThreadEnd;
use super::worker::Worker;
use crate::engine::{Board, Config, Engine, EngineError};

pub(super) struct Shard {
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) end: Arc<ThreadEnd>,
    thread: ThreadId,
    /// `None` once the thread was joined.
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl Shard {
    /// Starts the thread with this number. The threads of a client share `board`.
    pub(super) fn start(config: Config, number: usize, board: &Board) -> Result<Self, EngineError> {
        let max = config.redlock.max_locks;
        let engine = Engine::on_board(config, board)?;
        let mailbox = Arc::new(Mailbox::new(max, engine.waker()));
        let end = Arc::new(ThreadEnd::new());
        let worker = Worker::new(engine, Arc::clone(&mailbox), Arc::clone(&end));
        let handle = thread::Builder::new()
            .name(format!("redbolt-{number}"))
            .spawn(move || {
                runtime::belong_to_engine();
                worker.run();
            })
            .map_err(EngineError::Io)?;
        let thread = handle.thread().id();
        Ok(Self { mailbox, end, thread, handle: Mutex::new(Some(handle)) })
    }

    /// Tells the thread to stop within `timeout`, or within a longer time if another caller has
    /// asked for more. The answer comes when the thread ends, whatever ends it. Returns `None` if
    /// the thread has ended.
    pub(super) fn stop(&self, timeout: Duration) -> Option<PendingAnswer<ShutdownReport>> {
        let (ended, must_be_told) = self.end.wait(timeout)?;
        if must_be_told {
            // A thread that is stopping already refuses the command, and ends all the same.
            let _ = self.mailbox.push_always(Command::Shutdown(timeout));
        }
        Some(ended)
    }

    /// Joins a thread that has ended, once.
    pub(super) fn join(&self) {
        if let Some(thread) = lock(&self.handle).take() {
            // A thread that panicked has printed its panic.
            let _ = thread.join();
        }
    }

    /// Returns whether the caller runs on this thread.
    pub(super) fn is_here(&self) -> bool {
        self.thread == thread::current().id()
    }
}
