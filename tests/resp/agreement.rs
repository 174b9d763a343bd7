//! The table of agreement: where redbolt, `redis-protocol` or `redis-rs` read a vector otherwise
//! than its source, and who is right.
//!
//! ```text
//! cargo test --test resp agreement                            # compares with AGREEMENT.md
//! cargo test --test resp agreement -- --nocapture             # prints the table, too
//! REDBOLT_AGREEMENT=write cargo test --test resp agreement    # writes AGREEMENT.md
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs, thread};

use crate::peers::{redis_protocol, redis_rs};
use crate::vectors::{self, Vector};

/// Where the table is, below the root of the repository.
const TABLE: &str = "tests/resp/AGREEMENT.md";

/// The parsers of others recurse, in unoptimised code.
const STACK: usize = 256 * 1024 * 1024;

/// The reasons of disagreements: the word in the table of vectors, and who is right.
const REASONS: [(&str, &str); 23] = [
    (
        "bignum",
        "A script makes the server write any text as a big number. redbolt is right to refuse: the \
         protocol page wants digits, and hiredis refuses other bytes, too.",
    ),
    (
        "bound",
        "The source and redbolt are right: the depth needs a bound. redis-protocol recurses \
         without one, and a deep reply exhausts its stack.",
    ),
    ("content", "The source and redbolt are right: a null has no content."),
    (
        "depth",
        "All are right: the depth is a limit, and RESP has none. redbolt reads 16 levels, more \
         with `Parser<DEPTH>`, and never more than 128. A script can write thousands.",
    ),
    (
        "format",
        "The server and redbolt are right: a format is any three bytes. redis-protocol knows `txt` \
         and `mkd` alone.",
    ),
    (
        "fraction",
        "RESP3 and redbolt are right: digits surround a point, and a big number has none.",
    ),
    (
        "hash",
        "The source and redbolt are right: an element or a key can be an aggregate. redis-protocol \
         keeps sets and maps in hash tables, which cannot hold one.",
    ),
    (
        "huge",
        "The source and redbolt are right: no memory holds so much. Who waits for more waits for \
         ever.",
    ),
    ("inline", "redbolt is right for a client: no server sends a request without a type byte."),
    ("inner", "RESP3 and redbolt are right: a push comes between replies, never inside of one."),
    (
        "large",
        "RESP2 is right, with 512 MB as the most. A server can be told to write more; `Limits` \
         allows it.",
    ),
    (
        "line",
        "All are right: the length of a line is a limit. redbolt reads 64 KiB by default; `Limits` \
         allows more.",
    ),
    (
        "line-end",
        "RESP2 and redbolt are right: a line holds no CR and no LF. Who reads on takes a broken \
         reply for a whole one, or waits.",
    ),
    (
        "nan",
        "RESP3 is right about servers before 7.2, which write what their C library prints for NaN. \
         That of Linux prints `nan` and `-nan`, which redbolt reads; other spellings it refuses.",
    ),
    ("negative", "hiredis and redbolt are right: -1 is the only negative length."),
    (
        "nullheader",
        "redbolt is right: only `$-1` and `*-1` are nulls. go-redis takes every type with -1 for \
         one; no server writes them.",
    ),
    (
        "oldnull",
        "The source and redbolt are right: the nulls of RESP2 may come beside types of RESP3. No \
         parser of redis-protocol reads both.",
    ),
    (
        "plus",
        "node-redis is right by the protocol page, which allows a plus sign. redbolt is stricter: \
         no server writes one, and a wrong byte must not become a number.",
    ),
    (
        "push",
        "The source and redbolt are right: RESP3 does not tell what the first element is. redis-rs \
         demands a text, and makes one of nothing.",
    ),
    (
        "stream",
        "The source is right by the draft of RESP3; redbolt is right about servers, none of which \
         streams. redis-protocol has another parser for streams.",
    ),
    ("utf8", "The source and redbolt are right: RESP does not say that a line is UTF-8."),
    ("type", "redbolt is right: no value begins so. redis-rs finds out when the line ends."),
    (
        "zeros",
        "RESP3 is right: the integral part is one or more digits. redbolt is stricter: no server \
         writes a leading zero.",
    ),
];

/// Returns the document.
fn document() -> String {
    let vectors = vectors::all();
    let (mut rows, mut agreeing, mut used) = (String::new(), [0; 3], BTreeSet::new());
    for vector in &vectors {
        let theirs = [redis_protocol(&vector.bytes), redis_rs(&vector.bytes)];
        let verdicts = [vector.ours, &theirs[0], &theirs[1]];
        let is_same = verdicts.map(|verdict| verdict == vector.meaning);
        for (agreeing, is_same) in agreeing.iter_mut().zip(is_same) {
            *agreeing += usize::from(is_same);
        }
        assert_eq!(is_same == [true; 3], vector.why == "-", "{}: {verdicts:?}", vector.input);
        if is_same != [true; 3] {
            used.insert(vector.why);
            row(&mut rows, vector, verdicts);
        }
    }
    let judged = BTreeSet::from(REASONS.map(|(word, _)| word));
    assert_eq!(used, judged, "every disagreement has a reason, and every reason is needed");
    let mut document = head(vectors.len(), agreeing);
    for (word, who) in REASONS {
        writeln!(document, "| {word} | {who} |").expect(ENDLESS);
    }
    document + ROWS + &rows
}

/// Why writing to a string cannot fail.
const ENDLESS: &str = "a string takes everything";

fn head(count: usize, [ours, redis_protocol, redis_rs]: [usize; 3]) -> String {
    format!(
        "# Agreement of parsers\n\n\
         {count} facts from the published tests of hiredis, hiredis-py, redis-rs, redis-protocol, \
         go-redis and\nnode-redis, from the specifications of RESP2 and RESP3, and from \
         redis-server 7.0:\n[vectors.txt](vectors.txt). This page has those that redbolt, \
         redis-protocol 6.0 or redis-rs 1.2\nreads otherwise than the source says. \
         [agreement.rs](agreement.rs) writes the page, and a test\ncompares:\n\n\
         ```sh\ncargo test --test resp agreement -- --nocapture\n\
         REDBOLT_AGREEMENT=write cargo test --test resp agreement\n```\n\n\
         | parser | reads as the source says | of |\n| --- | ---: | ---: |\n\
         | redbolt | {ours} | {count} |\n| redis-protocol | {redis_protocol} | {count} |\n\
         | redis-rs | {redis_rs} | {count} |\n\n\
         ## Who is right\n\n| reason | who is right |\n| --- | --- |\n"
    )
}

/// The head of the last table.
const ROWS: &str = "\n## Disagreements\n\n`=` is the meaning by the source. `vectors.txt` explains \
the notation.\n\n| source | bytes | meaning | redbolt | redis-protocol | redis-rs | reason |\n\
| --- | --- | --- | --- | --- | --- | --- |\n";

fn row(rows: &mut String, vector: &Vector, verdicts: [&str; 3]) {
    let Vector { sources, input, meaning, why, .. } = vector;
    let cell = |verdict: &str| if verdict == *meaning { "=".into() } else { code(verdict) };
    let [ours, peer, rs] = verdicts.map(cell);
    let (input, meaning) = (code(input), code(meaning));
    writeln!(rows, "| {sources} | {input} | {meaning} | {ours} | {peer} | {rs} | {why} |")
        .expect(ENDLESS);
}

/// Returns a text as code in a cell of a table.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

#[test]
fn the_table_of_agreement_is_up_to_date() {
    let reader = thread::Builder::new().stack_size(STACK).spawn(document);
    let document = reader.expect("a thread").join().expect("no parser panics");
    println!("{document}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE);
    if env::var("REDBOLT_AGREEMENT").is_ok_and(|what| what == "write") {
        fs::write(&path, &document).expect("the repository can be written");
    }
    assert_eq!(fs::read_to_string(path).expect("the table is there"), document);
}
