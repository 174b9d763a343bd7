//! What a script is given: the words of a request, and the server around.

use super::lua;
use crate::embedded::database::Database;
use crate::embedded::refusal::Refusal;

/// The most keys of witnesses that a master keeps: witness and stamp, in each of the
/// [`DATABASES`](crate::embedded::DATABASES), for two prefixes. `max_keys` does not count these
/// keys.
pub(in crate::embedded) const WITNESS_KEYS_MAX: usize = 64;

/// The sections of `INFO` that an answer contains, in this order.
pub(in crate::embedded) const SECTIONS: [&[u8]; 5] =
    [b"server", b"replication", b"memory", b"stats", b"persistence"];

/// What a script finds besides the keys.
pub(in crate::embedded) struct Server<'a> {
    /// The time in milliseconds, by which keys are alive or dead.
    pub(in crate::embedded) now: u64,
    /// The time in microseconds, as `TIME` tells it.
    pub(in crate::embedded) micros: u64,
    /// The [`SECTIONS`] of `INFO`, one behind the other.
    pub(in crate::embedded) info: &'a str,
    /// How many more keys of witnesses may exist.
    pub(in crate::embedded) room: usize,
}

/// The words of a request. All but the database are decimal digits.
pub(super) struct Request<'a> {
    pub(super) witness: &'a [u8],
    pub(super) stamp: &'a [u8],
    pub(super) database: &'a [u8],
    pub(super) wall: &'a [u8],
    pub(super) max_ttl: &'a [u8],
    pub(super) nodes: &'a [u8],
    pub(super) span: f64,
    /// The number of a change, if the script wants one.
    pub(super) change: Option<&'a [u8]>,
}

impl<'a> Request<'a> {
    /// `None` for a request that no client sends: words are missing, or are no numbers.
    pub(super) fn read(keys: &[&'a [u8]], arguments: &[&'a [u8]]) -> Option<Self> {
        let ([witness, stamp, ..], [database, wall, max_ttl, nodes, span, rest @ ..]) =
            (keys, arguments)
        else {
            return None;
        };
        let change = rest.first().copied();
        let is_number = |word: &&[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
        let are_numbers = [*wall, max_ttl, nodes, span].iter().all(is_number);
        let span = lua::float(span);
        let request = Self { witness, stamp, database, wall, max_ttl, nodes, span, change };
        are_numbers.then_some(request)
    }
}

/// Refuses a request whose keys would be more than the master keeps.
pub(super) fn make_room(
    database: &Database,
    server: &Server<'_>,
    request: &Request<'_>,
) -> Result<(), Refusal> {
    let keys = [request.witness, request.stamp];
    let is_full = keys.iter().filter(|key| !database.is_witness(key)).count() > server.room;
    if is_full { Err(Refusal::OutOfMemory) } else { Ok(()) }
}
