//! `EVAL`, `EVALSHA` and `SCRIPT`, for the scripts that [`super::scripts`] knows.
//!
//! `loaded` is the script cache, in which `EVALSHA` looks. The cache never holds a script twice.

use bytes::BytesMut;

use super::number;
use super::refusal::Refusal;
use super::scripts::Script;
use crate::resp;

/// A script that a request calls, and the words for it.
pub(super) struct Call<'a> {
    pub(super) script: Script,
    pub(super) keys: &'a [&'a [u8]],
    pub(super) arguments: &'a [&'a [u8]],
}

/// `EVAL script numkeys [key …] [argument …]`. As in Redis, `EVAL` also loads the script.
pub(super) fn eval<'a>(
    loaded: &mut Vec<Script>,
    arguments: &'a [&'a [u8]],
) -> Result<Call<'a>, Refusal> {
    let [text, count, words @ ..] = arguments else { return Err(Refusal::WrongArity("eval")) };
    let (keys, arguments) = split(count, words)?;
    let script = Script::by_text(text).ok_or(Refusal::ForeignScript)?;
    remember(loaded, script);
    Ok(Call { script, keys, arguments })
}

/// `EVALSHA sha numkeys [key …] [argument …]`.
pub(super) fn evalsha<'a>(
    loaded: &[Script],
    arguments: &'a [&'a [u8]],
) -> Result<Call<'a>, Refusal> {
    let [sha, count, words @ ..] = arguments else { return Err(Refusal::WrongArity("evalsha")) };
    // For a word that cannot be a SHA-1, Redis checks nothing else.
    if sha.len() != SHA_DIGITS {
        return Err(Refusal::NoScript);
    }
    let (keys, arguments) = split(count, words)?;
    let script = find(loaded, sha).ok_or(Refusal::NoScript)?;
    Ok(Call { script, keys, arguments })
}

/// `SCRIPT LOAD script`.
pub(super) fn load(
    loaded: &mut Vec<Script>,
    arguments: &[&[u8]],
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    let text = arguments.first();
    let script = text.and_then(|text| Script::by_text(text)).ok_or(Refusal::ForeignScript)?;
    remember(loaded, script);
    resp::bulk(out, script.sha().as_bytes());
    Ok(())
}

/// `SCRIPT EXISTS sha…`.
pub(super) fn exists(loaded: &[Script], shas: &[&[u8]], out: &mut BytesMut) {
    resp::array_header(out, shas.len());
    for sha in shas {
        resp::integer(out, i64::from(find(loaded, sha).is_some()));
    }
}

/// `SCRIPT FLUSH [ASYNC | SYNC]`.
pub(super) fn flush(
    loaded: &mut Vec<Script>,
    arguments: &[&[u8]],
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    match arguments {
        [] => {}
        [mode] if mode.eq_ignore_ascii_case(b"sync") || mode.eq_ignore_ascii_case(b"async") => {}
        _ => return Err(Refusal::ScriptFlushOption),
    }
    loaded.clear();
    resp::simple(out, "OK");
    Ok(())
}

const SHA_DIGITS: usize = 40;

fn find(loaded: &[Script], sha: &[u8]) -> Option<Script> {
    Script::by_sha(sha).filter(|script| loaded.contains(script))
}

fn remember(loaded: &mut Vec<Script>, script: Script) {
    if !loaded.contains(&script) {
        loaded.push(script);
    }
}

/// Splits the words after `numkeys` into keys and arguments.
fn split<'a>(count: &[u8], words: &'a [&'a [u8]]) -> Result<KeysAndArguments<'a>, Refusal> {
    let count = number::integer(count)?;
    let count = usize::try_from(count).map_err(|_| Refusal::NegativeKeyCount)?;
    words.split_at_checked(count).ok_or(Refusal::TooManyKeys)
}

type KeysAndArguments<'a> = (&'a [&'a [u8]], &'a [&'a [u8]]);
