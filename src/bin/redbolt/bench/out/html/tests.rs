//! The page of a run that has everything, and of one that has nothing.

use serde_json::{Value, json};

use super::page;
use crate::bench::run::{Run, SCHEMA};

/// Makes figures that differ from each other, so that none can pass for another one.
struct Figures(f64);

impl Figures {
    fn next(&mut self) -> f64 {
        self.0 += 1.0;
        // 1,013.001, 1,026.002, and so on.
        (self.0 * 13_001.0 + 1e6).round() / 1e3
    }

    fn whole(&mut self) -> u64 {
        self.0 += 1.0;
        (self.0 * 17.0) as u64 + 20_000
    }

    fn quantiles(&mut self) -> Value {
        json!({
            "p50": self.next(), "p90": self.next(), "p99": self.next(), "p999": self.next(),
            "max": self.next(),
        })
    }
}

/// What is in every text of somebody else.
const EVIL: &str = "<script src=\"//evil\">'&amp;\u{202e}\u{1b}";

fn step(f: &mut Figures, contender: &str, in_flight: u64, offered: Option<u64>) -> Value {
    let slice = |from: f64, f: &mut Figures| {
        json!({
            "from_ms": from, "to_ms": from + 100.0, "cycles": f.whole(), "failed": 0,
            "acquire_us": f.quantiles(),
        })
    };
    json!({
        "contender": contender, "round": 1, "engines": f.whole(), "in_flight": in_flight,
        "offered_per_s": offered,
        "ran_ms": f.next(), "cycles": f.whole(), "cycles_per_s": f.next(), "failed": f.whole(),
        "failures": { format!("held{EVIL}"): f.whole() }, "unfinished": f.whole(),
        "overdue": f.whole(), "starts_due": f.whole(), "is_behind": true,
        "further_trips": f.whole(), "widened": f.whole(),
        "acquire_us": f.quantiles(), "release_us": f.quantiles(), "extend_us": f.quantiles(),
        "hand_over_us": f.quantiles(), "longest_stall_ms": f.next(),
        "client": {
            "cpu_us_per_cycle": f.next(), "cpu_percent": f.next(), "bytes_sent_per_cycle": f.next(),
            "bytes_received_per_cycle": f.next(), "system_calls_per_cycle": f.next(),
        },
        "servers": {
            "cpu_us_per_cycle": f.next(), "busiest_cpu_percent": f.next(),
            "nodes": [{
                "node": format!("a:1{EVIL}"), "cpu_percent": f.next(),
                "commands": {
                    format!("set{EVIL}"): { "calls_per_s": f.next(), "us_per_call": f.next() },
                },
            }],
        },
        "machine_cpu_percent": f.next(), "own_cpu_percent": f.next(),
        "fairness": {
            "workers": f.whole(), "fewest": f.whole(), "most": f.whole(), "p1": f.next(),
            "p50": f.next(), "p99": f.next(),
        },
        "kept": { "held": f.whole(), "extended": f.whole(), "lost": f.whole() },
        "longest_wait_us": f.next(), "wound_down_ms": f.next(), "is_clean": false,
        "absent": [format!("b:2{EVIL}")], "saturated": "servers_cpu",
        "series": [slice(0.0, f), slice(100.0, f), slice(200.0, f)],
    })
}

fn level(f: &mut Figures, in_flight: u64, offered: Option<u64>) -> Value {
    json!({
        "in_flight": in_flight, "offered_per_s": offered, "rounds": f.whole(),
        "cycles_per_s": f.next(), "least_cycles_per_s": f.next(), "most_cycles_per_s": f.next(),
        "failed": f.whole(), "overdue": f.whole(), "acquire_p50_us": f.next(),
        "acquire_p99_us": f.next(), "acquire_p999_us": f.next(), "acquire_max_us": f.next(),
        "client_cpu_percent": f.next(), "client_cpu_us_per_cycle": f.next(),
        "server_cpu_percent": f.next(), "servers_cpu_us_per_cycle": f.next(),
        "machine_cpu_percent": f.next(), "own_cpu_percent": f.next(), "is_behind": true,
        "saturated": "client_cpu",
    })
}

/// A run with something in every field.
fn full() -> Value {
    let f = &mut Figures(0.0);
    let offered = f.whole();
    let metric = |f: &mut Figures, change: f64, is_worse: bool| {
        json!({
            "name": format!("rate{EVIL}"), "before": f.next(), "after": f.next(),
            "change": { "change": change, "least": change - 0.011, "most": change + 0.012 },
            "less_is_better": false, "is_judged": true, "is_worse": is_worse,
        })
    };
    json!({
        "schema": SCHEMA,
        "redbolt": { "version": format!("1.2{EVIL}"), "commit": format!("abc{EVIL}") },
        "started_at": format!("2026{EVIL}"),
        "machine": {
            "system": format!("Linux{EVIL}"), "architecture": format!("x86{EVIL}"),
            "processor": format!("fast{EVIL}"), "processors": f.whole(),
        },
        "options": {
            "load": format!("engines{EVIL}"), "workers": f.whole(), "engines": f.whole(),
            "in_flight": f.whole(), "is_sweep": true, "rates": [f.whole(), f.whole()],
            "arrivals": format!("poisson{EVIL}"), "rounds": f.whole(), "seconds": f.next(),
            "warm_up_ms": f.next(), "ttl_ms": f.next(), "hold_ms": f.next(),
            "resources": format!("zipf{EVIL}"), "key_len": f.whole(), "extend_percent": 37,
            "is_fenced": true, "asks_majority": true, "confirms": true, "seed": f.whole(),
        },
        "servers": format!("given{EVIL}"),
        "nodes": [{
            "node": format!("a:1{EVIL}"), "server": format!("redis{EVIL}"),
            "version": format!("7{EVIL}"), "state": format!("ready{EVIL}"),
            "round_trip_ms": f.next(), "unasked": format!("TLS{EVIL}"),
        }],
        "steps": [
            step(f, "redbolt", 8, None), step(f, "raw", 8, None),
            step(f, "redbolt", 16, Some(offered)),
        ],
        "levels": [level(f, 8, None), level(f, 16, Some(offered))],
        "verdict": {
            "knee": 1, "saturated": "network", "text": format!("The knee is here{EVIL}"),
        },
        "against": {
            "contender": format!("raw{EVIL}"),
            "levels": [{
                "in_flight": f.whole(), "redbolt_cycles_per_s": f.next(),
                "raw_cycles_per_s": f.next(), "ratio": f.next(), "least": f.next(),
                "most": f.next(),
            }],
        },
        "baseline": {
            "file": format!("run0{EVIL}"), "started_at": format!("2025{EVIL}"), "tolerance": 0.053,
            "metrics": [metric(f, -0.123, true), metric(f, 0.234, false)],
            "is_worse": true, "differences": [format!("other kernel{EVIL}")],
        },
    })
}

/// The same without anything that a run may lack.
fn bare() -> Value {
    let mut run = full();
    for list in ["nodes", "steps", "levels"] {
        run[list] = json!([]);
    }
    for part in ["against", "baseline"] {
        run[part] = Value::Null;
    }
    run["verdict"] = json!({ "knee": null, "saturated": null, "text": "nothing" });
    run
}

fn page_of(run: &Value) -> String {
    let run: Run = serde_json::from_value(run.clone()).expect("a run");
    page(&run)
}

/// The names of the elements, each checked to be closed by its own end, and all other text.
fn parsed(page: &str) -> (Vec<String>, String) {
    let (mut open, mut names, mut text) = (Vec::new(), Vec::new(), String::new());
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").expect("a page");
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        text.push(' ');
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{text}");
            continue;
        }
        let (tag, is_empty) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.bytes().all(|b| b.is_ascii_alphanumeric()), "<{tag}>");
        assert_eq!(attributes.matches('"').count() % 2, 0, "<{tag}>");
        names.push(name.to_owned());
        if !is_empty {
            open.push(name.to_owned());
        }
    }
    text.push_str(rest);
    assert_eq!(open, Vec::<String>::new());
    (names, text)
}

#[test]
fn every_element_is_closed_and_every_ampersand_is_an_escape() {
    for run in [full(), bare()] {
        let (names, text) = parsed(&page_of(&run));
        assert!(names.iter().any(|name| name == "main"));
        for (at, _) in text.match_indices('&') {
            let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
            assert!(known.iter().any(|known| text[at..].starts_with(known)), "{}", &text[at..]);
        }
    }
}

#[test]
fn a_load_is_called_what_it_is() {
    for (load, unit) in [("threads", "threads"), ("tasks", "tasks"), ("x", "in flight")] {
        let mut run = full();
        run["options"]["load"] = json!(load);
        run["verdict"]["knee"] = json!(0);
        assert!(page_of(&run).contains(&format!("At the knee: 8 {unit}</h3>")), "{load}");
    }
    let mut run = full();
    run["options"]["load"] = json!("keep_alive");
    let page = page_of(&run);
    assert!(page.contains(" locks kept alive</h3>") || page.contains("8 locks kept alive"));
    assert!(page.contains("<dt>lost</dt>") && !page.contains("<dt>cycles a second</dt>"));
}

#[test]
fn rounds_that_differ_too_much_are_told_of_beside_the_verdict() {
    let mut run = full();
    let level = &mut run["levels"][0];
    level["cycles_per_s"] = json!(100.0);
    level["least_cycles_per_s"] = json!(80.0);
    for (most, is_told) in [(120.0, true), (99.0, false)] {
        run["levels"][0]["most_cycles_per_s"] = json!(most);
        run["levels"][1] = run["levels"][0].clone();
        let page = page_of(&run);
        assert_eq!(page.contains("Rounds of one load differ by up to 40 %"), is_told, "{most}");
    }
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let page = page_of(&full());
    let (names, _) = parsed(&page);
    let foreign = ["script", "link", "img", "iframe", "object", "embed", "a", "image", "use"];
    assert_eq!(names.iter().find(|name| foreign.contains(&name.as_str())), None);
    for reference in ["http:", "https:", "url(", "@import", " href=", " src=\"//evil\""] {
        assert!(!page.contains(reference), "{reference}");
    }
}

#[test]
fn a_text_of_somebody_else_shows_and_is_no_markup() {
    let page = page_of(&full());
    assert!(!page.contains("<script"));
    assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'));
    let shown = "&lt;script src=&quot;//evil&quot;&gt;&#39;&amp;amp;\\u{202e}\\u{1b}";
    let texts = [
        "1.2",
        "abc",
        "2026",
        "Linux",
        "x86",
        "fast",
        "engines",
        "poisson",
        "zipf",
        "given",
        "a:1",
        "redis",
        "7",
        "ready",
        "TLS",
        "The knee is here",
        "raw",
        "run0",
        "2025",
        "rate",
        "held",
        "other kernel",
        "set",
        "b:2",
    ];
    for text in texts {
        assert!(page.contains(&format!("{text}{shown}")), "{text}");
    }
}

/// Adds how the page writes every number, with where it is in the run.
fn numbers(value: &Value, path: &str, out: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                // The slices are drawn.
                if name != "series" {
                    numbers(value, &format!("{path}/{name}"), out);
                }
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| numbers(item, path, out));
        }
        Value::Number(number) => {
            let is_share = ["/change/", "/tolerance"].iter().any(|part| path.contains(part));
            let number = number.as_f64().expect("a number");
            let number = if is_share { (number * 1e3).round() / 10.0 } else { number };
            out.push((path.to_owned(), written(number)));
        }
        _ => {}
    }
}

/// The number as a person would write it.
fn written(number: f64) -> String {
    let text = format!("{:.3}", number.abs());
    let (whole, decimals) = text.split_once('.').expect("three decimals");
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{}{out}{point}{decimals}", if number < 0.0 { "−" } else { "" })
}

#[test]
fn every_figure_of_the_run_is_on_the_page() {
    let run = full();
    let (_, text) = parsed(&page_of(&run));
    let mut all = Vec::new();
    numbers(&run, "", &mut all);
    assert!(all.len() > 150, "{}", all.len());
    let is_part = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
    for (path, number) in all {
        // A whole figure, and not a part of a longer one. The number of the knee is a row.
        let found = text.match_indices(&number).any(|(at, _)| {
            let before = text[..at].chars().next_back().is_some_and(is_part);
            let mut after = text[at + number.len()..].chars();
            let after = after
                .next()
                .is_some_and(|c| is_part(c) && after.next().is_some_and(|c| c.is_ascii_digit()));
            !before && !after
        });
        assert!(found || path == "/verdict/knee", "{path}: {number}");
    }
}

#[test]
fn charts_have_points_within_their_frame_for_any_figures() {
    let mut run = full();
    for (index, value) in [0.0, -1.0, 1e300, f64::MIN_POSITIVE].into_iter().enumerate() {
        let level = index % 2;
        run["levels"][level]["cycles_per_s"] = json!(value);
        run["levels"][level]["acquire_p99_us"] = json!(value);
        let page = page_of(&run);
        let points = page.split("points=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let mut count = 0;
        for pair in points.flat_map(str::split_whitespace) {
            let (x, y) = pair.split_once(',').expect("two numbers");
            let [x, y] = [x, y].map(|number| number.parse::<f64>().expect("a number"));
            assert!((0.0..=480.0).contains(&x) && (0.0..=300.0).contains(&y), "{pair}");
            count += 1;
        }
        assert!(count > 0);
    }
}
