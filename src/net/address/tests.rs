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
        ("[fe80::1%eth0]", "fe80::1%eth0", 6379, none.clone()),
        ("fe80::1%2", "fe80::1%2", 6379, none.clone()),
        ("[fe80::1%25]:1", "fe80::1%25", 1, none.clone()),
        ("redis://[fe80::1%25eth0]:7000/3", "fe80::1%eth0", 7000, none.clone().in_database(3)),
        ("redis://:p@[fe80::1%eth0]", "fe80::1%eth0", 6379, login("", "p", 0)),
        ("redis://[fe80::1%25]", "fe80::1%25", 6379, none.clone()),
        ("redis://[fe80::1%25abcdefghi-lmn.o]", "fe80::1%abcdefghi-lmn.o", 6379, none.clone()),
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
        let place = Place::Host { host: host.to_owned(), port, tls: None };
        let expected = Address { place, login };
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
        ("unix:/run/r.sock", "\"unix:…\" is a path: a Unix socket is written unix:///path"),
        ("Redis+Unix:/r?db=2", "\"Redis…\" is a path: a Unix socket is written unix:///path"),
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
        (
            "http://h",
            "\"http:…\" has a scheme other than redis://, rediss://, valkey:// and unix://",
        ),
        ("[::1", "\"[::1\" lacks a closing bracket"),
        ("[h]:1", "\"[…\" has brackets around what is not an IPv6 address"),
        (
            "[fe80::1%]",
            "\"[fe80::1…\" has a % that is not between a link-local address (fe80::…) and an \
             interface",
        ),
        (
            "redis://[::1%25eth0]",
            "\"redis://[::1…\" has a % that is not between a link-local address (fe80::…) and an \
             interface",
        ),
        ("[::1]1", "\"[::1]…\" has something behind the bracket"),
        ("a b", "\"a…\" has a space in it"),
        ("a*b", "\"a…\" has a host with characters that a host cannot have"),
        ("/run/s", "\"/…\" is a path: a Unix socket is written unix:///path"),
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
fn the_ways_to_write_a_unix_socket() {
    let none = Login::default();
    let rows = [
        ("unix:///run/r.sock", "/run/r.sock", none.clone(), "unix:///run/r.sock"),
        ("REDIS+UNIX:///s", "/s", none.clone(), "unix:///s"),
        ("unix:///s?db=2", "/s", none.clone().in_database(2), "unix:///s?db=2"),
        ("unix:///s?", "/s", none.clone(), "unix:///s"),
        ("unix://u:p%40%2f@/s?db=3", "/s", login("u", "p@/", 3), "unix:///s?db=3"),
        ("unix://:p@/s", "/s", login("", "p", 0), "unix:///s"),
        ("unix://u@/s?password=p%26q%3D+", "/s", login("u", "p&q=+", 0), "unix:///s"),
        ("unix:///s?user=u&password=p&db=1", "/s", login("u", "p", 1), "unix:///s?db=1"),
        ("unix:///s?pass=p&username=u", "/s", login("u", "p", 0), "unix:///s"),
        (
            "unix:///a%40b%2Cc%3Fd%25%20ä;:",
            "/a@b,c?d% ä;:",
            none,
            "unix:///a%40b%2Cc%3Fd%25%20ä;%3A",
        ),
    ];
    for (text, path, login, shown) in rows {
        let made = Address::unix(path).and_then(|made| made.with_login(login));
        assert_eq!(text.parse(), made, "{text}");
        let made = made.expect("a path and a login");
        assert_eq!((made.host(), made.port(), made.path()), (None, None, Some(path)));
        assert_eq!(made.to_string(), shown);
        assert!(made.is_same_server(&parsed(shown)), "{text}");
        assert!(!made.is_same_server(&parsed("unix:///other")), "{text}");
        assert!(!made.is_same_server(&parsed("h")), "{text}");
    }
}

#[test]
fn what_is_wrong_with_a_unix_socket_is_said_and_passwords_are_not() {
    let slash = "lacks a path, which begins with a slash: unix:///path";
    let at = "has an @ in its path or behind it, which is written %40 there";
    let query = "has something else in its query than db, user and password behind unix://, and \
                 ca, cert, key and server_name behind rediss://";
    let database = "has a database that is not a number between 0 and 4294967295";
    let user = "has a user without a password";
    let text = "has a path or a setting with a % without two hex digits behind it, or one that is \
                no text";
    let long = "has a path that is too long for a Unix socket";
    let [longest, longer] = [107, 108].map(|len| format!("unix:///{}", "s".repeat(len - 1)));
    parsed(&longest);
    let longer_shown = format!("unix:///{}…", "s".repeat(63));
    let rows = [
        ("unix://", "unix://", slash),
        ("unix://run/s", "unix://…", slash),
        ("unix://:secret", "unix://…", slash),
        ("unix://u:secret@run/s", "unix://…@…", slash),
        ("unix:///run/a@b", "unix://…@…", at),
        ("unix:///s?password=sec@ret", "unix://…", at),
        ("unix:///s?secret", "unix:///s?…", query),
        ("unix:///s?ca=x", "unix:///s?…", query),
        ("unix:///s?db=secret", "unix:///s?…", database),
        ("unix:///s?db=1&db=1", "unix:///s?…", "has a setting or a login twice"),
        ("unix://:p@/s?pass=secret", "unix://…@/s?…", "has a setting or a login twice"),
        ("unix:///s?user=u", "unix:///s?…", user),
        ("unix://u@/s", "unix://…@/s", user),
        ("unix:///s%", "unix:///s…", text),
        ("unix:///s t", "unix:///s…", "has a space in it"),
        (
            "unix:///s;unix:///t",
            "unix:///s…",
            "has :// in its login or its path: commas separate addresses, and %3A stands for a \
             colon",
        ),
        ("unix:///s%00", "unix:///s…", text),
        (&longer, &longer_shown, long),
    ];
    for (text, shown, message) in rows {
        let error = text.parse::<Address>().expect_err(text);
        assert_eq!(error.to_string(), format!("the address {shown:?} {message}"));
    }
    let error = Address::unix("run/s").expect_err("no slash").to_string();
    assert_eq!(error, format!("the address \"unix://…\" {slash}"));
}

#[cfg(not(feature = "tls"))]
#[test]
fn an_address_that_asks_for_tls_is_refused_with_the_name_of_the_feature() {
    for text in ["rediss://h", "VALKEYS://:p@h?ca=f"] {
        let error = text.parse::<Address>().expect_err(text);
        assert_eq!(error.kind(), AddressErrorKind::Tls);
        assert!(error.to_string().ends_with("which needs the feature `tls` of redbolt"), "{error}");
    }
    let made = Address::new("h", 1).and_then(|made| made.with_tls(Tls::new()));
    assert_eq!(made.map_err(|error| error.kind()), Err(AddressErrorKind::Tls));
}

#[cfg(feature = "tls")]
#[test]
fn the_ways_to_ask_for_tls() {
    let tls = Tls::new;
    let rows = [
        ("rediss://h", tls(), "rediss://h:6379"),
        ("VALKEYS://h?", tls(), "rediss://h:6379"),
        ("rediss://h?ca=/a%20b", tls().with_ca("/a b"), "rediss://h:6379"),
        ("rediss://h/2?ca=c", tls().with_ca("c"), "rediss://h:6379/2"),
        ("rediss://h:1/?server_name=n", tls().with_server_name("n"), "rediss://h:1"),
        (
            "rediss://[::1]?cert=a&key=b%26",
            tls().with_certificate("a", "b&"),
            "rediss://[::1]:6379",
        ),
    ];
    for (text, tls, shown) in rows {
        let address = parsed(text);
        assert_eq!(address.tls(), Some(&tls), "{text}");
        assert_eq!(address.to_string(), shown);
        let (host, port) = (address.host().expect("a host"), address.port().expect("a port"));
        let made =
            Address::new(host, port).and_then(|made| made.with_login(address.login().clone()));
        assert_eq!(made.and_then(|made| made.with_tls(tls)), Ok(address.clone()));
        // The port is the same server, whatever is spoken there.
        assert!(address.is_same_server(&Address::new(host, port).expect("a host")));
    }
    let address = parsed("rediss://u:p%40@h/1?ca=c");
    assert_eq!(*address.login(), login("u", "p@", 1));
}

#[cfg(feature = "tls")]
#[test]
fn what_is_wrong_with_tls_is_said() {
    let rows = [
        ("redis://h?ca=c", AddressErrorKind::Query),
        ("rediss://h?db=1", AddressErrorKind::QuerySetting),
        ("rediss://h?ca", AddressErrorKind::QuerySetting),
        ("rediss://h?ca=a&ca=b", AddressErrorKind::GivenTwice),
        ("rediss://h?ca=", AddressErrorKind::EmptyFile),
        ("rediss://h?cert=a", AddressErrorKind::CertWithoutKey),
        ("rediss://h?key=a", AddressErrorKind::CertWithoutKey),
        ("rediss://h?server_name=a b", AddressErrorKind::ServerName),
        ("rediss://h?server_name=", AddressErrorKind::ServerName),
        // A name has no zone.
        ("rediss://h?server_name=n%25e", AddressErrorKind::ServerName),
        ("rediss://-h-", AddressErrorKind::ServerName),
        ("rediss://h?ca=%", AddressErrorKind::PathText),
    ];
    for (text, kind) in rows {
        assert_eq!(refused(text), kind, "{text}");
    }
    let unix = Address::unix("/s").and_then(|made| made.with_tls(Tls::new()));
    assert_eq!(unix.map_err(|error| error.kind()), Err(AddressErrorKind::TlsOverUnix));
}

#[test]
fn a_host_is_as_long_as_a_name_can_be_and_a_login_as_long_as_a_server_takes() {
    assert_eq!(parsed(&"h".repeat(253)).host().map(str::len), Some(253));
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
    assert_eq!((address.host(), address.to_string()), (Some("::1"), "[::1]:7000".to_owned()));

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

    let list = Address::parse_list("unix:///a?db=1,unix:///b?pass=p%2Cq").expect("a list");
    assert_eq!(list[1].login().password.as_deref(), Some("p,q"));

    let rows = [
        ("unix:///a?db=1,h:x", "address 2 of the list, \"h:…\", has a port that"),
        ("unix:///a?pass=s,ecr:x", "address 2 of the list, \"…\", has a port that"),
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
