//! Connecting to the nodes before a measurement.

use std::time::Duration;

use redbolt::{Config, Engine};

use crate::failure::Failure;
use crate::nodes::{GUARD_HINT, describe, quarantined_for};

/// How long nodes have to come up: connecting and the handshake may take a second each.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Creates an engine, and waits until a quorum of nodes is ready.
pub(crate) fn connect(config: Config) -> Result<Engine, Failure> {
    let nodes = config.nodes.len();
    let need = config.redlock.check(nodes).map_err(Failure::usage)?.need();
    let mut engine = Engine::new(config)?;
    let ready = engine.settle(CONNECT_TIMEOUT)?;
    if ready >= need {
        return Ok(engine);
    }
    let nodes_one_by_one = describe(&engine, None);
    let way_out = nodes_one_by_one.way_out();
    let plural = if nodes == 1 { "" } else { "s" };
    let mut message = format!(
        "no quorum: {ready} of {nodes} node{plural} ready, {need} needed\n\
         {nodes_one_by_one}{way_out}"
    );
    if quarantined_for(&engine).is_some() {
        message.push('\n');
        message.push_str(GUARD_HINT);
    }
    Err(Failure::no_quorum(message))
}
