//! What is written reads back, and what people write is read.

use std::time::Duration;

use redbolt::{Ask, Config, Drift, Login, RedlockConfig, RestartGuard};

/// A configuration in which nothing is the default.
fn strange() -> Config {
    let mut config = Config::new(["a", "redis://b:7000/3", "[::1]:7001"]).expect("addresses");
    config.busy_poll = Duration::from_nanos(1_500);
    (config.ttl, config.wait) = (Some(Duration::from_secs(5)), Duration::from_secs(2));
    config.threads = 2;
    let settings = &mut config.redlock;
    settings.quorum = Some(3);
    settings.ask = Ask::Majority;
    settings.max_ttl = Duration::from_millis(10_500);
    settings.restart_guard = RestartGuard::Durable;
    settings.max_hold = Duration::MAX;
    settings.lost_lead = Duration::from_micros(250);
    settings.fence_skew = Duration::from_millis(1_500);
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
    settings.connection_name = b"billing:web-3".to_vec();
    config
}

fn shown(config: &Config) -> String {
    format!("{config:?}")
}

#[test]
fn what_is_written_reads_back() {
    let mut plain = Config::new(["a", "b", "redis://[fe80::1%25eth0]:1/3"]).expect("addresses");
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
ask = \"majority\"
max_ttl = \"10.5s\"
restart_guard = \"durable\"
max_hold = \"forever\"
lost_lead = \"250us\"
fence_skew = \"1.5s\"
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
connection_name = \"billing:web-3\"
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
        path = "/run/c,d"
        database = 1
    "#;
    let config: Config = toml::from_str(text).expect("it can be read");
    let logins: Vec<_> = config.nodes.iter().map(|node| node.login().clone()).collect();
    let all = Login::with_user("locks", "p@ss/word");
    let own = Login::with_user("own", "p,q%").in_database(3);
    assert_eq!(logins, [all.clone(), own, all.in_database(1)]);
    assert_eq!(config.nodes[1].to_string(), "[::1]:7000/3");
    assert_eq!(config.nodes[2].path(), Some("/run/c,d"));
}

#[cfg(feature = "tls")]
#[test]
fn tls_is_read_in_parts_and_written_with_its_files() {
    use redbolt::Tls;

    let text = r#"
        nodes = [
            { host = "a", tls = true },
            { host = "b", ca = "/c d.pem", cert = "c", key = "k", server_name = "n" },
            "rediss://:p@c?ca=x",
        ]
    "#;
    let config: Config = toml::from_str(text).expect("it can be read");
    let tls: Vec<_> = config.nodes.iter().filter_map(|node| node.tls()).collect();
    let all = Tls::new().with_ca("/c d.pem").with_certificate("c", "k").with_server_name("n");
    assert_eq!(tls, [&Tls::new(), &all, &Tls::new().with_ca("x")]);
    let written = toml::to_string(&config).expect("it can be written");
    for node in [
        "rediss://a:6379",
        "rediss://b:6379?ca=/c%20d.pem&cert=c&key=k&server_name=n",
        "rediss://…@c:6379?ca=x",
    ] {
        assert!(written.contains(&format!("\"{node}\"")), "{written}");
    }
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
