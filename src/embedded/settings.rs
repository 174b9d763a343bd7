//! `CONFIG GET`, for the two settings that a lock client asks for.

use bytes::BytesMut;

use crate::resp;

/// The values that Redis has without a configuration: the append-only file is off, and these say
/// what would be done with one.
const SETTINGS: [(&str, &str); 2] =
    [("appendfsync", "everysec"), ("no-appendfsync-on-rewrite", "no")];

/// `CONFIG GET name…`. A name that the master does not know adds nothing, and no name is a pattern.
pub(super) fn get(names: &[&[u8]], out: &mut BytesMut) {
    let is_named =
        |setting: &str| names.iter().find(|name| name.eq_ignore_ascii_case(setting.as_bytes()));
    let known = SETTINGS.iter().filter_map(|(name, value)| Some((is_named(name)?, value)));
    let known: Vec<_> = known.collect();
    resp::array_header(out, 2 * known.len());
    for (name, value) in known {
        resp::bulk(out, name);
        resp::bulk(out, value.as_bytes());
    }
}
