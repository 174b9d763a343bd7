//! Logins are neither written nor shown.

use redbolt::Config;

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
