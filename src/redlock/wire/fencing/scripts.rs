//! The scripts by which a node draws and accepts fencing numbers.
//!
//! `KEYS` are the n keys of one lock, and behind them the hash with the numbers. `ARGV` begins with
//! the token and the stripes of the n keys. A lock on one key has scripts of its own, which do the
//! same for n = 1 with less work.

use crate::redlock::wire::script::Script;

/// The end of the scripts that draw for one key: the larger of the number behind that of the stripe
/// and the proposal, `ARGV[3]`, which is cut to a second around the clock of the node.
///
/// The node looks at its clock every time. A number of a node that has lost its data, or came back
/// with older data, is thereby larger than any that was accepted there before.
macro_rules! draw {
    () => {
        "local f, t = redis.call('HGET', KEYS[2], ARGV[2]), redis.call('TIME') \
         local n, c, s = tonumber(ARGV[3]), t[1] * 1000000 + t[2], ARGV[3] \
         if n < c - 1000000 then n = c - 1000000 s = nil \
         elseif n > c + 1000000 then n = c + 1000000 s = nil end \
         if f and n <= tonumber(f) then n = f + 1 s = nil end \
         redis.call('HSET', KEYS[2], ARGV[2], s or string.format('%.0f', n)) \
         return n"
    };
}

/// The script that takes a key and draws a number. `ARGV[4]` is the ttl in milliseconds.
///
/// The script answers with the number, or with nil when the key exists. An error can come behind
/// the `SET`, so that an error does not say that there is no key.
pub const ACQUIRE_FENCED: Script = Script {
    text: concat!(
        "if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[4]) then return false end ",
        draw!()
    ),
    sha: "844113e3e9612a8d78cc36cf8fbff35c0d9784ee",
};

/// The script that takes the keys of several locks, each on its own, and draws a number for each.
/// `KEYS` are one key for each lock, and behind them the hash. `ARGV` has the token, the stripe,
/// the proposal and the ttl of each.
///
/// The script answers with an array of what [`ACQUIRE_FENCED`] answers for each. Locks in one
/// stripe draw one behind another.
pub const ACQUIRE_FENCED_MANY: Script = Script {
    text: "local t, r, h = redis.call('TIME'), {}, KEYS[#KEYS] \
           local c = t[1] * 1000000 + t[2] \
           for i = 1, #KEYS - 1 do local a = 4 * i \
           if redis.call('SET', KEYS[i], ARGV[a - 3], 'NX', 'PX', ARGV[a]) then \
           local k, s = ARGV[a - 2], ARGV[a - 1] \
           local f, n = redis.call('HGET', h, k), tonumber(s) \
           if n < c - 1000000 then n = c - 1000000 s = nil \
           elseif n > c + 1000000 then n = c + 1000000 s = nil end \
           if f and n <= tonumber(f) then n = f + 1 s = nil end \
           redis.call('HSET', h, k, s or string.format('%.0f', n)) \
           r[i] = n else r[i] = false end end \
           return r",
    sha: "f792bbd321e0dfda3b56fb46cfbac4b118059323",
};

/// The script that draws a number for a lock that is held.
///
/// The script answers with the number, with 0 when there is no key, with −1 when the key holds
/// another value.
pub const DRAW: Script = Script {
    text: concat!(
        "local v = redis.call('GET', KEYS[1]) \
         if v ~= ARGV[1] then return v and -1 or 0 end ",
        draw!()
    ),
    sha: "dacc6f9d139f25293f728d07cb68b6ee8ca4a094",
};

/// The script that accepts a number, `ARGV[3]`, which another node has drawn.
///
/// The script answers 1 when the number is larger than that of the stripe, and is stored; −f when
/// the stripe has the number f, which is not smaller; 0 when there is no key, −1 when the key holds
/// another value.
pub const RAISE: Script = Script {
    text: "local v = redis.call('GET', KEYS[1]) \
           if v ~= ARGV[1] then return v and -1 or 0 end \
           local f = tonumber(redis.call('HGET', KEYS[2], ARGV[2]) or 0) \
           if f >= tonumber(ARGV[3]) then return -f end \
           redis.call('HSET', KEYS[2], ARGV[2], ARGV[3]) \
           return 1",
    sha: "e86597d8859bc6042f9ea1f9e045a96a562a7e93",
};

/// What the scripts of sets that answer 0 or −1 begin with: all keys hold the token, or that is the
/// end.
macro_rules! ours {
    () => {
        "local n = #KEYS - 1 \
         local v, mine = redis.call('MGET', unpack(KEYS, 1, n)), 0 \
         for i = 1, n do if v[i] == ARGV[1] then mine = mine + 1 \
         elseif v[i] then return -1 end end \
         if mine < n then return mine > 0 and -1 or 0 end "
    };
}

/// The numbers that the stripes have, if any.
macro_rules! stripes {
    () => {
        "local f = {} \
         for i = 1, n do f[i] = redis.call('HGET', KEYS[n + 1], ARGV[i + 1]) end "
    };
}

/// The end of the scripts that give all stripes the number `s`.
macro_rules! store {
    () => {
        "local h = {} \
         for i = 1, n do h[2 * i - 1] = ARGV[i + 1] h[2 * i] = s end \
         redis.call('HSET', KEYS[n + 1], unpack(h)) "
    };
}

/// The end of the scripts of sets that draw: one number above those of all stripes.
macro_rules! draw_set {
    () => {
        concat!(
            stripes!(),
            "local t, m = redis.call('TIME'), tonumber(ARGV[n + 2]) \
             local c = t[1] * 1000000 + t[2] \
             if m < c - 1000000 then m = c - 1000000 \
             elseif m > c + 1000000 then m = c + 1000000 end \
             for i = 1, n do if f[i] and m <= tonumber(f[i]) then m = f[i] + 1 end end \
             local s = string.format('%.0f', m) ",
            store!(),
            "return m"
        )
    };
}

/// The script that takes several keys, all of them or none, and draws one number for them.
/// `ARGV[n + 2]` is the proposal, `ARGV[n + 3]` the ttl in milliseconds.
///
/// The script answers with the number, or with nil when any of the keys exists.
pub const ACQUIRE_FENCED_SET: Script = Script {
    text: concat!(
        "local n = #KEYS - 1 \
         if redis.call('EXISTS', unpack(KEYS, 1, n)) > 0 then return false end \
         for i = 1, n do redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[n + 3]) end ",
        draw_set!()
    ),
    sha: "7c86e678c2957cc002685409d80636df4d60cbca",
};

/// The script that draws a number for a lock on several keys that is held. `ARGV[n + 2]` is the
/// proposal.
///
/// The script answers with the number, with 0 when none of the keys exists, with −1 when some do
/// and not all of them hold the token.
pub const DRAW_SET: Script =
    Script { text: concat!(ours!(), draw_set!()), sha: "4b50d79e3b130eb1bb682ecdd7935801a84d0964" };

/// The script that accepts a number for a lock on several keys, `ARGV[n + 2]`, which another node
/// has drawn.
///
/// The script answers 1 when the number is larger than those of all stripes, which then have the
/// number; −f when f, the largest of them, is not smaller; 0 and −1 as [`DRAW_SET`] does.
pub const RAISE_SET: Script = Script {
    text: concat!(
        ours!(),
        stripes!(),
        "local m, s = 0, ARGV[n + 2] \
         for i = 1, n do m = math.max(m, tonumber(f[i] or 0)) end \
         if m >= tonumber(s) then return -m end ",
        store!(),
        "return 1"
    ),
    sha: "e619bb39aab68e1e3aa178be978c9b14ba23969c",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sha_belongs_to_its_text() {
        let of_sets = [ACQUIRE_FENCED_SET, DRAW_SET, RAISE_SET];
        let of_one = [ACQUIRE_FENCED, ACQUIRE_FENCED_MANY, DRAW, RAISE];
        for script in of_one.into_iter().chain(of_sets) {
            let sha = sha1_smol::Sha1::from(script.text).digest().to_string();
            assert_eq!(sha, script.sha, "{}", script.text);
        }
    }
}
