//! A closer look at nodes that keep a lock from everybody without a quorum.
//!
//! A query of the engine adds up what all nodes say, and tells the time that is left to a value
//! only where a quorum has that value. [`Who`] tells what each node has.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use redbolt::{Config, Engine, RestartGuard, Who, WhoResource};

use crate::nodes::time_to_answer;

/// How long the nodes may take to be connected and to answer, unless they are far away.
const TIMEOUT: Duration = Duration::from_millis(200);

/// How long the engine is left alone at a time.
const TURN: Duration = Duration::from_millis(1);

/// Asks the nodes what they have under a resource, in another thread. The engine goes on with its
/// own requests meanwhile. Returns nothing where the answer does not come in time.
pub(super) fn look(engine: &mut Engine, resource: &[u8]) -> io::Result<Option<WhoResource>> {
    let timeout = time_to_answer(engine, TIMEOUT);
    let until = engine.now() + timeout;
    let addresses = engine.nodes().map(|(_, address, _)| address.clone());
    let mut config = Config::with_addresses(addresses);
    config.redlock = engine.redlock_config().clone();
    config.redlock.connect_timeout = config.redlock.connect_timeout.min(timeout);
    // Nobody is to vote, so that nothing that was forgotten matters.
    config.redlock.restart_guard = RestartGuard::Off;
    let who = Who::new(config, [resource]);
    let (sender, answer) = mpsc::channel();
    // An answer that comes too late goes nowhere.
    let ask = move || _ = sender.send(who.run());
    if thread::Builder::new().name("redbolt-look".into()).spawn(ask).is_err() {
        return Ok(None);
    }
    while engine.now() < until {
        engine.poll(Some(Duration::ZERO))?;
        match answer.recv_timeout(TURN) {
            Ok(report) => return Ok(report.ok().and_then(|it| it.resources().first().cloned())),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(None)
}
