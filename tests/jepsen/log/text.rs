//! The lines of the log as text: how they are written, and read again.

use std::fmt;
use std::str::{FromStr, SplitWhitespace};

use super::record::{Accepted, Deposit, Empty, Entry, Record, Vote, Weather, What};

/// The name of the nemesis in the second field.
pub(super) const NEMESIS: &str = "nemesis";

/// The name of the links in the second field.
const WIRE: &str = "wire";

/// The name of what the nemesis says for the checker in the second field.
const WEATHER: &str = "weather";

/// The name of the register in the second field.
const REGISTER: &str = "register";

/// The place of a token, or of a number, where there is none.
const NONE: &str = "-";

/// Reads a line: `None` if it is no line of a log, `Some(None)` for a line of the nemesis.
pub(super) fn parse(line: &str) -> Option<Option<Entry>> {
    let mut words = line.split_whitespace();
    let at = number(&mut words)?;
    let entry = match words.next()? {
        NEMESIS => return Some(None),
        WIRE => wire(at, &mut words)?,
        REGISTER => Entry::Deposit(deposit(at, &mut words)?),
        WEATHER => {
            let (node, is_foul) = (number(&mut words)?, number(&mut words)?);
            Entry::Weather(Weather { at, node, is_foul })
        }
        client => {
            let (client, request) = (client.parse().ok()?, number(&mut words)?);
            Entry::Record(Record { at, client, request, what: what(&mut words)? })
        }
    };
    words.next().is_none().then_some(Some(entry))
}

fn wire(at: u64, words: &mut SplitWhitespace<'_>) -> Option<Entry> {
    let (node, verb, what) = (number(words)?, words.next()?, words.next()?.to_owned());
    Some(match verb {
        "grants" => {
            let (ttl, asked) = (number(words)?, number(words)?);
            Entry::Vote(Vote { at, node, token: what, ttl, asked })
        }
        "lacks" => Entry::Empty(Empty { at, node, resource: what, asked: number(words)? }),
        "draws" | "accepts" => {
            let (fence, is_raised) = (number(words)?, verb == "accepts");
            Entry::Accepted(Accepted { at, node, token: what, fence, is_raised })
        }
        _ => return None,
    })
}

fn deposit(at: u64, words: &mut SplitWhitespace<'_>) -> Option<Deposit> {
    let is_accepted = match words.next()? {
        "takes" => true,
        "refuses" => false,
        _ => return None,
    };
    let (client, request) = (number(words)?, number(words)?);
    let (resource, fence) = (words.next()?.to_owned(), number(words)?);
    Some(Deposit { at, client, request, resource, fence, read: choice(words)?, is_accepted })
}

fn what(words: &mut SplitWhitespace<'_>) -> Option<What> {
    Some(match words.next()? {
        "wanted" => {
            let resources = words.next()?.split(',').map(str::to_owned).collect();
            let (ttl, wait, keeps) = (number(words)?, number(words)?, number(words)?);
            let (adopts, is_fenced) = (choice(words)?, number(words)?);
            What::Wanted { resources, ttl, wait, keeps, adopts, is_fenced }
        }
        "failed" => What::Failed { within: number(words)?, why: the_rest(words) },
        "held" => {
            let (token, until) = (words.next()?.to_owned(), number(words)?);
            What::Held { token, until, fence: choice(words)? }
        }
        "extending" => What::Extending { ttl: number(words)? },
        "extended" => What::Extended { until: number(words)? },
        "not-extended" => What::NotExtended { why: the_rest(words) },
        "drawing" => What::Drawing,
        "drawn" => What::Drawn { fence: number(words)? },
        "not-drawn" => What::NotDrawn { why: the_rest(words) },
        "renewed" => What::Renewed { until: number(words)? },
        "releasing" => What::Releasing { seen: number(words)? },
        "released" => What::Released,
        "passed" => What::Passed,
        "gave" => What::Gave,
        "lost" => What::Lost { seen: number(words)?, why: the_rest(words) },
        "asking" => What::Asking { resource: words.next()?.to_owned() },
        "answered" => What::Answered { is_free: number(words)?, answer: the_rest(words) },
        "closing" => What::Closing,
        "closed" => What::Closed { is_complete: number(words)? },
        "forked" => What::Forked { is_refused: number(words)?, deed: the_rest(words) },
        "late" => What::Late { since: number(words)? },
        "left" => What::Left,
        _ => return None,
    })
}

fn number<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

/// Reads what may be missing: `None` for a word that cannot be read, `Some(None)` for the place of
/// nothing.
fn choice<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<Option<T>> {
    match words.next()? {
        NONE => Some(None),
        word => word.parse().ok().map(Some),
    }
}

fn the_rest(words: &mut SplitWhitespace<'_>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.at, self.client, self.request, self.what)
    }
}

impl fmt::Display for Vote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, node, token, ttl, asked } = self;
        write!(f, "{at} {WIRE} {node} grants {token} {ttl} {asked}")
    }
}

impl fmt::Display for Empty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, node, resource, asked } = self;
        write!(f, "{at} {WIRE} {node} lacks {resource} {asked}")
    }
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, node, token, fence, is_raised } = self;
        let verb = if *is_raised { "accepts" } else { "draws" };
        write!(f, "{at} {WIRE} {node} {verb} {token} {fence}")
    }
}

impl fmt::Display for Deposit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, client, request, resource, fence, read, is_accepted } = self;
        let verb = if *is_accepted { "takes" } else { "refuses" };
        write!(f, "{at} {REGISTER} {verb} {client} {request} {resource} {fence} {}", or_none(read))
    }
}

/// Returns the word for what may be missing.
fn or_none(value: &Option<impl ToString>) -> String {
    value.as_ref().map_or_else(|| NONE.to_owned(), ToString::to_string)
}

impl fmt::Display for Weather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, node, is_foul } = self;
        write!(f, "{at} {WEATHER} {node} {is_foul}")
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wanted { resources, ttl, wait, keeps, adopts, is_fenced } => {
                let (resources, adopts) = (resources.join(","), or_none(adopts));
                write!(f, "wanted {resources} {ttl} {wait} {keeps} {adopts} {is_fenced}")
            }
            Self::Failed { within, why } => write!(f, "failed {within} {why}"),
            Self::Held { token, until, fence } => {
                write!(f, "held {token} {until} {}", or_none(fence))
            }
            Self::Extending { ttl } => write!(f, "extending {ttl}"),
            Self::Extended { until } => write!(f, "extended {until}"),
            Self::NotExtended { why } => write!(f, "not-extended {why}"),
            Self::Drawing => write!(f, "drawing"),
            Self::Drawn { fence } => write!(f, "drawn {fence}"),
            Self::NotDrawn { why } => write!(f, "not-drawn {why}"),
            Self::Renewed { until } => write!(f, "renewed {until}"),
            Self::Releasing { seen } => write!(f, "releasing {seen}"),
            Self::Released => write!(f, "released"),
            Self::Passed => write!(f, "passed"),
            Self::Gave => write!(f, "gave"),
            Self::Lost { why, seen } => write!(f, "lost {seen} {why}"),
            Self::Asking { resource } => write!(f, "asking {resource}"),
            Self::Answered { is_free, answer } => write!(f, "answered {is_free} {answer}"),
            Self::Closing => write!(f, "closing"),
            Self::Closed { is_complete } => write!(f, "closed {is_complete}"),
            Self::Forked { is_refused, deed } => write!(f, "forked {is_refused} {deed}"),
            Self::Late { since } => write!(f, "late {since}"),
            Self::Left => write!(f, "left"),
        }
    }
}

#[test]
fn an_entry_reads_as_it_was_written() {
    let text = || "two words".to_owned();
    let wanted = |resources: &[&str], adopts: Option<String>| {
        let resources = resources.iter().map(|&name| name.to_owned()).collect();
        let is_fenced = adopts.is_none();
        What::Wanted { resources, ttl: 1_000, wait: 500, keeps: 2_000, adopts, is_fenced }
    };
    let whats = [
        wanted(&["r0"], None),
        wanted(&["r0", "r1"], Some("ab".to_owned())),
        What::Failed { within: true, why: text() },
        What::Held { token: "ab".to_owned(), until: u64::MAX, fence: None },
        What::Held { token: "ab".to_owned(), until: 1, fence: Some(5) },
        What::Extending { ttl: 7 },
        What::Extended { until: 5 },
        What::NotExtended { why: text() },
        What::Drawing,
        What::Drawn { fence: 5 },
        What::NotDrawn { why: text() },
        What::Renewed { until: 6 },
        What::Releasing { seen: 0 },
        What::Released,
        What::Passed,
        What::Gave,
        What::Lost { why: text(), seen: 4 },
        What::Asking { resource: "r0".to_owned() },
        What::Answered { is_free: true, answer: text() },
        What::Closing,
        What::Closed { is_complete: false },
        What::Forked { is_refused: true, deed: text() },
        What::Late { since: 2 },
        What::Left,
    ];
    for what in whats {
        let record = Record { at: 3, client: 1, request: 2, what };
        assert_eq!(parse(&record.to_string()), Some(Some(Entry::Record(record))));
    }
    let vote = Vote { at: 3, node: 1, token: "ab".to_owned(), ttl: 7, asked: 2 };
    assert_eq!(parse(&vote.to_string()), Some(Some(Entry::Vote(vote))));
    let empty = Empty { at: 3, node: 1, resource: "r0".to_owned(), asked: 2 };
    assert_eq!(parse(&empty.to_string()), Some(Some(Entry::Empty(empty))));
    for is_raised in [false, true] {
        let token = "ab".to_owned();
        let accepted = Accepted { at: 3, node: 1, token, fence: 5, is_raised };
        assert_eq!(parse(&accepted.to_string()), Some(Some(Entry::Accepted(accepted))));
    }
    for (read, is_accepted) in [(None, true), (Some(7), false)] {
        let resource = "r0".to_owned();
        let deposit =
            Deposit { at: 3, client: 1, request: 2, resource, fence: 5, read, is_accepted };
        assert_eq!(parse(&deposit.to_string()), Some(Some(Entry::Deposit(deposit))));
    }
    let weather = Weather { at: 3, node: 1, is_foul: true };
    assert_eq!(parse(&weather.to_string()), Some(Some(Entry::Weather(weather))));
    assert_eq!(parse("7 nemesis kills node 4"), Some(None));
    let lines =
        ["", "7", "x 1 2 left", "7 1 2 left over", "7 1 2 held token", "7 1 2 gone", "7 wire 1 x"];
    for line in lines {
        assert_eq!(parse(line), None, "{line:?}");
    }
}
