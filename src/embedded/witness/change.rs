//! A change of the deployment, which closes every node and then opens it.

use bytes::BytesMut;

use super::lua;
use super::record::{BIRTH, MAX_TTL, NODES, Record, Stamp, WALL};
use super::request::{Request, Server, make_room};
use crate::embedded::database::Database;
use crate::embedded::refusal::Refusal;
use crate::redlock;
use crate::resp;

/// From this number of nodes on, a node is closed.
const CLOSED: f64 = redlock::CLOSED as f64;

/// Closes a node, unless a client has looked at it too lately.
pub(super) fn close(
    database: &mut Database,
    server: &Server<'_>,
    request: &Request<'_>,
    (stored, stamp): (Option<Record>, Option<[f64; 4]>),
    identity: Vec<u8>,
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    make_room(database, server, request)?;
    let (now, quiet) = (lua::count(server.micros), request.span);
    let mut reply = |left, alone| {
        resp::array_header(out, 2);
        [left, alone].into_iter().for_each(|micros| resp::integer(out, lua::integer(micros)));
    };
    let is_new = stored.is_none();
    let mut record = match stored {
        Some(stored) => stored,
        None => Record::renewed(None, identity.clone(), server.micros, request).1,
    };
    let nodes = lua::float(&record.numbers[NODES]);
    if !is_new && nodes < lua::float(request.nodes) {
        let birth = lua::float(&record.numbers[BIRTH]);
        let Some([at, ..]) =
            stamp.filter(|stamp| record.identity == identity && birth <= now && stamp[0] <= now)
        else {
            record.identity = identity;
            record.numbers[BIRTH] = server.micros.to_string().into_bytes();
            record.numbers[WALL] = request.wall.to_vec();
            record.change = None;
            let [_, from, to, count] = stamp.unwrap_or_default();
            let stamp = Stamp { last: now, written: [now, from, to, count] };
            database.insert_witness(request.witness, &record.write());
            database.insert_witness(request.stamp, &stamp.write());
            reply(quiet, 0.0);
            return Ok(());
        };
        let alone = now - at.max(birth);
        if alone < quiet {
            reply(quiet - alone, alone);
            return Ok(());
        }
        record.numbers[NODES] = format!("{:.0}", nodes + lua::float(request.nodes)).into_bytes();
    }
    record.change = request.change.map(<[u8]>::to_vec);
    database.insert_witness(request.witness, &record.write());
    reply(0.0, 0.0);
    Ok(())
}

/// Returns the number of nodes if this change must not open the node: another change has closed the
/// node, or none has.
pub(super) fn refuses(record: &Record, request: &Request<'_>) -> Option<f64> {
    let nodes = lua::float(&record.numbers[NODES]);
    let is_own = record.change.as_deref() == request.change;
    let is_free = record.change.is_none() && nodes >= CLOSED;
    (!is_own && !is_free).then_some(nodes)
}

/// Opens a node, with the constants of the request.
pub(super) fn open(mut record: Record, request: &Request<'_>) -> Record {
    record.numbers[MAX_TTL] = request.max_ttl.to_vec();
    record.numbers[NODES] = request.nodes.to_vec();
    record.change = request.change.map(<[u8]>::to_vec);
    record
}
