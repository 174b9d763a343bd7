//! The ways to write an address, and what is wrong with others.

use super::*;

const LONGEST: usize = Login::MAX_LEN;

fn login(username: &str, password: &str, database: u32) -> Login {
    let login = if username.is_empty() {
        Login::with_password(password)
    } else {
        Login::with_user(username, password)
    };
    login.in_database(database)
}

fn parsed(text: &str) -> Address {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> AddressErrorKind {
    text.parse::<Address>().expect_err(text).kind()
}

#[test]
fn the_ways_to_write_an_address() {
    let none = Login::default();
    let rows = [
        ("localhost", "localhost", 6379, none.clone()),
        ("127.0.0.1:7000", "127.0.0.1", 7000, none.clone()),
        ("::1", "::1", 6379, none.clone()),
        ("[::1]", "::1", 6379, none.clone()),
        ("[fe80::1]:7000", "fe80::1", 7000, none.clone()),
        ("redis://h", "h", 6379, none.clone()),
        ("valkey://h:1/", "h", 1, none.clone()),
        ("redis://[::1]:65535/15", "::1", 65535, none.clone().in_database(15)),
        ("redis://:p@h", "h", 6379, login("", "p", 0)),
        ("redis://u:p@h/2", "h", 6379, login("u", "p", 2)),
        ("redis://u:p%40%3a%2F%25%2C@h", "h", 6379, login("u", "p@:/%,", 0)),
        ("redis://u:a:b@c@h", "h", 6379, login("u", "a:b@c", 0)),
        ("redis://u:p?q/r@h", "h", 6379, login("u", "p?q/r", 0)),
        ("redis://u:@h", "h", 6379, login("u", "", 0)),
        ("my-host_1.example", "my-host_1.example", 6379, none.clone()),
        ("REDIS://:p@H:1", "H", 1, login("", "p", 0)),
        ("Valkey://h", "h", 6379, none.clone()),
        (" h:7000\n", "h", 7000, none.clone()),
        ("\tredis://h ", "h", 6379, none),
    ];
    for (text, host, port, login) in rows {
        let expected = Address { host: host.to_owned(), port, login };
        assert_eq!(text.parse(), Ok(expected.clone()), "{text}");
        let made =
            Address::new(host, port).and_then(|made| made.with_login(expected.login.clone()));
        assert_eq!(made, Ok(expected), "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_and_passwords_are_not() {
    let rows = [
        ("", "\"\" lacks a host"),
        (":7000", "\":…\" lacks a host"),
        ("h:", "\"h:\" has a port that is not between 1 and 65535"),
        ("h:0", "\"h:…\" has a port that is not between 1 and 65535"),
        ("h:65536", "\"h:…\" has a port that is not between 1 and 65535"),
        ("h:+1", "\"h:…\" has a port that is not between 1 and 65535"),
        ("redis://u:secret", "\"redis://u:…\" has a port that is not between 1 and 65535"),
        ("h/1", "\"h/…\" has a database, which needs redis:// in front"),
        (
            "u:p@h",
            "\"…@h\" has a login, which needs redis:// in front (a comma in a password is written \
             %2C)",
        ),
        ("redis://u@h", "\"redis://…@h\" has a user without a password"),
        (
            "redis://h/x",
            "\"redis://h/…\" has a database that is not a number between 0 and 4294967295",
        ),
        (
            "redis://h/4294967296",
            "\"redis://h/…\" has a database that is not a number between 0 and 4294967295",
        ),
        ("redis://:p%4@h", "\"redis://…@h\" has a % without two hex digits behind it in its login"),
        ("redis://:%ff@h", "\"redis://…@h\" has a login that is not UTF-8"),
        ("rediss://h", "\"rediss://h\" asks for TLS, which is not supported yet"),
        ("VALKEYS://h", "\"valkeys://h\" asks for TLS, which is not supported yet"),
        ("http://h", "\"http:…\" has a scheme other than redis:// and valkey://"),
        ("[::1", "\"[::1\" lacks a closing bracket"),
        ("[h]:1", "\"[…\" has brackets around what is not an IPv6 address"),
        ("[::1]1", "\"[::1]…\" has something behind the bracket"),
        ("a b", "\"a…\" has a space in it"),
        ("a*b", "\"a…\" has a host with characters that a host cannot have"),
        ("/run/s", "\"/…\" is a path: Unix sockets are not supported"),
        (
            "redis://h?password=secret",
            "\"redis://h?…\" has a query behind a question mark, which is not supported",
        ),
        (
            "redis://…@h",
            "\"redis://…@h\" has … for a login: the login was left out when it was written",
        ),
    ];
    for (text, message) in rows {
        let error = text.parse::<Address>().expect_err(text);
        assert_eq!(error.to_string(), format!("the address {message}"));
    }
}

#[test]
fn a_host_is_as_long_as_a_name_can_be_and_a_login_as_long_as_a_server_takes() {
    assert_eq!(parsed(&"h".repeat(253)).host().len(), 253);
    let error = "h".repeat(254).parse::<Address>().expect_err("too long");
    assert_eq!(error.kind(), AddressErrorKind::HostTooLong);
    assert!(error.to_string().len() < 200, "{error}");

    let (user, password) = ("u".repeat(LONGEST), "%40".repeat(LONGEST));
    let address = parsed(&format!("redis://{user}:{password}@h"));
    assert_eq!(*address.login(), Login::with_user(user.clone(), "@".repeat(LONGEST)));
    for text in [format!("redis://{user}u:p@h"), format!("redis://u:{password}p@h")] {
        assert_eq!(refused(&text), AddressErrorKind::LoginTooLong);
    }
}

#[test]
fn parts_are_taken_as_they_are_and_held_to_the_same_bounds() {
    let address = Address::new("[::1]", 7000).expect("a host and a port");
    assert_eq!((address.host(), address.to_string()), ("::1", "[::1]:7000".to_owned()));

    let strange = Login::with_user("a:b", "p@ss/w%rd, ?#").in_database(2);
    let address = address.with_login(strange.clone()).expect("within the bounds");
    assert_eq!(*address.login(), strange);

    let kind = |host: &str, port| Address::new(host, port).map_err(|error| error.kind());
    assert_eq!(kind("", 1), Err(AddressErrorKind::NoHost));
    assert_eq!(kind("h", 0), Err(AddressErrorKind::Port));
    assert_eq!(kind("h:1", 1), Err(AddressErrorKind::HostCharacter));
    assert_eq!(kind("[h]", 1), Err(AddressErrorKind::HostCharacter));
    assert_eq!(kind("a b", 1), Err(AddressErrorKind::Space));
    assert_eq!(kind(&"h".repeat(254), 1), Err(AddressErrorKind::HostTooLong));
    // A whole URL in the place of a host.
    let error = Address::new("redis://u:secret@h", 1).expect_err("no host");
    assert!(!format!("{error} {error:?}").contains("secret"), "{error}");

    let kind = |login| address.clone().with_login(login).map_err(|error| error.kind());
    let long = Login::with_password("p".repeat(LONGEST + 1));
    assert_eq!(kind(long), Err(AddressErrorKind::LoginTooLong));
    let user = Login { username: Some("u".to_owned()), ..Login::default() };
    assert_eq!(kind(user), Err(AddressErrorKind::UserWithoutPassword));
}

#[test]
fn a_list_is_separated_by_commas_and_tells_no_piece_of_a_password() {
    let list = Address::parse_list("h1, redis://:p%2Cq@h2:7000/1 ,::1").expect("a list");
    let shown: Vec<_> = list.iter().map(Address::to_string).collect();
    assert_eq!(shown, ["h1:6379", "h2:7000/1", "[::1]:6379"]);
    assert_eq!(list[1].login().password.as_deref(), Some("p,q"));

    let rows = [
        ("h,h:x", "address 2 of the list, \"h:…\", has a port that"),
        ("h,,h", "address 2 of the list, \"\", lacks a host"),
        ("redis://:sec,ret@h", "address 1 of the list, \"redis://…\", lacks a host"),
        ("redis://u:1,secret@h", "address 2 of the list, \"…@h\", has a login, which needs"),
        ("redis://u:1,sec!ret,x@h", "address 2 of the list, \"…\", has a host with"),
        ("redis://u:1@,sec/ret,x@h", "address 1 of the list, \"redis://…\", lacks a host"),
        ("redis://:p@s!ecret,x@h", "address 1 of the list, \"redis://…\", has a host with"),
        ("redis://:secret@h;redis://:secret@h", "address 1 of the list, \"redis://…@h\", has ://"),
        ("redis://h1 redis://:secret@h2", "address 1 of the list, \"redis://…@h2\", has ://"),
        ("redis://h1;redis://h2", "address 1 of the list, \"redis://h1…\", has a database"),
        ("redis://h?password=sec@ret", "address 1 of the list, \"redis://…\", has a user without"),
        ("redis://h:1?password=s@h,ecr!et", "address 2 of the list, \"…\", has a host with"),
        ("h1;redis://:secret@h2", "address 1 of the list, \"…@h2\", has a login, which"),
    ];
    for (list, message) in rows {
        let error = Address::parse_list(list).expect_err(list);
        assert!(error.to_string().starts_with(message), "{list}: {error}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("sec") && !shown.contains("ecr"), "{shown}");
    }
}

/// Whoever has a comma in a password is told how to write one, and nobody else.
#[test]
fn a_list_that_may_be_cut_in_a_password_says_how_a_comma_is_written() {
    for list in ["redis://:sec,ret@h", "redis://u:1,secret@h", "redis://u:x,secret@h"] {
        let error = Address::parse_list(list).expect_err(list).to_string();
        assert_eq!(error.matches("%2C").count(), 1, "{error}");
    }
    let error = Address::parse_list("h:x,i").expect_err("no port").to_string();
    assert!(!error.contains("%2C"), "{error}");
}

#[test]
fn a_password_is_in_no_output() {
    let address = parsed("redis://app:secret@h");
    let error = "redis://app:secret@h!".parse::<Address>().expect_err("a bad host");
    let shown = format!("{address} {address:?} {address:#?} {error} {error:?} {error:#?}");
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn the_same_server_is_recognised() {
    let same = |a: &str, b: &str| parsed(a).is_same_server(&parsed(b));
    assert!(same("Host", "redis://:p@host:6379/3"));
    assert!(!same("host:1", "host:2"));
}
