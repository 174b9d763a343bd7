//! Exit codes, verdicts and the table.

use crate::support::fake::Fake;
use crate::support::servers::{Cluster, Node};
use crate::{check, command, declared, finished, init, seen};

#[test]
fn nodes_that_are_all_good_get_a_line_each_and_a_good_verdict() {
    let cluster = declared(5);
    let found = seen(&cluster.addrs(), &[]);
    found.assert_verdict(0, "5 of 5 can vote, 3 needed: 2 may fail");
    let head: Vec<_> = found.text.lines().next().expect("a line").split_whitespace().collect();
    assert_eq!(&head[..3], ["node", "state", "server"], "{}", found.text);
    for (line, node) in found.text.lines().skip(1).zip(cluster.iter()) {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(&words[..3], [&node.addr(), "ready", "redis"], "{}", found.text);
        assert_eq!(words.len(), 9, "{}", found.text);
        let found = found.node(&node.addr());
        assert_eq!(found["run_id"].as_str(), node.info("run_id").as_deref());
        assert_eq!(found["version"].as_str(), node.info("redis_version").as_deref());
        let facts = [
            ("state", "ready"),
            ("maxmemory_policy", "noeviction"),
            ("persistence", "none"),
            ("appendfsync", "everysec"),
            ("machine", "127.0.0.1"),
        ];
        for (name, expected) in facts {
            assert_eq!(found[name], expected, "{found}");
        }
        assert_eq!(found["missing_rights"].as_array().map(Vec::len), Some(0), "{found}");
        assert!(found["round_trip_ms"].as_f64().is_some_and(|time| time > 0.0), "{found}");
        assert!(found["uptime_ms"].is_f64() && found["clock"]["offset_ms"].is_f64());
        assert_eq!(found["deployment"]["nodes"], 5, "{found}");
    }
    // Nothing keeps a node from voting; what is worth knowing is there.
    assert!(!found.text.contains("\n! "), "{}", found.text);
    found.assert_finding(&cluster[0].addr(), false, "on one machine (127.0.0.1)", "of its own");
    found.assert_finding(&cluster[4].addr(), false, "no persistence", "one at a time");
}

#[test]
fn the_code_tells_a_node_that_cannot_vote_from_a_quorum_that_cannot() {
    let mut cluster = declared(5);
    let addrs = cluster.addrs();
    let rows = [
        (1, 1, "4 of 5 can vote, 3 needed: 1 may fail"),
        (2, 1, "3 of 5 can vote, 3 needed: none may fail"),
        (3, 69, "2 of 5 can vote, 3 needed: NO LOCKS NOW"),
    ];
    for (down, code, verdict) in rows {
        cluster[down].kill();
        let found = seen(&addrs, &[]);
        found.assert_verdict(code, verdict);
        let cause = "connecting failed: connection refused";
        found.assert_finding(&addrs[down], true, cause, "start the server, or correct the port");
        assert_eq!(found.node(&addrs[down])["label"], "DOWN");
    }
    let quorum = ["--quorum", "5"];
    seen(&addrs[..1], &quorum[..0]).assert_verdict(69, "0 of 1");
    check(&addrs, &["--quorum", "6"]).assert_usage("quorum");
}

#[test]
fn new_nodes_are_told_apart_from_nodes_that_wait() {
    let cluster = Cluster::start(3);
    let addrs = cluster.addrs();
    let found = seen(&addrs, &[]);
    found.assert_verdict(69, "0 of 3 can vote, 2 needed: NO LOCKS NOW; 3 can ");
    found.assert_finding(
        &addrs[0],
        true,
        "it has no witness",
        "redbolt init --fresh, if no client",
    );
    assert_eq!(found.node(&addrs[0])["quarantine"]["is_running"], false);
    init(&addrs, &["--no-wait"]);
    let found = seen(&addrs, &[]);
    found.assert_verdict(69, "0 of 3 can vote, 2 needed: NO LOCKS NOW; 2 in ");
    found.assert_finding(&addrs[0], true, "its witness is ", "nothing: it votes in ");
    assert_eq!(found.node(&addrs[0])["quarantine"]["is_running"], true);
    // Whoever does not guard against restarts has no quarantine.
    seen(&addrs, &["--restart-guard", "off"]).assert_verdict(0, "3 of 3 can vote");
    let found = seen(&addrs, &["--restart-guard", "strict"]);
    found.assert_verdict(69, "0 of 3 can vote");
    found.assert_finding(&addrs[1], true, "restart_guard is strict", "set restart_guard to on");
}

#[test]
fn a_node_that_is_silent_strange_or_unknown_is_told_in_bounded_time() {
    let (silent, closing) = (Fake::silent(), Fake::closing());
    let strange = Fake::repeating(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let addrs = [silent.addr(), closing.addr(), strange.addr(), "nowhere.invalid:6379".to_owned()];
    let found = seen(&addrs, &[]);
    found.assert_verdict(69, "0 of 4 can vote, 3 needed: NO LOCKS NOW");
    found.assert_finding(&addrs[0], true, "connected, but no answer within 1s", "look at its log");
    found.assert_finding(&addrs[1], true, "", "what stands between");
    found.assert_finding(&addrs[2], true, "not a Redis protocol", "correct the port");
    found.assert_finding(&addrs[3], true, "the name could not be resolved", "check the name");
}

/// Whatever a stranger answers, the check ends, and the node is out.
#[test]
fn any_reply_to_all_questions_is_survived() {
    let replies = [
        "+OK\r\n",
        "-ERR\r\n",
        "-\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "*0\r\n",
        ":-9223372036854775808\r\n",
        "*2\r\n$1\r\n1\r\n$20\r\n18446744073709551615\r\n",
        "*2\r\n$20\r\n18446744073709551615\r\n$1\r\n1\r\n",
        "$22\r\nrole:master\r\nloading:0\r\n",
        "$21\r\nx 99999999999999999999\r\n",
        "$14\r\nrun_id:\x1b[2J\r\n\r\n",
        "%1\r\n+a\r\n+b\r\n",
        "_\r\n",
        ">1\r\n+a\r\n",
    ];
    for reply in replies {
        let strange = Fake::repeating(reply.as_bytes());
        let found = seen(&[strange.addr()], &[]);
        found.assert_verdict(69, "0 of 1 can vote");
        assert_eq!(found.node(&strange.addr())["state"], "out", "{reply:?}");
        assert!(!found.text.contains('\x1b'), "{reply:?}");
    }
}

#[test]
fn a_long_address_keeps_the_table_narrow() {
    let cluster = declared(1);
    let addr = cluster[0].addr().replace("127.0.0.1", "localhost");
    let long = format!("{}.invalid:6379", "a-rather-long-name-of-a-host".repeat(2));
    let found = seen(&[addr.clone(), long.clone()], &[]);
    assert!(found.text.lines().any(|line| line == long), "{}", found.text);
    assert_eq!(found.node(&long)["label"], "NO NAME");
    found.assert_finding(&addr, true, "2 nodes are configured here, and 1", "list the 1 node ");
}

#[test]
fn a_password_is_never_printed() {
    let node = Node::start_with(&["--requirepass", "right-secret"]);
    for password in ["right-secret", "wrong-secret"] {
        let url = format!("redis://:{password}@{}", node.addr());
        for form in [&["--json"][..], &[]] {
            let outcome = check(std::slice::from_ref(&url), form);
            assert_eq!(outcome.code, Some(69), "{}{}", outcome.out, outcome.err);
            let said = outcome.out + &outcome.err;
            assert!(said.contains(&node.addr()) && !said.contains("secret"), "{said}");
        }
    }
}

#[test]
fn wrong_usage_is_told_before_a_node_is_asked() {
    check(&[], &[]).assert_usage("no nodes given");
    check(&["127.0.0.1:1".to_owned()], &["--watch=0"]).assert_usage("--watch");
    check(&["127.0.0.1:1".to_owned()], &["--watch", "soon"]).assert_usage("--watch");
    check(&["127.0.0.1:1".to_owned()], &["--max-ttl", "0"]).assert_usage("max-ttl");
    let mut twice = command(&["127.0.0.1:1".to_owned(), "127.0.0.1:1".to_owned()], &[]);
    twice.env_remove("REDBOLT_PREFIX");
    finished(twice).assert_usage("127.0.0.1:1");
}

impl crate::Outcome {
    #[track_caller]
    fn assert_usage(&self, text: &str) {
        assert_eq!(self.code, Some(64), "{}{}", self.out, self.err);
        assert!(self.err.contains(text) && self.out.is_empty(), "{}{}", self.out, self.err);
    }
}
