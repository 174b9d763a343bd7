//! Two parsers with nothing in common: the one of redbolt ("ours") and the reader of hiredis
//! ("theirs").
//!
//! Each reads the same bytes, in whole and byte by byte, and must find the same both times, byte by
//! byte as soon as the last byte of a value is there. What both parsers read must be the same value
//! with the same end. If only one of them reads something, the reason must be one of
//! [`reasons`](crate::reasons); every other difference is a finding.

use std::collections::BTreeMap;
use std::fmt;

use redbolt::resp::{self, Error, MAX_ELEMENTS, Parser, Status, Value};

use crate::hiredis::{Content, RawReply, Reader};
use crate::reasons::{Reason, departure, has_inner_attribute, refusal};
use crate::tree::Tree;

/// What was compared.
#[derive(Default)]
pub(crate) struct Tally {
    equal: u64,
    attributes: u64,
    only_ours: BTreeMap<Reason, u64>,
    only_theirs: BTreeMap<Reason, u64>,
    /// Ends of inputs: ours and theirs, whether they refuse.
    ends: BTreeMap<(bool, bool), u64>,
}

/// What a parser makes of some bytes: values with their ends, and whether it refuses what is next.
#[derive(PartialEq, Debug)]
struct Run<E> {
    values: Vec<(Tree, usize)>,
    refusal: Option<E>,
}

/// Compares what both make of the bytes.
///
/// # Errors
///
/// Returns a difference that has no known reason, as text.
pub(crate) fn compare(data: &[u8], tally: &mut Tally) -> Result<(), String> {
    let mut rest = data;
    while !rest.is_empty() {
        let (ours, theirs) = (twice(ours, rest)?, twice(theirs, rest)?);
        let pairs = ours.values.iter().zip(&theirs.values);
        let equal = pairs.take_while(|(ours, theirs)| ours == theirs).count();
        tally.equal += equal as u64;
        let start = equal.checked_sub(1).map_or(0, |last| ours.values[last].1);
        let used = match (ours.values.get(equal), theirs.values.get(equal)) {
            (Some((ours, end)), Some((theirs, their_end))) => {
                let bytes = &rest[start..*end];
                if !parsed(bytes).is_some_and(|value| has_inner_attribute(&value)) {
                    return Err(format!("{ours:?} to {end}, or {theirs:?} to {their_end}"));
                }
                tally.attributes += 1;
                *end
            }
            (Some((tree, end)), None) => {
                let bytes = &rest[start..*end];
                let reason = refusal(bytes, parsed(bytes).as_ref(), theirs.refusal.as_deref());
                let reason = reason
                    .ok_or_else(|| format!("only ours reads {tree:?}: {:?}", theirs.refusal))?;
                *tally.only_ours.entry(reason).or_default() += 1;
                *end
            }
            (None, Some((tree, end))) => {
                let reason = departure(tree, &rest[start..*end]);
                let is_known = |reason: &Reason| reason.fits(ours.refusal);
                let reason = reason.filter(is_known).ok_or_else(|| {
                    format!("only theirs reads {tree:?}: {:?}, {reason:?}", ours.refusal)
                })?;
                *tally.only_theirs.entry(reason).or_default() += 1;
                return Ok(());
            }
            (None, None) => return neither(&rest[start..], &ours, &theirs, tally),
        };
        rest = &rest[used..];
    }
    Ok(())
}

/// Checks bytes of which neither reads a value. Where they refuse and we wait, we might wait for
/// ever.
fn neither(
    rest: &[u8],
    ours: &Run<Error>,
    theirs: &Run<String>,
    tally: &mut Tally,
) -> Result<(), String> {
    if rest.is_empty() {
        return Ok(());
    }
    let refusals = (ours.refusal.is_some(), theirs.refusal.is_some());
    *tally.ends.entry(refusals).or_default() += 1;
    if refusals == (false, true) && refusal(rest, None, theirs.refusal.as_deref()).is_none() {
        return Err(format!("we wait, they refuse: {:?}", theirs.refusal));
    }
    Ok(())
}

/// Lets a parser read the bytes in whole and byte by byte.
fn twice<E: PartialEq + fmt::Debug>(
    run: fn(&[u8], usize) -> Run<E>,
    bytes: &[u8],
) -> Result<Run<E>, String> {
    let (whole, bytewise) = (run(bytes, bytes.len()), run(bytes, 1));
    if whole == bytewise {
        return Ok(whole);
    }
    Err(format!("in whole {whole:?}\nbyte by byte {bytewise:?}"))
}

fn ours(bytes: &[u8], piece: usize) -> Run<Error> {
    let mut parser = Parser::new();
    let mut values = Vec::new();
    let mut start = 0;
    for end in (piece..=bytes.len()).step_by(piece) {
        while start < end {
            match parser.parse(&bytes[start..end]) {
                Ok(Status::Partial) => break,
                Ok(Status::Complete((value, used))) => {
                    start += used;
                    assert!(piece > 1 || start == end, "ours is late");
                    values.push((Tree::from(&value), start));
                }
                Err(error) => return Run { values, refusal: Some(error) },
            }
        }
    }
    Run { values, refusal: None }
}

fn theirs(bytes: &[u8], piece: usize) -> Run<String> {
    // With their own limit an array of 32 GB is reserved for a header of a few bytes.
    let mut reader = Reader::new(MAX_ELEMENTS);
    let mut values = Vec::new();
    for piece in bytes.chunks(piece) {
        reader.feed(piece);
        loop {
            match reader.reply() {
                Ok(None) => break,
                Ok(Some(reply)) => values.push((tree(&reply.content()), reader.position())),
                Err(error) => return Run { values, refusal: Some(error) },
            }
        }
    }
    Run { values, refusal: None }
}

fn parsed(bytes: &[u8]) -> Option<Value<'_>> {
    match resp::parse(bytes) {
        Ok(Status::Complete((value, _))) => Some(value),
        _ => None,
    }
}

fn tree(content: &Content<'_>) -> Tree {
    match content {
        Content::Text(kind, text) => Tree::Text(*kind, text.to_vec()),
        Content::Verbatim(format, text) => Tree::Text(b'=', [&format[..], b":", text].concat()),
        Content::Integer(integer) => Tree::Integer(*integer),
        Content::Double(double) => Tree::double(*double),
        Content::Boolean(boolean) => Tree::Boolean(*boolean),
        Content::Null => Tree::Null,
        Content::Aggregate(kind, elements) => {
            let element = |reply: &&RawReply| tree(&reply.content());
            Tree::Aggregate(*kind, elements.iter().map(element).collect())
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |ours, theirs| self.ends.get(&(ours, theirs)).copied().unwrap_or(0);
        writeln!(f, "{:>9} values are equal", self.equal)?;
        writeln!(f, "{:>9} values differ by {}", self.attributes, Reason::InnerAttribute)?;
        for (who, reasons) in [("redbolt", &self.only_ours), ("hiredis", &self.only_theirs)] {
            for (reason, count) in reasons {
                writeln!(f, "{count:>9} only {who} reads: {reason}")?;
            }
        }
        writeln!(f, "{:>9} ends that both refuse", end(true, true))?;
        writeln!(f, "{:>9} ends that only redbolt refuses at once", end(true, false))?;
        writeln!(f, "{:>9} ends that only hiredis refuses, as above", end(false, true))?;
        writeln!(f, "{:>9} ends where both wait for more", end(false, false))?;
        let sum = |reasons: &BTreeMap<Reason, u64>| reasons.values().sum::<u64>();
        let (ours, theirs) = (sum(&self.only_ours), sum(&self.only_theirs));
        let Self { equal, attributes, .. } = self;
        write!(
            f,
            "hiredis: {equal} equal, {attributes} with attributes inside, {ours} only redbolt, \
             {theirs} only hiredis, no finding"
        )
    }
}
