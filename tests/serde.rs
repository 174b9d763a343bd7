//! Configurations in files, as users of the feature `serde` have them.
#![cfg(all(feature = "serde", feature = "net"))]

use std::time::Duration;

use redbolt::{Config, Drift, Handover, Login, RedlockConfig, RestartGuard, Token};

/// A configuration in which nothing is the default.
fn strange() -> Config {
    let mut config = Config::new(["a", "redis://b:7000/3", "[::1]:7001"]).expect("addresses");
    config.busy_poll = Duration::from_nanos(1_500);
    (config.ttl, config.wait) = (Some(Duration::from_secs(5)), Duration::from_secs(2));
    config.threads = 2;
    let settings = &mut config.redlock;
    settings.quorum = Some(3);
    settings.max_ttl = Duration::from_millis(10_500);
    settings.restart_guard = RestartGuard::Durable;
    settings.max_hold = Duration::MAX;
    settings.lost_lead = Duration::from_micros(250);
    settings.drift = Drift::new(10_000, Duration::from_millis(5));
    settings.node_timeout = Some(Duration::from_millis(20));
    settings.connect_timeout = Duration::from_secs(2);
    settings.close_timeout = Duration::from_secs(90);
    settings.release_timeout = Duration::from_secs(3);
    settings.retry_max = Duration::from_millis(200);
    settings.tenure = Duration::MAX;
    settings.tenure_gap = Duration::ZERO;
    settings.reconnect_max = Duration::from_secs(120);
    settings.max_locks = 1;
    settings.max_pipeline = 2;
    settings.max_cleanup = 3;
    settings.repair = false;
    settings.prefix = b"locks:".to_vec();
    settings.label = b"billing".to_vec();
    config
}

fn shown(config: &Config) -> String {
    format!("{config:?}")
}

#[test]
fn what_is_written_reads_back() {
    let mut plain = Config::new(["a", "b", "c"]).expect("addresses");
    plain.redlock.prefix = vec![0xff, 0];
    for config in [strange(), plain] {
        let json = serde_json::to_string(&config).expect("it can be written");
        let read: Config = serde_json::from_str(&json).expect("it can be read");
        assert_eq!(shown(&read), shown(&config), "{json}");
        let toml = toml::to_string(&config).expect("it can be written");
        let read: Config = toml::from_str(&toml).expect("it can be read");
        assert_eq!(shown(&read), shown(&config), "{toml}");

        let json = serde_json::to_string(&config.redlock).expect("it can be written");
        let read: RedlockConfig = serde_json::from_str(&json).expect("it can be read");
        assert_eq!(format!("{read:?}"), format!("{:?}", config.redlock), "{json}");
    }
}

#[test]
fn a_file_has_the_names_and_the_words_of_the_command_line() {
    let text = toml::to_string(&strange()).expect("it can be written");
    let expected = "\
nodes = [\"a:6379\", \"redis://b:7000/3\", \"[::1]:7001\"]
busy_poll = \"1.5us\"
ttl = \"5s\"
wait = \"2s\"
threads = 2
quorum = 3
max_ttl = \"10.5s\"
restart_guard = \"durable\"
max_hold = \"forever\"
lost_lead = \"250us\"
drift_rate_ppm = 10000
drift_step = \"5ms\"
node_timeout = \"20ms\"
connect_timeout = \"2s\"
close_timeout = \"90s\"
release_timeout = \"3s\"
retry_max = \"200ms\"
tenure = \"forever\"
tenure_gap = \"0s\"
reconnect_max = \"2m\"
max_locks = 1
max_pipeline = 2
max_cleanup = 3
repair = false
prefix = \"locks:\"
label = \"billing\"
";
    assert_eq!(text, expected);
}

#[test]
fn what_is_missing_is_the_default_and_null_is_none() {
    let config: Config = toml::from_str("nodes = [\"a\"]").expect("nodes are enough");
    assert_eq!(shown(&config), shown(&Config::new(["a"]).expect("an address")));
    let text = r#"{"nodes": "a, redis://:p%2Cq@b", "quorum": null, "node_timeout": null}"#;
    let config: Config = serde_json::from_str(text).expect("a list in one text");
    assert_eq!((config.nodes.len(), config.redlock.quorum), (2, None));
    assert_eq!(config.nodes[1].login().password.as_deref(), Some("p,q"));
    let settings: RedlockConfig = toml::from_str("").expect("nothing is needed");
    assert_eq!(format!("{settings:?}"), format!("{:?}", RedlockConfig::default()));
}

#[test]
fn a_node_may_be_written_in_parts_without_an_encoding() {
    let text = r#"
        user = "locks"
        password = "p@ss/word"
        [[nodes]]
        host = "a"
        [[nodes]]
        host = "::1"
        port = 7000
        user = "own"
        password = "p,q%"
        database = 3
        [[nodes]]
        host = "c"
        database = 1
    "#;
    let config: Config = toml::from_str(text).expect("it can be read");
    let logins: Vec<_> = config.nodes.iter().map(|node| node.login().clone()).collect();
    let all = Login::with_user("locks", "p@ss/word");
    let own = Login::with_user("own", "p,q%").in_database(3);
    assert_eq!(logins, [all.clone(), own, all.in_database(1)]);
    assert_eq!(config.nodes[1].to_string(), "[::1]:7000/3");
}

/// Crates that put files and variables together have texts where a file has numbers.
#[test]
fn a_text_stands_for_what_is_written_in_it() {
    let text = r#"
        nodes = "a, b, c"
        quorum = "3"
        max_ttl = " 10s "
        tenure_gap = 0
        threads = " 2 "
        repair = "false"
        restart_guard = " strict"
        max_locks = "07"
    "#;
    let config: Config = toml::from_str(text).expect("it can be read");
    let settings = &config.redlock;
    assert_eq!((config.threads, settings.quorum, settings.max_locks), (2, Some(3), 7));
    let durations = (settings.max_ttl, settings.tenure_gap);
    assert_eq!(durations, (Duration::from_secs(10), Duration::ZERO));
    assert_eq!((settings.repair, settings.restart_guard), (false, RestartGuard::Strict));
    let node = r#"nodes = [{ host = "a", port = "7000", database = "3" }]"#;
    let config: Config = toml::from_str(node).expect("it can be read");
    assert_eq!(config.nodes[0].to_string(), "a:7000/3");
}

#[test]
fn variables_override_a_file() {
    let text = r#"
        nodes = ["a", { host = "b", user = "own", password = "p,q" }]
        user = "locks"
        password = "old"
        max_ttl = "20s"
        wait = "2s"
    "#;
    let mut config: Config = toml::from_str(text).expect("it can be read");
    let variables = |name: &str| match name {
        "REDBOLT_PASSWORD" => Some("new"),
        "REDBOLT_WAIT" => Some("5s"),
        _ => None,
    };
    config.apply_vars(variables).expect("they can be used");
    let logins: Vec<_> = config.nodes.iter().map(|node| node.login().clone()).collect();
    assert_eq!(logins, [Login::with_user("locks", "new"), Login::with_user("own", "p,q")]);
    let durations = (config.redlock.max_ttl, config.wait);
    assert_eq!(durations, (Duration::from_secs(20), Duration::from_secs(5)));

    let mut config: Config = toml::from_str("nodes = []\npassword = 'p'").expect("it can be read");
    let nodes = |name: &str| (name == "REDBOLT_NODES").then_some("a");
    config.apply_vars(nodes).expect("there are nodes now");
    assert_eq!(config.nodes[0].login().password.as_deref(), Some("p"));
}

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
             wait, threads, quorum, max_ttl, restart_guard, max_hold, lost_lead, drift_rate_ppm, \
             drift_step, node_timeout, connect_timeout, close_timeout, release_timeout, \
             retry_max, tenure, tenure_gap, reconnect_max, max_locks, max_pipeline, max_cleanup, \
             repair, prefix",
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
        ("nodes = [1]", "expected an address as text, or a map of host, port, user"),
        ("nodes = [{ port = 1 }]", "missing field `host`"),
        (
            "nodes = [{ host = \"a\", name = \"b\" }]",
            "a node has no \"name\", but host, port, user, password and database",
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

#[test]
fn a_login_is_not_written_and_a_file_without_it_is_refused() {
    let nodes = ["redis://app:secret@a:7000/3", "redis://:secret@b"];
    let config = Config::new(nodes).expect("addresses");
    let json = serde_json::to_string(&config).expect("it can be written");
    let toml = toml::to_string(&config).expect("it can be written");
    for text in [&json, &toml] {
        assert!(!text.contains("secret") && !text.contains("app"), "{text}");
        assert!(text.contains("redis://…@a:7000/3") && text.contains("redis://…@b:6379"), "{text}");
    }
    let error = serde_json::from_str::<Config>(&json).expect_err("the logins are lost");
    assert!(error.to_string().contains("the login was left out"), "{error}");
}

#[test]
fn no_error_shows_a_secret() {
    for text in [
        r#"{"nodes": ["redis://:secret@a:x"]}"#,
        r#"{"nodes": ["redis://:sec;ret@"]}"#,
        r#"{"nodes": "redis://:sec,secret@a"}"#,
        r#"{"nodes": ["redis://a?password=secret"]}"#,
        r#"{"nodes": [{"host": "redis://:secret@a"}]}"#,
        r#"{"nodes": [{"host": "a", "user": "secret"}]}"#,
        r#"{"nodes": ["a"], "password": 5307001}"#,
        r#"{"nodes": ["a"], "password": -5307001}"#,
        r#"{"nodes": ["a"], "password": 5307001.5}"#,
        r#"{"nodes": [{"host": "a", "password": 5307001}]}"#,
        // An address in the wrong place.
        r#"{"nodes": ["a"], "max_ttl": "redis://:secret@a"}"#,
        r#"{"nodes": ["a"], "ttl": ":5307001-secret"}"#,
        r#"{"nodes": ["a"], "restart_guard": "secret@a"}"#,
        r#"{"nodes": ["a"], "max_locks": "redis://:secret@a"}"#,
        r#"{"nodes": ["a"], "repair": "redis://:secret@a"}"#,
        r#"{"nodes": ["a"], "quorum": "secret@a"}"#,
        r#"{"nodes": [{"host": "a", "port": "secret"}]}"#,
        r#"{"nodes": [{"host": "a", "database": "secret"}]}"#,
        // An address in the place of a name, as from a file that lacks a bracket or a quote.
        r#"{"nodes": [{"redis://:secret@a": "redis://:secret@b"}]}"#,
        r#"{"nodes": ["a"], "redis://:secret@b": 1}"#,
        r#"{"redis://:secret@a": 1, "redis://:secret@a": 2}"#,
    ] {
        let error = serde_json::from_str::<Config>(text).expect_err(text);
        let shown = format!("{error} {error:?} {error:#?}");
        assert!(!shown.contains("sec") && !shown.contains("5307001"), "{text}: {shown}");
    }
}

/// What the page of `Config` says to keep of an error of `toml`, wherever the file is broken.
#[test]
fn the_message_of_a_broken_file_shows_no_password() {
    const FILE: &str = "nodes = ['redis://:secret@a']\npassword = 'secret'\n";
    for (line, found) in [
        ("password = 'secret'", 3),
        ("password = secret", 3),
        ("password = 'secret", 3),
        ("password 'secret'", 3),
        ("threads = 'two'", 3),
        ("threads = 0 # secret", 3),
        ("[[nodes]]\npassword = 'secret'", 3),
        ("max_ttl = '1 day' 'secret'", 3),
        ("wait = \"\\secret\"", 3),
    ] {
        let text = format!("{FILE}{line}\n");
        let error = toml::from_str::<Config>(&text).expect_err(line);
        let message = error.message();
        assert!(!message.contains("sec"), "{line}: {message}");
        let start = error.span().map_or(0, |span| span.start);
        assert_eq!(1 + text[..start].matches('\n').count(), found, "{line}: {message}");
    }
}

#[test]
fn a_token_and_a_handover_go_to_another_process_as_text() {
    let hex = "ab".repeat(20);
    let token: Token = hex.parse().expect("forty digits");
    assert_eq!(serde_json::to_string(&token).expect("it can be written"), format!("\"{hex}\""));
    assert_eq!(
        serde_json::from_str::<Token>(&format!("\"{hex}\"")).expect("it can be read"),
        token
    );
    let json = format!("\"1:{hex}:7:61:00ff\"");
    let handover: Handover = serde_json::from_str(&json).expect("it can be read");
    assert_eq!(handover.resources, [&b"a"[..], b"\x00\xff"]);
    assert_eq!(serde_json::to_string(&handover).expect("it can be written"), json);
    for text in ["\"abab-abab\"", "\"1:abab:7:61\""] {
        let token = serde_json::from_str::<Token>(text).expect_err(text);
        let handover = serde_json::from_str::<Handover>(text).expect_err(text);
        assert!(!format!("{token} {handover}").contains("abab"), "{text}");
    }
}
