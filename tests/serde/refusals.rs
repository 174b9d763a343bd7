//! What cannot be used is refused by its name, with the reason.

use redbolt::{Config, Login};

/// Each text is refused with a message that has these words.
fn refused(rows: &[(&str, &str)]) {
    for (text, message) in rows {
        let error = toml::from_str::<Config>(text).expect_err(text);
        assert!(error.message().contains(message), "{text}: {error}");
    }
}

#[test]
fn a_setting_that_cannot_be_used_is_named_with_the_reason() {
    refused(&[
        (r#"max_ttl = "10s""#, "missing field `nodes`"),
        (
            "nodes = [\"a\"]\nmax_tll = \"10s\"",
            "there is no setting \"max_tll\", but there are nodes, user, password, busy_poll, ttl, \
             wait, threads, quorum, ask, max_ttl, restart_guard, max_hold, lost_lead, fence_skew, \
             drift_rate_ppm, drift_step, node_timeout, connect_timeout, close_timeout, \
             release_timeout, retry_max, tenure, tenure_gap, reconnect_max, max_locks, \
             max_pipeline, max_cleanup, repair, prefix",
        ),
        (
            "nodes = [\"a\"]\nmax_ttl = 10",
            "max_ttl is the number 10, and needs a unit: \"10s\", with quotes, stands for",
        ),
        (
            "nodes = [\"a\"]\nmax_ttl = \"10\"",
            "max_ttl is \"10\", which needs a unit, as in 60s or 60000ms",
        ),
        ("nodes = [\"a\"]\nmax_ttl = 1.5", "max_ttl is the number 1.5, and needs a unit"),
        ("nodes = [\"a\"]\nttl = -1", "integer `-1`, expected ttl as a text such as \"250us\""),
        ("nodes = [\"a\"]\nttl = true", "expected ttl as a text such as"),
        ("nodes = [\"a\"]\nmax_ttl = \"10x\"", "max_ttl is \"10x\", whose unit is not one of ns"),
        ("nodes = [\"a\"]\nmax_ttl = \"10 seconds\"", "max_ttl is \"10 seconds\", whose unit is"),
        ("nodes = [\"a\"]\nwait = \"-5s\"", "wait is \"-5s\", which is not a duration such as"),
        ("nodes = [\"a\"]\nwait = \"\"", "wait is \"\", which is not a duration such as 250us"),
        (
            "nodes = [\"a\"]\nrestart_guard = \"On\"",
            "restart_guard is \"On\", which is written \"on\"",
        ),
        (
            "nodes = [\"a\"]\nrestart_guard = \"never\"",
            "restart_guard is \"never\", on, strict, durable or off is possible",
        ),
        (
            "nodes = [\"a\"]\nmax_locks = -1",
            "integer `-1`, expected max_locks as a whole number between 1 and",
        ),
        (
            "nodes = [\"a\"]\nmax_locks = 16777217",
            "`16777217`, expected max_locks as a whole number between 1",
        ),
        (
            "nodes = [\"a\"]\nquorum = 17",
            "`17`, expected quorum as a whole number between 1 and 16",
        ),
        (
            "nodes = [\"a\"]\ndrift_rate_ppm = 100001",
            "`100001`, expected drift_rate_ppm as a whole number between 0",
        ),
        (
            "nodes = [\"a\"]\nthreads = 65",
            "`65`, expected threads as a whole number between 1 and 64",
        ),
        ("nodes = [\"a\"]\nthreads = 1.0", "`1.0`, expected threads as a whole number between"),
        ("nodes = [\"a\"]\nrepair = 1", "`1`, expected repair as true or false"),
        ("nodes = [\"a\"]\nprefix = 1", "expected prefix as a text, or as a list of bytes"),
        ("nodes = [\"a\"]\nprefix = [256]", "`256`, expected a byte of the prefix as a whole"),
        ("nodes = [\"a\"]\nrestart_guard = 1", "expected restart_guard as \"on\", \"strict\""),
        ("nodes = [\"a\"]\nask = 1", "expected ask as \"all\" or \"majority\""),
        (
            "nodes = [\"a\"]\nask = \"Majority\"",
            "ask is \"Majority\", which is written \"majority\"",
        ),
        ("nodes = [\"a\"]\nask = \"some\"", "ask is \"some\", all or majority is possible"),
    ]);
    let twice = r#"{"nodes": ["a"], "repair": true, "repair": false}"#;
    let error = serde_json::from_str::<Config>(twice).expect_err("given twice");
    assert!(error.to_string().contains("\"repair\" is given twice"), "{error}");
}

#[test]
fn a_text_that_stands_for_no_value_of_the_setting_is_shown_with_what_is_possible() {
    refused(&[
        (
            "nodes = [\"a\"]\nquorum = \"two\"",
            "quorum is \"two\", a whole number between 1 and 16 is possible",
        ),
        ("nodes = [\"a\"]\nquorum = \"+2\"", "quorum is \"+2\", a whole number between 1 and 16"),
        ("nodes = [\"a\"]\nquorum = \"17\"", "quorum is \"17\", a whole number between 1 and 16"),
        ("nodes = [\"a\"]\nquorum = \"\"", "quorum is \"\", a whole number between 1 and 16"),
        ("nodes = [\"a\"]\nrepair = \"yes\"", "repair is \"yes\", true or false is possible"),
    ]);
}

#[test]
fn a_node_that_cannot_be_used_is_refused_with_the_reason() {
    refused(&[
        (
            "nodes = [{ host = \"a\", port = 65536 }]",
            "`65536`, expected port as a whole number between 1 and 65535",
        ),
        (
            "nodes = [{ host = \"a\", database = -1 }]",
            "`-1`, expected database as a whole number between 0 and",
        ),
        ("nodes = [\"a\"]\nuser = \"u\"", "`user` is set, but `password` is not: a user needs one"),
        ("nodes = [{ host = \"a\", user = \"u\" }]", "address \"a\" has a user without a password"),
        (
            "nodes = [{ host = \"a\", port = \"7000x\" }]",
            "port is \"…\", a whole number between 1 and 65535 is possible",
        ),
        ("nodes = [\"a\"]\npassword = 7", "a user or a password is not a text, and loses leading"),
        ("nodes = [\"a:x\"]", "the address \"a:…\" has a port"),
        ("nodes = \"a,b:x\"", "address 2 of the list, \"b:…\", has a port"),
        ("nodes = 1", "expected nodes as a list of addresses, or as one text"),
        ("nodes = [1]", "an address as text, or a map of host and port or path, user"),
        ("nodes = [{ port = 1 }]", "missing field `host`"),
        ("nodes = [{ host = 'a', path = '/s' }]", "a node has either a path or a host and a port"),
        ("nodes = [{ port = 1, path = '/s' }]", "a node has either a path or a host and a port"),
        ("nodes = [{ host = 'h', tls = false, ca = 'c' }]", "a node without tls has no ca, cert"),
        ("nodes = [{ path = '/s', tls = true }]", "asks for TLS"),
        ("nodes = [{ path = 's' }]", "lacks a path, which begins with a slash"),
        (
            "nodes = [{ host = \"a\", name = \"b\" }]",
            "a node has no \"name\", but host and port or path, user, password, database, tls, ca",
        ),
        (
            "nodes = [{ host = \"a\", port = 0 }]",
            "`0`, expected port as a whole number between 1 and 65535",
        ),
    ]);
    let many = format!("{{\"nodes\": [{}\"a\"]}}", "\"a\",".repeat(16));
    let error = serde_json::from_str::<Config>(&many).expect_err("too many");
    assert!(error.to_string().contains("more than 16 nodes"), "{error}");
    // Also where a variable is to name the nodes later on.
    let long = format!("nodes = []\npassword = '{}'", "x".repeat(Login::MAX_LEN + 1));
    refused(&[(&long, "`password` has more than 16384 bytes")]);
}
