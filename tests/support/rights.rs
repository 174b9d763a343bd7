//! The rights of a user of the servers, in the words of `ACL SETUSER`, as OPERATING.md has them.

/// The commands that locks need, and `+time`, without which no witness is kept.
pub(crate) const RIGHTS: [&str; 12] = [
    "+info",
    "+eval",
    "+evalsha",
    "+set",
    "+get",
    "+getrange",
    "+mget",
    "+exists",
    "+pttl",
    "+pexpire",
    "+del",
    "+time",
];

/// Saves the text of a script that a group of locks is sent with.
pub(crate) const LOADING: &str = "+script|load";

/// Lets a client be told at once what happens to keys.
pub(crate) const TRACKING: [&str; 2] = ["+client|tracking", "+client|caching"];

/// Returns the name of the command of a rule.
pub(crate) fn command(rule: &str) -> &str {
    rule.strip_prefix('+').expect("a rule that gives a right")
}
