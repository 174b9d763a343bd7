//! The Lua scripts that run on a node, and the SHA-1 of each.
//!
//! A script that releases or extends compares first, so that a token can only ever touch its own
//! key (S5, S7). Such a script answers with integers, or an array of them, because the reply to a
//! `SET` is neither: when replies slip by one place, the type of the reply is wrong and shows the
//! slip.

/// A script and its SHA-1, by which a node knows the script once it is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Script {
    /// The Lua text.
    pub text: &'static str,
    /// The SHA-1 of the text: forty lower-case hex digits.
    pub sha: &'static str,
}

/// The script that releases one key: compare and delete.
///
/// `KEYS[1]` is the resource, `ARGV[1]` the token. The script answers 1 when the key was deleted, 0
/// when there was no key, −1 when the key holds another value.
pub const RELEASE: Script = Script {
    text: "local v = redis.call('GET', KEYS[1]) \
           if v == ARGV[1] then return redis.call('DEL', KEYS[1]) end \
           return v and -1 or 0",
    sha: "f94ecbb3c68b8cc95981f82b830aac1ad2b9eaa3",
};

/// The script that extends one key: compare and expire.
///
/// `KEYS[1]` is the resource, `ARGV[1]` the token, `ARGV[2]` the ttl in milliseconds. The script
/// answers 1 when the key holds the token and now lives at least that long, 0 when there is no key,
/// −1 when the key holds another value. The script never shortens a ttl. A key that somebody made
/// persistent gets a ttl again.
pub const EXTEND: Script = Script {
    text: "local v = redis.call('GET', KEYS[1]) \
           if v ~= ARGV[1] then return v and -1 or 0 end \
           if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) \
           then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end \
           return 1",
    sha: "4b87d659dbff9eb9506b4a46bd715e7ebc7fb7d8",
};

/// The script that releases many keys at once: [`RELEASE`] for each key.
///
/// `KEYS[i]` goes with `ARGV[i]`. The script answers with the number of keys if all of them held
/// their tokens and were deleted, as nearly always; otherwise with an array: for each key, the
/// answer of `RELEASE`. One `MGET` and one `DEL` do what would otherwise take a call for each key.
/// A key that holds no string counts as absent. There are two keys or more, so the number is no
/// answer of the scripts for one key, and no vote.
pub const RELEASE_MANY: Script = Script {
    text: "local k, t, v = KEYS, ARGV, redis.call('MGET', unpack(KEYS)) \
           local n, i = #k, 1 \
           while i <= n and v[i] == t[i] do i = i + 1 end \
           if i > n then redis.call('DEL', unpack(k)) return n end \
           local mine, out = {}, {} \
           for i = 1, n do \
           if v[i] == t[i] then mine[#mine + 1] = k[i] out[i] = 1 \
           else out[i] = v[i] and -1 or 0 end end \
           if #mine > 0 then redis.call('DEL', unpack(mine)) end \
           return out",
    sha: "de2b1de71208cac90affd9ed853fdb7de8fd8090",
};

/// The script that extends many keys at once: [`EXTEND`] for each key.
///
/// `KEYS[i]` goes with the token `ARGV[i]` and, behind all n tokens, with the ttl `ARGV[n + i]`.
/// The script answers with an array: for each key, the answer of `EXTEND`. A key that holds no
/// string counts as absent.
pub const EXTEND_MANY: Script = Script {
    text: "local v, n, out = redis.call('MGET', unpack(KEYS)), #KEYS, {} \
           for i, k in ipairs(KEYS) do \
           if v[i] == ARGV[i] then out[i] = 1 \
           if redis.call('PTTL', k) < tonumber(ARGV[n + i]) \
           then redis.call('PEXPIRE', k, ARGV[n + i]) end \
           else out[i] = v[i] and -1 or 0 end end \
           return out",
    sha: "23e1734eff41adc6e507543f49f400cc92185805",
};

/// The script that takes several resources as one lock: all of them or none.
///
/// `KEYS` are the resources, `ARGV[1]` is the token, `ARGV[2]` the ttl in milliseconds. The script
/// answers as `SET … NX` does: `OK`, or nil when any of the keys exists.
pub const ACQUIRE_SET: Script = Script {
    text: "if redis.call('EXISTS', unpack(KEYS)) > 0 then return false end \
           for _, k in ipairs(KEYS) do redis.call('SET', k, ARGV[1], 'PX', ARGV[2]) end \
           return redis.status_reply('OK')",
    sha: "3710c07fe0357bf658b74b133eb42c2326cf9492",
};

/// The script that releases a lock on several resources.
///
/// `KEYS` are the resources, `ARGV[1]` is the token. The script answers 1 when at least one key
/// held the token and was deleted, −1 when none did and at least one key holds another value, and 0
/// otherwise.
pub const RELEASE_SET: Script = Script {
    text: "local v = redis.call('MGET', unpack(KEYS)) \
           local mine, other = {}, 0 \
           for i, k in ipairs(KEYS) do \
           if v[i] == ARGV[1] then mine[#mine + 1] = k \
           elseif v[i] then other = -1 end end \
           if #mine == 0 then return other end \
           redis.call('DEL', unpack(mine)) \
           return 1",
    sha: "cfa9cc3dd4d9963bea8daad9a194ff3030173953",
};

/// The script that extends a lock on several resources.
///
/// `KEYS` are the resources, `ARGV[1]` is the token, `ARGV[2]` the ttl in milliseconds. The script
/// answers 1 when all keys hold the token and now live at least that long, 0 when none of the keys
/// exists, and −1 otherwise: then some keys exist, and the script has changed nothing.
pub const EXTEND_SET: Script = Script {
    text: "local v, mine = redis.call('MGET', unpack(KEYS)), 0 \
           for i in ipairs(KEYS) do if v[i] == ARGV[1] then mine = mine + 1 \
           elseif v[i] then return -1 end end \
           if mine < #KEYS then return mine > 0 and -1 or 0 end \
           for _, k in ipairs(KEYS) do \
           if redis.call('PTTL', k) < tonumber(ARGV[2]) \
           then redis.call('PEXPIRE', k, ARGV[2]) end end \
           return 1",
    sha: "55c7e440205462d1e798680407e930ad72bf45bc",
};

/// The script that reports the holder of a resource, `KEYS[1]`.
///
/// The script answers with an array: the value, cut to 40 bytes, or nil; then the remaining ttl in
/// milliseconds. The script changes nothing. Queries are so rare that the script always goes by its
/// text.
pub const HOLDER: Script = Script {
    text: "local v = redis.call('GET', KEYS[1]) \
           return {v and string.sub(v, 1, 40), redis.call('PTTL', KEYS[1])}",
    sha: "8d6f6b3f509fb61c8354b289601d66344a4adb85",
};

/// All scripts that the handshake loads, in that order.
pub(crate) const ALL: [Script; 7] =
    [RELEASE, EXTEND, RELEASE_MANY, EXTEND_MANY, ACQUIRE_SET, RELEASE_SET, EXTEND_SET];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sha_belongs_to_its_text() {
        for script in ALL.into_iter().chain([HOLDER]) {
            let sha = sha1_smol::Sha1::from(script.text).digest().to_string();
            assert_eq!(sha, script.sha, "{}", script.text);
        }
    }
}
