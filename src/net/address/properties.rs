//! No error of any address or list of addresses shows a piece of a login.
//!
//! The logins of these tests are made of letters that no host and no message has, and of all that
//! separates the parts of an address. Each login is followed by an `@`; a text without one is no
//! login by any rule, and `tests` has the few cases of that kind.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

use super::Address;

/// The letters of logins.
const SECRET: [char; 3] = ['J', 'X', 'Z'];

/// The same cases in every run: a failure is a failure for everybody.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 4_000,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(words).prop_map(str::to_owned)
}

/// A piece of a password: a secret, or a sign that people forget to encode.
fn piece() -> impl Strategy<Value = String> {
    const SIGNS: [&str; 21] = [
        ",", ", ", ";", ":", "://", "redis://", "@", "/", "?", "#", "%", "%2C", "%ff", " ", "|",
        "[", "]", "[::", "7", ".", "…",
    ];
    let secret = vec(select(&SECRET[..]), 1..4).prop_map(String::from_iter);
    prop_oneof![2 => secret, 3 => word(&SIGNS)]
}

/// `user:password@`, `:password@` or `user@`, with a secret in it or not.
fn login() -> impl Strategy<Value = String> {
    let text = || vec(piece(), 0..6).prop_map(|pieces| pieces.concat());
    (text(), word(&["", ":"]), text())
        .prop_map(|(user, colon, password)| format!("{user}{colon}{password}@"))
}

/// An address that may be right, or wrong in several places.
fn address() -> impl Strategy<Value = String> {
    const SCHEMES: [&str; 10] = [
        "",
        "redis://",
        "REDIS://",
        "valkey://",
        "rediss://",
        "http://",
        "redis:/",
        "redis:",
        "unix://",
        "redis+unix://",
    ];
    const HOSTS: [&str; 9] = ["h", "h.i", "", "h!", "h i", "[::1]", "[::1", "[h]", "::1"];
    const PORTS: [&str; 6] = ["", ":", ":1", ":0", ":65536", ":p"];
    const DATABASES: [&str; 7] = ["", "/", "/1", "/x", "/4294967296", "/1/2", "/1?db=2"];
    let query = vec(piece(), 0..4).prop_map(|pieces| format!("?password={}", pieces.concat()));
    let query = prop_oneof![3 => Just(String::new()), 1 => query];
    let login = prop_oneof![1 => Just(String::new()), 2 => login()];
    let parts = (word(&SCHEMES), login, word(&HOSTS), word(&PORTS), word(&DATABASES), query);
    parts.prop_map(|(scheme, login, host, port, database, query)| {
        [scheme, login, host, port, database, query].concat()
    })
}

/// Addresses with right and wrong signs between them.
fn list() -> impl Strategy<Value = String> {
    let separator = word(&[",", ",", ", ", " ,", ";", " ", "|", "\n", ",,"]);
    vec((address(), separator), 1..4).prop_map(|addresses| {
        let mut list: String = addresses.iter().flat_map(|(a, s)| [&a[..], &s[..]]).collect();
        list.truncate(list.len() - addresses.last().map_or(0, |(_, separator)| separator.len()));
        list
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_path_is_shown_as_it_is_parsed(path in "[/a-c%?,@#&= …ä\\n]{0,20}", database in 0..3_u32) {
        let login = crate::redlock::Login::default().in_database(database);
        let made = Address::unix(format!("/{path}")).and_then(|made| made.with_login(login));
        let shown = made.as_ref().map(Address::to_string).unwrap_or_default();
        prop_assert_eq!(&shown.parse(), &made);
        let list = Address::parse_list(&format!("{shown},h"));
        prop_assert_eq!(list.map(|list| list[0].clone()), made);
    }

    #[test]
    fn no_error_shows_a_piece_of_a_login(list in list()) {
        let errors = [
            Address::parse_list(&list).err(),
            list.parse::<Address>().err(),
            Address::new(&list, 1).err(),
            Address::unix(&list).err(),
        ];
        for error in errors.into_iter().flatten() {
            let shown = format!("{error} {error:?} {error:#?}");
            prop_assert!(!shown.contains(SECRET), "{list:?}: {shown}");
        }
    }
}
