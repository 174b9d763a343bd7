//! Servers that lie, stall, or repeat what they were told.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::run::{bench, run, spawn, text};
use crate::support::fake::{Action, Fake, Request};
use crate::support::master::Master;
use crate::support::process::Folder;
use crate::support::servers::Cluster;

/// A master that treats some commands in another way, and grants no lock.
fn unless(special: impl Fn(&Request) -> Option<Action> + Send + 'static) -> Fake {
    let master = Master::new();
    Fake::scripted(move |request| {
        let usual = || master.answer(request).unwrap_or_else(|| b"-ERR no\r\n".to_vec());
        special(request).unwrap_or_else(|| Action::Reply(usual()))
    })
}

fn asks_for(request: &Request, section: &[u8]) -> bool {
    request.name() == "INFO" && request.part(1) == section
}

#[test]
fn a_server_that_answers_byte_by_byte_holds_up_no_run() {
    let cluster = Cluster::start(2);
    let endless = [&b"$100000\r\n"[..], &[b'x'; 100_000]].concat();
    let fake = unless(move |request| {
        let drip = || Action::Drip(Duration::from_millis(100), endless.clone());
        asks_for(request, b"commandstats").then(drip)
    });
    let nodes = format!("{},{}", cluster.addrs().join(","), fake.addr());
    let args = ["--nodes", &nodes, "--seconds", "3s", "--in-flight", "4"];
    let (table, said) = text(spawn(bench(&args)).finish(), 0);
    let expected = format!("{}: redis", fake.addr());
    let line = said.lines().find(|line| line.contains(&expected)).unwrap_or_default();
    assert!(line.ends_with("; no CPU figures: no answer within 1s"), "{said}");
    assert!(table.contains(" µs of the CPU of 2 of 3 servers, "), "{table}");
}

#[test]
fn a_processor_time_that_is_no_time_spoils_no_figure() {
    let (cluster, folder) = (Cluster::start(2), Folder::new());
    let fake = unless(|request| {
        let cpu = "$46\r\nused_cpu_sys:1e308\r\nused_cpu_user:1e308\r\n     \r\n";
        asks_for(request, b"cpu").then(|| Action::Reply(cpu.into()))
    });
    let nodes = format!("{},{}", cluster.addrs().join(","), fake.addr());
    let out = folder.path().display().to_string();
    let args = ["--nodes", &nodes, "--seconds", "200ms", "--in-flight", "4", "--out", &out];
    let (table, said) = text(run(&args), 0);
    assert!(!table.contains("NaN") && !table.contains("inf"), "{table}");
    assert!(said.contains("no CPU figures: the server does not tell its CPU time"), "{said}");
    let written = fs::read(folder.path().join("run.json")).expect("it was written");
    let written: Value = serde_json::from_slice(&written).expect("it is JSON");
    assert!(written["steps"][0]["servers"]["cpu_us_per_cycle"].is_number(), "{written}");
}

#[test]
fn a_password_that_a_server_repeats_is_neither_printed_nor_written() {
    let (cluster, folder) = (Cluster::start(2), Folder::new());
    let fake = unless(|request| {
        let is_login = |part: &Vec<u8>| part == b"hushhush";
        let said = || Action::Reply(b"-ERR no hushhush\r\n".to_vec());
        request.parts.iter().any(is_login).then(said)
    });
    let nodes = format!("{},redis://:hushhush@{}", cluster.addrs().join(","), fake.addr());
    let out = folder.path().display().to_string();
    let args = ["--nodes", &nodes, "--seconds", "200ms", "--in-flight", "4", "--out", &out];
    let (stdout, stderr) = text(run(&args), 0);
    assert!(stderr.contains("the server refuses AUTH: \"ERR …\""), "{stderr}");
    let mut texts = vec![stdout, stderr];
    for file in ["run.json", "report.html", "series.csv", "acquire.hlog"] {
        texts.push(fs::read_to_string(folder.path().join(file)).expect("it was written"));
    }
    for text in texts {
        assert!(!text.contains("hush"), "{text}");
    }
}
