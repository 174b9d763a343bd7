//! The variables, the values that cannot be used, and what an error shows of them.

use core::time::Duration;

use super::*;
use crate::redlock::{Login, RestartGuard};

type Vars<'v> = &'v [(&'v str, &'v str)];

fn config(vars: Vars<'_>) -> Result<Config, EnvError> {
    let value = |name: &str| Some(vars.iter().find(|(known, _)| *known == name)?.1);
    Config::from_vars(value)
}

#[test]
fn every_variable_of_the_table_is_read_and_no_other() {
    let mut asked = Vec::new();
    let lookup = |name: &str| {
        asked.push(name.to_owned());
        (name == NODES).then_some("h")
    };
    let config = Config::from_vars(lookup).expect("one node is enough");
    assert_eq!(
        format!("{config:?}"),
        format!("{:?}", Config::with_addresses(config.nodes.clone()))
    );
    let documented: Vec<_> = include_str!("../env.rs")
        .lines()
        .filter(|line| line.starts_with("    /// | `REDBOLT_"))
        .flat_map(|line| line.split('`').filter(|word| word.starts_with(PREFIX)))
        .collect();
    assert_eq!(asked, documented);
    assert_eq!(asked, env_names::SETTINGS);
}

#[test]
fn variables_are_settings_and_empty_ones_are_none() {
    let config = config(&[
        ("REDBOLT_NODES", " a , redis://u:p%2Cq@b:1/2,redis://c/3"),
        ("REDBOLT_USER", "app"),
        ("REDBOLT_PASSWORD", " p@ss,w%rd "),
        ("REDBOLT_QUORUM", "3"),
        ("REDBOLT_ASK", "majority"),
        ("REDBOLT_MAX_TTL", " 10s\n"),
        ("REDBOLT_TENURE", "forever"),
        ("REDBOLT_RESTART_GUARD", "durable"),
        ("REDBOLT_DRIFT_STEP", "1ms"),
        ("REDBOLT_BUSY_POLL", "50us"),
        ("REDBOLT_PREFIX", " locks:"),
        ("REDBOLT_MAX_HOLD", ""),
        ("REDBOLT_TTL", "5s"),
        ("REDBOLT_WAIT", "forever"),
        ("REDBOLT_THREADS", "64"),
    ]);
    let config = config.expect("all of them can be used");
    let app = Login::with_user("app", " p@ss,w%rd ");
    let logins: Vec<_> = config.nodes.iter().map(|node| node.login().clone()).collect();
    let own = Login::with_user("u", "p,q").in_database(2);
    assert_eq!(logins, [app.clone(), own, app.in_database(3)]);
    assert_eq!(config.busy_poll, Duration::from_micros(50));
    let of_requests = (config.ttl, config.wait, config.threads);
    assert_eq!(of_requests, (Some(Duration::from_secs(5)), Duration::MAX, 64));
    let settings = config.redlock;
    assert_eq!((settings.quorum, settings.max_ttl), (Some(3), Duration::from_secs(10)));
    assert_eq!((settings.tenure, settings.max_hold), (Duration::MAX, Duration::from_secs(3600)));
    assert_eq!(settings.restart_guard, RestartGuard::Durable);
    assert_eq!(settings.drift.step, Duration::from_millis(1));
    assert_eq!(settings.prefix, b" locks:");
}

#[test]
fn what_cannot_be_used_is_named_and_told_what_can() {
    let rows: [(Vars<'_>, &str); 26] = [
        (&[(NODES, "")], "REDBOLT_NODES is not set"),
        (&[(NODES, "a,b:x")], "REDBOLT_NODES: address 2 of the list, \"b:…\", has a port that"),
        (&[(NODES, "a,b,a")], "REDBOLT_NODES: node a:6379 is given twice"),
        (&[(USER, "u")], "REDBOLT_PASSWORD is not set, but REDBOLT_USER is: a user needs"),
        (&[("REDBOLT_MAX_TTL", "soon")], "REDBOLT_MAX_TTL is \"soon\", which is not a duration"),
        (&[("REDBOLT_MAX_TTL", "1w")], "REDBOLT_MAX_TTL is \"1w\", whose unit is not one of"),
        (
            &[("REDBOLT_MAX_TTL", "60000")],
            "REDBOLT_MAX_TTL is \"60000\", which needs a unit, as in 60s or 60000ms",
        ),
        (&[(WAIT, "0.5")], "REDBOLT_WAIT is \"0.5\", which needs a unit"),
        (
            &[("REDBOLT_MAX_TTL", "1ms")],
            "REDBOLT_MAX_TTL is \"1ms\", between 10ms and 168h is possible",
        ),
        (&[("REDBOLT_MAX_HOLD", "1ms")], "REDBOLT_MAX_HOLD is \"1ms\", at least 10ms is possible"),
        (&[(BUSY_POLL, "x")], "REDBOLT_BUSY_POLL is \"x\", which is not a duration"),
        (&[("REDBOLT_QUORUM", "2")], "REDBOLT_QUORUM is \"2\", with 1 node only 1 is possible"),
        (
            &[("REDBOLT_QUORUM", "two")],
            "REDBOLT_QUORUM is \"two\", a whole number between 1 and 16 is",
        ),
        (&[("REDBOLT_MAX_LOCKS", "0")], "REDBOLT_MAX_LOCKS is \"0\", between 1 and 16777216 is"),
        (
            &[("REDBOLT_MAX_LOCKS", "99999999999999999999")],
            "REDBOLT_MAX_LOCKS is \"99999999999999999999\", between 1 and 16777216 is",
        ),
        (
            &[("REDBOLT_DRIFT_RATE_PPM", "4294967296")],
            "REDBOLT_DRIFT_RATE_PPM is \"4294967296\", between 0 and 100000 is possible",
        ),
        (&[(TTL, "61s")], "REDBOLT_TTL is \"61s\", between 10ms and 1m is possible"),
        (&[(TTL, "0")], "REDBOLT_TTL is \"0\", between 10ms and 1m is possible"),
        (&[(WAIT, "x")], "REDBOLT_WAIT is \"x\", which is not a duration"),
        (&[(THREADS, "65")], "REDBOLT_THREADS is \"65\", between 1 and 64 is possible"),
        (&[(BUSY_POLL, "1001ms")], "REDBOLT_BUSY_POLL is \"1001ms\", between 0s and 1s is"),
        (
            &[("REDBOLT_DRIFT_RATE_PPM", "100001")],
            "REDBOLT_DRIFT_RATE_PPM is \"100001\", between 0 and 100000 is possible",
        ),
        (&[("REDBOLT_DRIFT_STEP", "60s")], "REDBOLT_DRIFT_STEP is \"60s\", which makes a drift"),
        (&[("REDBOLT_NODE_TIMEOUT", "30s")], "REDBOLT_CLOSE_TIMEOUT: close_timeout is 5s, betw"),
        (&[("REDBOLT_REPAIR", "yes")], "REDBOLT_REPAIR is \"yes\", true or false is possible"),
        (&[("REDBOLT_RESTART_GUARD", "On")], "REDBOLT_RESTART_GUARD is \"On\", on, strict,"),
    ];
    for (vars, message) in rows {
        let vars = [vars, &[(NODES, "h")]].concat();
        let error = config(&vars).expect_err(message).to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let prefix = "p".repeat(3_000);
    let error = config(&[(NODES, "h"), ("REDBOLT_PREFIX", &prefix)]).expect_err("too long");
    assert_eq!(error.variable(), "REDBOLT_PREFIX");
    assert!(error.to_string().len() < 100, "{error}");
}

/// Applies variables to what a file has said, or another source.
fn applied(config: &Config, vars: Vars<'_>) -> Result<Config, EnvError> {
    let mut config = config.clone();
    let value = |name: &str| Some(vars.iter().find(|(known, _)| *known == name)?.1);
    config.apply_vars(value).map(|()| config)
}

fn logins(config: &Config) -> Vec<Login> {
    config.nodes.iter().map(|node| node.login().clone()).collect()
}

/// A configuration as a file gives it: with a login for the nodes that have none.
fn of_file() -> Config {
    let mut config = Config::new(["a", "redis://own:secret@b", "redis://c/3"]).expect("addresses");
    config.log_in(Login::with_user("locks", "old")).expect("within the bounds");
    config.wait = Duration::from_secs(2);
    config.redlock.prefix = b"file:".to_vec();
    config
}

#[test]
fn variables_override_what_is_there_and_nothing_else() {
    let file = of_file();
    let same = applied(&file, &[("REDBOLT_PREFIX", "")]).expect("nothing is set");
    assert_eq!(format!("{same:?}"), format!("{file:?}"));
    let config = applied(&file, &[(WAIT, "5s"), ("REDBOLT_QUORUM", "3"), (TTL, "4s")]);
    let config = config.expect("all of them can be used");
    let of_requests = (config.wait, config.ttl, config.redlock.quorum);
    assert_eq!(of_requests, (Duration::from_secs(5), Some(Duration::from_secs(4)), Some(3)));
    assert_eq!((config.redlock.prefix.as_slice(), logins(&config)), (&b"file:"[..], logins(&file)));
}

#[test]
fn a_login_in_variables_is_that_of_the_file_and_not_that_of_a_node() {
    let own = Login::with_user("own", "secret");
    for (vars, expected) in [
        (&[(PASSWORD, "new")][..], Login::with_user("locks", "new")),
        (&[(USER, "app")], Login::with_user("app", "old")),
        (&[(USER, "app"), (PASSWORD, "new")], Login::with_user("app", "new")),
    ] {
        let config = applied(&of_file(), vars).expect("it can be used");
        assert_eq!(logins(&config), [expected.clone(), own.clone(), expected.in_database(3)]);
        // Once more, as when a process is told to read its variables again.
        let config = applied(&config, &[(PASSWORD, "newer")]).expect("it can be used");
        assert_eq!(config.nodes[0].login().password.as_deref(), Some("newer"));
        assert_eq!(config.nodes[1].login(), &own);
    }
    let nodes = [(NODES, "d,redis://:own@e/1")];
    let config = applied(&of_file(), &nodes).expect("it can be used");
    let expected = [Login::with_user("locks", "old"), Login::with_password("own").in_database(1)];
    assert_eq!(logins(&config), expected);
    let bare = Config::new(["a"]).expect("an address");
    let config = applied(&bare, &[(PASSWORD, "new")]).expect("it can be used");
    assert_eq!(logins(&config), [Login::with_password("new")]);
}

#[test]
fn what_cannot_be_applied_changes_nothing() {
    let mut file = of_file();
    let before = format!("{file:?}");
    let rows: [(Vars<'_>, &str); 4] = [
        (&[(WAIT, "5s"), ("REDBOLT_PREFIX", "p:"), (THREADS, "65")], "REDBOLT_THREADS is \"65\","),
        (&[(NODES, "d,e:x")], "REDBOLT_NODES: address 2 of the list, \"e:…\", has a port"),
        (&[(NODES, "d,e"), ("REDBOLT_QUORUM", "3")], "REDBOLT_QUORUM is \"3\", with 2 nodes only"),
        (&[("REDBOLT_MAX_HOLD", "5")], "REDBOLT_MAX_HOLD is \"5\", which needs a unit"),
    ];
    for (vars, message) in rows {
        let value = |name: &str| Some(vars.iter().find(|(known, _)| *known == name)?.1);
        let error = file.apply_vars(value).expect_err(message).to_string();
        assert!(error.starts_with(message), "{error}");
        assert_eq!(format!("{file:?}"), before);
        assert_eq!(logins(&file), logins(&of_file()));
    }
    let user = applied(&Config::new(["a"]).expect("an address"), &[(USER, "u")]);
    let message = "REDBOLT_PASSWORD is not set, but REDBOLT_USER is: a user needs a password";
    assert_eq!(user.expect_err("no password").to_string(), message);
    let none = applied(&Config::with_addresses([]), &[(WAIT, "5s")]);
    assert_eq!(none.expect_err("no nodes").to_string(), "REDBOLT_NODES is not set");
    // What the file has set is checked as well.
    file.redlock.max_ttl = Duration::from_millis(5);
    let error = applied(&file, &[(WAIT, "5s")]).expect_err("out of bounds").to_string();
    let message = "REDBOLT_MAX_TTL: max_ttl is 5ms, between 10ms and 168h is possible";
    assert_eq!(error, message);
}

#[test]
fn a_login_that_is_too_long_is_that_of_the_variable_which_has_it() {
    let long = "x".repeat(Login::MAX_LEN + 1);
    let rows: [(Vars<'_>, &str); 3] = [
        (&[(NODES, "h"), (PASSWORD, &long)], PASSWORD),
        (&[(NODES, "h"), (USER, &long), (PASSWORD, "p")], USER),
        (&[(NODES, "h"), (USER, "u"), (PASSWORD, &long)], PASSWORD),
    ];
    for (vars, variable) in rows {
        let error = config(vars).expect_err("too long");
        assert_eq!(error.variable(), variable, "{error}");
        assert!(error.to_string().contains("of more than 16384 bytes"), "{error}");
    }
}

#[test]
fn a_file_that_is_not_read_is_refused_and_not_passed_over() {
    let refused = |name: &'static str, value: &'static str| {
        Config::refuse_files(|asked| (asked == name).then(|| value.into()))
    };
    for name in ["REDBOLT_CONFIG", "REDBOLT_PASSWORD_FILE"] {
        let error = refused(name, "/etc/secret").expect_err(name).to_string();
        assert!(error.starts_with(&format!("{name} names a file that only")), "{error}");
        assert!(!error.contains("secret"), "{error}");
        assert_eq!(refused(name, ""), Ok(()));
        assert_eq!(Config::check_names([name]), Ok(()));
    }
    assert_eq!(refused("REDBOLT_VERBOSE", "true"), Ok(()));
}

#[test]
fn a_name_that_is_like_no_setting_is_told_all_of_them() {
    let error = Config::check_names(["REDBOLT_FOO_BAR"]).expect_err("not a setting").to_string();
    let names = error.strip_prefix("REDBOLT_FOO_BAR is not a setting, but these are: ");
    let names: Vec<_> = names.expect("the names follow").split(", ").collect();
    assert_eq!(names, env_names::SETTINGS);
}

#[test]
fn a_value_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let bad = |_: &str| Some(OsString::from_vec(b"a:1,\xff".to_vec()));
    let error = Config::from_vars(bad).expect_err("not UTF-8");
    assert_eq!(error.to_string(), "REDBOLT_NODES is not UTF-8");
    assert_eq!(*error.kind(), EnvErrorKind::NotUtf8);
}

#[test]
fn no_error_and_no_debug_shows_a_secret() {
    let long = "secret".repeat(4_000);
    let rows: [Vars<'_>; 8] = [
        (&[(NODES, "redis://:sec,secret@h")]),
        (&[(NODES, "redis://:secret@h;redis://:secret@i")]),
        (&[(NODES, "redis://h?password=secret")]),
        (&[(NODES, "redis://u:secret")]),
        (&[(NODES, "h"), (PASSWORD, &long)]),
        (&[(NODES, "h"), (USER, "secret")]),
        // Somebody has mixed up the names.
        (&[(NODES, "h"), (BUSY_POLL, "redis://:secret@h")]),
        (&[(NODES, "h"), ("REDBOLT_MAX_TTL", "redis://:secret@h")]),
    ];
    for vars in rows {
        let error = config(vars).expect_err("it cannot be used");
        let shown = format!("{error} {error:?} {error:#?}");
        assert!(!shown.contains("sec"), "{shown}");
    }
    let given = [(NODES, "redis://:secret@h,i"), (PASSWORD, "secret")];
    let config = config(&given).expect("it can be used");
    let shown = format!("{config:?} {config:#?}");
    assert!(!shown.contains("secret"), "{shown}");
}
