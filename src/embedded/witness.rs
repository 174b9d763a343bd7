//! The scripts of the witness, executed without Lua.
//!
//! Every step follows the text of the scripts (`src/redlock/wire/witness.rs`), down to the numbers
//! of Lua, which are floating-point. `tests/flavours` compares the answers with those of real
//! servers.
//!
//! [`request`] is what a script is given, and [`record`] what stands under its keys. [`change`]
//! closes and opens a node for a change of the deployment, and [`lua`] has the numbers.

mod change;
mod lua;
mod record;
mod request;

use bytes::BytesMut;

use self::record::{MAX_TTL, Record, Stamp, identity, read_stamp};
use self::request::{Request, make_room};
pub(super) use self::request::{SECTIONS, Server, WITNESS_KEYS_MAX};
use super::database::Database;
use super::number;
use super::refusal::Refusal;
use crate::redlock as script;
use crate::resp;

/// A script of the witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Witness {
    /// A client looks at the node.
    Look,
    /// An operator declares that the node is empty and that no client can hold a lock there.
    DeclareFresh,
    /// An operator raises the longest ttl of the deployment.
    RaiseMaxTtl,
    /// An operator closes the node for all clients.
    Close,
    /// An operator opens a closed node.
    Reopen,
}

impl Witness {
    /// The text and the SHA-1 of the script, from the engine.
    pub(super) const fn source(self) -> script::Script {
        match self {
            Self::Look => script::LOOK,
            Self::DeclareFresh => script::DECLARE_FRESH,
            Self::RaiseMaxTtl => script::RAISE_MAX_TTL,
            Self::Close => script::CLOSE,
            Self::Reopen => script::REOPEN,
        }
    }

    /// Executes the script and appends its reply.
    pub(super) fn run(
        self,
        database: &mut Database,
        server: &Server<'_>,
        keys: &[&[u8]],
        arguments: &[&[u8]],
        out: &mut BytesMut,
    ) -> Result<(), Refusal> {
        let request = Request::read(keys, arguments).ok_or(Refusal::ScriptArguments)?;
        // Both keys are read before one is written: a request may name one key for both.
        let stored = database.get(request.witness, server.now).and_then(Record::read);
        let stamp = database.get(request.stamp, server.now).and_then(read_stamp);
        let identity = identity(server.info, request.database);
        if self == Self::Close {
            return change::close(database, server, &request, (stored, stamp), identity, out);
        }
        let to_open = stored.as_ref().filter(|_| self == Self::Reopen);
        if let Some(nodes) = to_open.and_then(|old| change::refuses(old, &request)) {
            resp::array_header(out, 2);
            resp::integer(out, -1);
            resp::integer(out, lua::integer(nodes));
            return Ok(());
        }
        let (found, record) = match self {
            Self::DeclareFresh => {
                // The names differ in their last word.
                let begin = request.witness.len().saturating_sub("witness".len());
                let labels = [&request.witness[..begin], b"label:"].concat();
                let size = database.len(server.now) - database.count_labels(&labels, server.now);
                let is_unseen = stamp.is_some_and(|[.., looks]| looks == 1.0);
                let is_fresh = stored.is_some_and(|old| old.is_fresh(&identity));
                let is_again = size <= 2 && is_fresh && is_unseen;
                if size > 0 && !is_again {
                    resp::array_header(out, 2);
                    resp::integer(out, -1);
                    resp::integer(out, number::signed(size));
                    return Ok(());
                }
                (1, Record::declared(identity, &request))
            }
            // The declaration stands as if the operator's script had come before this one.
            _ if stored.is_none() && database.is_declared() => {
                (1, Record::declared(identity, &request))
            }
            // Closing is done by now.
            Self::Look | Self::Close => Record::renewed(stored, identity, server.micros, &request),
            Self::Reopen => {
                let (found, record) = Record::renewed(stored, identity, server.micros, &request);
                (found, change::open(record, &request))
            }
            Self::RaiseMaxTtl => {
                let (found, mut record) =
                    Record::renewed(stored, identity, server.micros, &request);
                record.raise_max_ttl(request.max_ttl);
                record.change = None;
                (found, record)
            }
        };
        make_room(database, server, &request)?;
        let span = request.span.max(lua::float(&record.numbers[MAX_TTL]) * 1_000.0);
        let goes_on = found != 0 && self != Self::DeclareFresh;
        let stamp = Stamp::new(stamp.filter(|_| goes_on), lua::count(server.micros), span);
        if self != Self::Look || !record.is_stored {
            database.insert_witness(request.witness, &record.write());
        }
        database.insert_witness(request.stamp, &stamp.write());
        answer(found, server, &record, &stamp, out);
        Ok(())
    }
}

fn answer(found: i64, server: &Server<'_>, record: &Record, stamp: &Stamp, out: &mut BytesMut) {
    let [_, from, to, count] = stamp.written;
    resp::array_header(out, 12);
    resp::integer(out, found);
    resp::integer(out, lua::integer(lua::count(server.micros)));
    record.numbers.iter().for_each(|number| resp::integer(out, lua::integer(lua::float(number))));
    [stamp.last, from, to, count].into_iter().for_each(|x| resp::integer(out, lua::integer(x)));
    resp::bulk(out, server.info.as_bytes());
}
