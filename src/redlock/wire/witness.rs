//! The scripts of the witness, by which a server says for how long its data has been in one piece
//! (S11).
//!
//! The *witness* is a key without a ttl beside the locks. The value is
//! `identity birth wall origin max_ttl nodes`: who the server was when the witness was written, the
//! time then by the server's clock and by the writer's, the birth of the first witness of this
//! data, and the two constants of the deployment. A second key, the *stamp*, says when a client
//! looked last, from when to when nobody looked for longer than `max_ttl`, and how often clients
//! have
//! looked: `at from to count`.
//!
//! An operator who changes the constants *closes* every node before the first of them is opened
//! with the new ones ([`CLOSE`], [`REOPEN`]). A closed node has [`CLOSED`] more nodes than before,
//! so that it agrees with no client. Behind the constants stands the number of the change.
//!
//! The server writes its own identity and its own time. A client sends neither, so a slow client
//! can write nothing old. Stored values and the time are read before `INFO`: whatever happens
//! between the two makes the witness younger, never older. All times are microseconds since 1970.

use super::script::Script;

/// The name of the witness, after the configured prefix.
pub(crate) const WITNESS: &[u8] = b"redbolt:witness";

/// What is added to the number of nodes in the witness of a closed node. No client has so many.
pub(crate) const CLOSED: u64 = 1_000;

/// The name of the stamp, after the configured prefix.
pub(crate) const STAMP: &[u8] = b"redbolt:seen";

/// The begin of the names, after the configured prefix, under which clients write their labels.
pub(crate) const LABEL: &[u8] = b"redbolt:label:";

/// Reads both keys, the time and `INFO`. Leaves the fields of the witness in `w`, those of the
/// stamp in `s`, the text of `INFO` in `info`, the identity in `id`.
macro_rules! head {
    () => {
        "local t = redis.call('TIME') \
         local now = t[1] * 1000000 + t[2] \
         local time = string.format('%.0f', now) \
         local n = ' (%d+)' \
         local w = {string.match(redis.call('GET', KEYS[1]) or '', \
         '^(%S+)' .. n .. n .. n .. n .. n)} \
         local s = {string.match(redis.call('GET', KEYS[2]) or '', '^(%d+)' .. n .. n .. n)} \
         local info = '' \
         for _, name in ipairs({'server', 'replication', 'memory', 'stats', 'persistence'}) do \
         info = info .. redis.call('INFO', name) end \
         local function fact(name) return string.match(info, '\\n' .. name .. ':(%w*)') or '' end \
         local id = table.concat({fact('run_id'), fact('master_replid'), \
         fact('evicted_keys'), ARGV[1]}, ':') \
         local found = 1 "
    };
}

/// Puts the witness in order: a witness of another identity is born anew, and keeps what holds for
/// all of this data.
macro_rules! birth {
    () => {
        "if #w == 0 then found, w = 0, {id, time, ARGV[2], time, ARGV[3], ARGV[4]} \
         elseif w[1] ~= id or tonumber(w[2]) > now then \
         found, w[1], w[2], w[3] = 2, id, time, ARGV[2] end "
    };
}

/// Writes the stamp, and answers.
macro_rules! tail {
    () => {
        "if #s == 0 or found == 0 then s = {now, 0, 0, 0} end \
         for i = 1, 4 do s[i] = tonumber(s[i]) end \
         local span = math.max(tonumber(ARGV[5]), w[5] * 1000) \
         if now - s[1] > span then s[2], s[3] = s[1], now end \
         redis.call('SET', KEYS[2], \
         string.format('%.0f %.0f %.0f %.0f', now, s[2], s[3], s[4] + 1)) \
         return {found, now, tonumber(w[2]), tonumber(w[3]), tonumber(w[4]), tonumber(w[5]), \
         tonumber(w[6]), s[1], s[2], s[3], s[4] + 1, info}"
    };
}

/// Counts the keys in `size`, and those of them that begin with `p` in `labels`. Where the server
/// does not tell the number of keys, `size` is its error.
///
/// The labels are counted only among few keys, and in few steps: a server with more is not new.
macro_rules! counts {
    () => {
        "local size, labels, at, seen = redis.pcall('DBSIZE'), 0, '0', {} \
         local few = type(size) == 'number' and size > 0 and size <= 1000 \
         for _ = 1, few and 8 or 0 do \
         local page = redis.pcall('SCAN', at, 'COUNT', 1000) \
         if page.err then break end \
         for _, k in ipairs(page[2]) do \
         if string.sub(k, 1, #p) == p and not seen[k] then \
         seen[k], labels = true, labels + 1 end end \
         at = page[1] \
         if at == '0' then break end end "
    };
}

/// The script by which a client looks at a node.
///
/// `KEYS[1]` is the witness, `KEYS[2]` the stamp. `ARGV` is the number of the database, the
/// client's wall clock, the longest `max_ttl` that the client knows of, in milliseconds, its number
/// of nodes, and the same `max_ttl` in microseconds: the longest time without a look that is no
/// gap. A witness with another identity, or with a birth in the future, is born anew but keeps its
/// origin and the constants of the deployment.
///
/// The script answers with an array of eleven integers and a text: 1 when the witness stood with
/// this identity, 2 when the witness had another identity, 0 when there was none; the time; birth,
/// wall clock, origin, `max_ttl` and number of nodes of the witness; the last stamp before this
/// one; the beginning and the end of the last time in which nobody looked for longer than that, or
/// twice 0; how often clients have looked; `INFO`. The longest time is at least the `max_ttl` of
/// the witness: a client with a shorter `max_ttl` looks for the first time before it knows better.
/// A span is a little longer, so that a clock that is slow, or was set back by ε, hides no gap.
pub const LOOK: Script = Script {
    text: concat!(
        head!(),
        birth!(),
        "if found ~= 1 then redis.call('SET', KEYS[1], table.concat(w, ' ')) end ",
        tail!()
    ),
    sha: "852538d2648cdd0aef176c6a5bf2ff51ba302be1",
};

/// The script by which an operator declares that a node is empty and that no client can hold a
/// lock there.
///
/// Keys and arguments are those of [`LOOK`]. The birth becomes 0, which earns every credit. The
/// script does so only in an empty database, or where nothing but an earlier declaration stands and
/// nobody has looked since; elsewhere the script changes nothing and answers −1 and the number of
/// keys. The labels of
/// clients, which stay for two spans, are no data and do not count. Otherwise the answer is that of
/// `LOOK`. The stamp begins anew: nodes that were declared at different times must not look as if
/// some of them had been out of service.
pub const DECLARE_FRESH: Script = Script {
    text: concat!(
        head!(),
        "local p = string.sub(KEYS[1], 1, -8) .. 'label:' ",
        counts!(),
        "if not tonumber(size) then return size end \
         size = size - labels \
         local again = w[1] == id and w[2] == '0' and tonumber(s[4]) == 1 and size <= 2 \
         if size > 0 and not again then return {-1, size} end \
         w, s = {id, '0', '0', '0', ARGV[3], ARGV[4]}, {} \
         redis.call('SET', KEYS[1], table.concat(w, ' ')) ",
        tail!()
    ),
    sha: "558b2864eefc6b58339328298699d42cd7b103f9",
};

/// The script that counts the labels of clients for an operator, and changes nothing.
///
/// `ARGV[1]` is the begin of the names of the labels, with the prefix. The script answers with a
/// number: 0 where there are more than a thousand keys, or where the user may not count them.
#[cfg(feature = "net")]
pub(crate) const COUNT_LABELS: Script = Script {
    text: concat!("local p = ARGV[1] ", counts!(), "return labels"),
    sha: "246093ce0d533d4d188942be9605da7fc20b466b",
};

/// The script by which an operator raises `max_ttl`, the longest ttl of the deployment.
///
/// Keys, arguments and answer are those of [`LOOK`]. A witness that says more keeps its value.
pub const RAISE_MAX_TTL: Script = Script {
    text: concat!(
        head!(),
        birth!(),
        "if tonumber(w[5]) < tonumber(ARGV[3]) then w[5] = ARGV[3] end \
         redis.call('SET', KEYS[1], table.concat(w, ' ')) ",
        tail!()
    ),
    sha: "f3d60547ec6ba40fda6162f139bbf0a7dc0b15fc",
};

/// The script by which an operator closes a node, if no client has looked at it for long enough.
///
/// Keys and arguments are those of [`LOOK`], but the number of nodes is 1,000, and the longest
/// time is the time without a look that is asked for; behind these is the number of the change. The
/// script answers with two integers: for how many microseconds the node must still be left alone,
/// which is 0 once it is closed, and for how long it has been left alone.
///
/// A node that must still be left alone is not changed. Only a witness and a stamp that prove
/// nothing about the time begin anew, as a look would have them: the witness of another process or
/// of other data, a witness without a stamp, times in the future. A node without a witness gets one
/// that is closed, and a closed node stays closed.
pub const CLOSE: Script = Script {
    text: concat!(
        head!(),
        "local b = tonumber(w[2]) \
         if #w == 0 then w = {id, time, ARGV[2], time, ARGV[3], ARGV[4]} \
         elseif tonumber(w[6]) < tonumber(ARGV[4]) then \
         local at, quiet = tonumber(s[1]), tonumber(ARGV[5]) \
         if w[1] ~= id or b > now or not at or at > now then \
         w[1], w[2], w[3] = id, time, ARGV[2] \
         redis.call('SET', KEYS[1], table.concat(w, ' ')) \
         redis.call('SET', KEYS[2], string.format('%.0f %.0f %.0f %.0f', now, \
         s[2] or 0, s[3] or 0, s[4] or 0)) \
         return {quiet, 0} end \
         local alone = now - math.max(at, b) \
         if alone < quiet then return {quiet - alone, alone} end \
         w[6] = string.format('%.0f', w[6] + ARGV[4]) end \
         w[7] = ARGV[6] \
         redis.call('SET', KEYS[1], table.concat(w, ' ')) \
         return {0, 0}"
    ),
    sha: "785f803820418b06698e74927a589cdd606f3642",
};

/// The script by which an operator opens a closed node, with new constants.
///
/// Keys, arguments and answer are those of [`LOOK`], and the number of the change is behind the
/// arguments. A node that this change has not closed is not changed, and answers with −1 and its
/// number of nodes. A node that has lost its witness meanwhile gets a new one. The witness of a
/// closed node has no number of a change if a look has written it anew, after a restart.
pub const REOPEN: Script = Script {
    text: concat!(
        head!(),
        "local change = string.match(redis.call('GET', KEYS[1]) or '', \
         '^%S+ %d+ %d+ %d+ %d+ %d+ (%d+)') \
         if #w > 0 and change ~= ARGV[6] and (change or tonumber(w[6]) < 1000) \
         then return {-1, tonumber(w[6])} end ",
        birth!(),
        "w[5], w[6], w[7] = ARGV[3], ARGV[4], ARGV[6] \
         redis.call('SET', KEYS[1], table.concat(w, ' ')) ",
        tail!()
    ),
    sha: "0f242693b04b290902e267db00ed8cc9357c72cc",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::node_set::MAX_NODES;

    #[test]
    fn a_closed_node_agrees_with_no_client() {
        assert!(CLOSED > MAX_NODES as u64);
    }

    #[test]
    fn the_script_that_opens_knows_a_closed_node_by_the_number_that_closes_it() {
        let condition = format!("tonumber(w[6]) < {CLOSED})");
        assert!(REOPEN.text.contains(&condition), "{}", REOPEN.text);
    }

    #[test]
    fn the_name_of_a_label_follows_from_that_of_the_witness() {
        let begin = &WITNESS[..WITNESS.len() - 7];
        assert_eq!([begin, b"label:"].concat(), LABEL);
    }

    #[test]
    fn each_sha_belongs_to_its_text() {
        for script in [LOOK, DECLARE_FRESH, COUNT_LABELS, RAISE_MAX_TTL, CLOSE, REOPEN] {
            let sha = sha1_smol::Sha1::from(script.text).digest().to_string();
            assert_eq!(sha, script.sha, "{}", script.text);
        }
    }
}
