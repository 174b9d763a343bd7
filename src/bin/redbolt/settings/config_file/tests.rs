//! What a file may have, what is said of the rest, and what is never shown.

use redbolt::Config;

use super::*;

fn parse(text: &str) -> Result<ConfigFile, String> {
    ConfigFile::parse(Path::new("/etc/bolt/f.toml"), text)
}

fn error(text: &str) -> String {
    match parse(text) {
        Ok(_) => panic!("this is no configuration: {text}"),
        Err(error) => error,
    }
}

#[test]
fn every_value_becomes_the_text_that_a_variable_would_have() {
    let file = "
        quorum = 2
        repair = false
        ttl = '5s'
        wait = 'forever'
        drift_rate_ppm = 1_000
        tenure = 0
        user = '007'
        conflict_exit_code = 3
        keep_alive = true
    ";
    let file = parse(file).expect("a configuration");
    for (variable, value, line) in [
        ("REDBOLT_QUORUM", "2", 2),
        ("REDBOLT_REPAIR", "false", 3),
        ("REDBOLT_TTL", "5s", 4),
        ("REDBOLT_WAIT", "forever", 5),
        ("REDBOLT_DRIFT_RATE_PPM", "1000", 6),
        ("REDBOLT_TENURE", "0", 7),
        ("REDBOLT_USER", "007", 8),
        ("REDBOLT_CONFLICT_EXIT_CODE", "3", 9),
        ("REDBOLT_KEEP_ALIVE", "true", 10),
    ] {
        assert_eq!(file.value(variable), Some(OsStr::new(value)), "{variable}");
        let place = format!("/etc/bolt/f.toml:{line}: {}", names::of_variable(variable));
        assert_eq!(file.place(variable), Some(place));
    }
    assert_eq!((file.value("REDBOLT_PREFIX"), file.place("REDBOLT_PREFIX")), (None, None));
}

#[test]
fn nodes_and_prefix_are_texts_or_lists() {
    let rows = [
        "nodes = 'a, redis://u:p%2Cq@b:1/2'",
        "nodes = ['a', 'redis://u:p,q@b:1/2']",
        "nodes = ['a', { host = 'b', port = 1, user = 'u', password = 'p,q', database = 2 }]",
        "[[nodes]]\nhost = 'a'\n[[nodes]]\nhost = 'b'\nport = 1\nuser = 'u'\npassword = 'p,q'\n\
         database = 2",
    ];
    let expected = Address::parse_list("a,redis://u:p%2Cq@b:1/2").expect("addresses");
    for text in rows {
        assert_eq!(parse(text).expect(text).nodes, expected, "{text}");
    }
    assert_eq!(parse("nodes = []").expect("no nodes").nodes, []);
    for (text, prefix) in [("''", &b""[..]), ("' a:'", b" a:"), ("[0, 255]", b"\x00\xff")] {
        let file = parse(&format!("prefix = {text}")).expect(text);
        assert_eq!(file.prefix.as_deref(), Some(prefix));
    }
}

#[test]
fn the_file_of_a_password_lies_beside_the_configuration() {
    for (name, path) in
        [("pw", "/etc/bolt/pw"), ("/run/pw", "/run/pw"), ("../pw", "/etc/bolt/../pw")]
    {
        let file = parse(&format!("password_file = '{name}'")).expect(name);
        assert_eq!(file.value("REDBOLT_PASSWORD_FILE"), Some(OsStr::new(path)));
    }
}

/// What a service reads with the feature `serde` is read here as well, and the other way round.
#[test]
fn the_names_are_those_of_the_library() {
    // The library leaves alone what it does not read, and the file of a password is refused below.
    let known = names::known();
    let known: Vec<_> = known.iter().filter(|name| !names::is_own(name)).collect();
    assert!(known.len() > 20, "{known:?}");
    for name in known {
        let texts = ["'a'", "'20ms'", "'5s'", "'1m'", "2", "true", "'on'", "'all'"];
        let fits = |value: &&&str| {
            let text = match name.as_str() {
                "nodes" => format!("nodes = {value}"),
                "user" => format!("nodes = 'a'\npassword = 'p'\nuser = {value}"),
                name => format!("nodes = 'a'\n{name} = {value}"),
            };
            toml::from_str::<Config>(&text).is_ok() && parse(&text).is_ok()
        };
        assert!(texts.iter().find(fits).is_some(), "{name}");
    }
}

#[test]
fn what_cannot_be_used_is_named_with_its_line() {
    let rows = [
        ("\n\nmax_tll = '5s'", "3: \"max_tll\" is not a setting, max_ttl is one"),
        ("Nodes = 'a'", "1: \"Nodes\" is not a setting, nodes is one"),
        ("config = 'x'", "1: \"config\" is not a setting, but these are: password_file, "),
        ("resource = 'x'", "1: \"resource\" is not a setting, but these are: "),
        ("port = 1", "1: \"port\" is not a setting, but these are: "),
        ("[exec]\nttl = '5s'", "1: \"exec\" is not a setting, "),
        ("ttl = ''", "1: ttl is empty"),
        ("ttl = ['5s']", "1: ttl is a list, a table or a date: a text is possible"),
        ("password = 7", "1: password is not a text: quotes are needed"),
        ("\nprefix = [256]", "2: prefix: a text, or a list of bytes, is possible"),
        ("nodes = 'a,b:0'", "1: nodes: address 2 of the list, \"b:…\", has a port that"),
        ("nodes = ['a', 'b:0']", "1: nodes: the address \"b:…\" has a port that"),
        ("nodes = ['a', 1]", "1: nodes: node 2 is neither a text nor a table"),
        ("nodes = [{ port = 1 }]", "1: nodes: node 1: "),
        ("ttl = '5s'\nttl = '6s'", "2: "),
        ("ttl = 5 s", "1: "),
        ("\nttl", "2: "),
    ];
    for (text, message) in rows {
        let error = error(text);
        assert!(error.starts_with(&format!("/etc/bolt/f.toml:{message}")), "{text}: {error}");
        assert_eq!(error.lines().count(), 1, "{text}: {error}");
    }
}

#[test]
fn no_error_shows_a_piece_of_a_password() {
    for text in [
        "password = secret",
        "password = 'secret",
        "password 'secret'",
        "password = 'secret' 'secret'",
        "password = \"\\secret\"",
        "password = ['secret']",
        "password = { secret = 1 }",
        "user = ['secret']",
        "nodes = 'redis://:sec,secret@h'",
        "nodes = ['redis://:secret@h:x']",
        "nodes = ['redis://u:secret']",
        "nodes = [{ host = 'a:b', password = 'secret' }]",
        "nodes = [{ host = 'a', password = 'secret', x = 1 }]",
        "nodes = [{ host = 'a', password = ['secret'] }]",
        "nodes = ['a'\npassword = 'secret'",
        "'redis://:secret@h' = 1",
        "ttl = { secret = 1 }",
        "prefix = ['secret']",
        "wait = \"\\secret\"",
    ] {
        let error = error(text);
        assert!(!error.contains("sec"), "{text}: {error}");
    }
}
