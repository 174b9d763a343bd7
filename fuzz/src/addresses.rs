//! What people write into settings: addresses, lists of nodes, durations, environment variables.
//!
//! Whatever is written, nothing panics, and no error shows a piece of a login. The logins of the
//! composed texts are made of letters that nothing else has ([`SECRET`]), of all that separates the
//! parts of an address, and of whatever the fuzzer thinks of. What can be read means what was
//! written: the same address from its parts, the same duration from its text.

use std::collections::BTreeMap;
use std::error::Error;

use arbitrary::{Result, Unstructured};
use redbolt::time::{format_duration, format_rounded, parse_duration};
use redbolt::{Address, AddressError, Config, ConfigError, EnvError, EnvErrorKind, Login};

/// The letters of logins. No host, no name of a variable, no message and no name of a kind of error
/// has one of them.
const SECRET: [char; 3] = ['J', 'Ø', 'ж'];

/// What separates the parts of an address, and what people forget to encode.
const SIGNS: [&str; 24] = [
    ",",
    ", ",
    ";",
    ":",
    "://",
    "redis://",
    "@",
    "/",
    "?",
    "#",
    "%",
    "%2C",
    "%4A",
    "%ff",
    " ",
    "|",
    "[",
    "]",
    "[::",
    "7",
    ".",
    "…",
    "\n",
    "valkey://",
];
const SCHEMES: [&str; 10] = [
    "redis://",
    "",
    "REDIS://",
    "valkey://",
    "rediss://",
    "http://",
    "redis:/",
    "redis:",
    "unix://",
    "redis+unix://",
];
const HOSTS: [&str; 10] = ["h", "h.i", "", "h!", "h i", "[::1]", "[::1", "[h]", "::1", "10.0.0.1"];
const PORTS: [&str; 7] = ["", ":7000", ":", ":0", ":65535", ":65536", ":p"];
const DATABASES: [&str; 7] = ["", "/", "/1", "/x", "/4294967296", "/1/2", "/1?db=2"];
const BETWEEN: [&str; 8] = [",", ", ", " ,", ";", " ", "|", "\n", ",,"];

const USER: &str = "REDBOLT_USER";
const PASSWORD: &str = "REDBOLT_PASSWORD";
const NODES: &str = "REDBOLT_NODES";

/// Variables of every type.
const VARIABLES: [&str; 14] = [
    "REDBOLT_BUSY_POLL",
    "REDBOLT_TTL",
    "REDBOLT_WAIT",
    "REDBOLT_THREADS",
    "REDBOLT_QUORUM",
    "REDBOLT_MAX_TTL",
    "REDBOLT_RESTART_GUARD",
    "REDBOLT_MAX_HOLD",
    "REDBOLT_DRIFT_RATE_PPM",
    "REDBOLT_DRIFT_STEP",
    "REDBOLT_RETRY_MAX",
    "REDBOLT_MAX_LOCKS",
    "REDBOLT_REPAIR",
    "REDBOLT_PREFIX",
];
const VALUES: [&str; 16] = [
    "1",
    "0",
    "3",
    "10s",
    "1.5m",
    "250us",
    "forever",
    "true",
    "no",
    "on",
    "strict",
    "soon",
    "-1",
    "1e9",
    "9999999999999999999999",
    "168h",
];

/// Reads the bytes as a text of each kind, or composes texts of them.
///
/// # Panics
///
/// Panics if an error shows a piece of a login, or if something is read that was not written.
pub fn addresses(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    let mut script = Unstructured::new(rest);
    let text = String::from_utf8_lossy(rest);
    match kind % 5 {
        0 => any_text(&text),
        1 => duration(&text),
        // A script that ends early has nothing to say.
        2 | 3 => drop(composed_list(&mut script)),
        _ => drop(environment(&mut script)),
    }
}

/// Reads a text that nobody has composed. What may belong to a login by its place is not shown:
/// what stands in front of an `@`, and what stands behind a question mark.
fn any_text(text: &str) {
    let end = text.rfind('@').unwrap_or(0);
    let query = text.find('?').unwrap_or(text.len());
    let is_secret = |place: usize| place < end || place > query;
    let mut elsewhere = text.char_indices().filter(|(place, _)| !is_secret(*place));
    let is_marked = !elsewhere.any(|(_, letter)| SECRET.contains(&letter));
    read(text, is_marked);
    let _ = Config::check_names([text, &format!("REDBOLT_{text}")]);
}

fn composed_list(script: &mut Unstructured<'_>) -> Result<()> {
    read(&list(script)?, true);
    Ok(())
}

/// Reads a text in all ways. `is_marked` says that all its secret letters belong to logins.
fn read(text: &str, is_marked: bool) {
    let results =
        [text.parse::<Address>().map(|one| vec![one]), Address::parse_list(text), whole(text)];
    for result in results {
        match result {
            Ok(addresses) => addresses.iter().for_each(same_by_parts),
            Err(error) if is_marked => hidden(text, &error),
            Err(error) => drop(error.to_string()),
        }
    }
    if let Ok(list) = Address::parse_list(text) {
        assert_eq!(list.len(), text.split(',').count(), "{text:?}");
    }
}

/// Takes the text for a host.
fn whole(text: &str) -> core::result::Result<Vec<Address>, AddressError> {
    Ok(vec![Address::new(text, 1)?])
}

/// Checks that an address is the same when it is made of its parts, or of its text.
fn same_by_parts(address: &Address) {
    let bare = || match (address.host(), address.port(), address.path()) {
        (Some(host), Some(port), None) => {
            let made = Address::new(host, port).expect("an accepted host");
            match address.tls() {
                Some(tls) => made.with_tls(tls.clone()).expect("accepted settings"),
                None => made,
            }
        }
        (None, None, Some(path)) => Address::unix(path).expect("an accepted path"),
        place => panic!("either a host or a path: {place:?}"),
    };
    let made = bare().with_login(address.login().clone()).expect("a login that was accepted");
    assert_eq!(&made, address);
    let login = Login::default().in_database(address.login().database);
    let is_bare = address.host().is_some() && address.tls().is_none();
    let scheme = if is_bare { "redis://" } else { "" };
    let shown = format!("{scheme}{address}").parse::<Address>().expect("an address is shown");
    let bare = bare().with_login(login).expect("a database");
    // What is shown has no settings of TLS.
    assert_eq!((shown.host(), shown.port(), shown.path()), (bare.host(), bare.port(), bare.path()));
    assert_eq!(shown.login(), bare.login());
    let password = address.login().password.as_deref().unwrap_or_default();
    let user = address.login().username.as_deref().unwrap_or_default();
    let is_told_apart = password.contains(SECRET) && !user.contains(SECRET);
    let place = address.host().or_else(|| address.path()).unwrap_or_default();
    if is_told_apart && !place.contains(SECRET) {
        let shown = format!("{address} {address:?} {:?}", address.login());
        assert!(!shown.contains(SECRET), "a password is shown: {shown}");
    }
}

/// Checks that an error and all that it stands for show no secret letter.
fn hidden(text: &str, error: &(dyn Error + 'static)) {
    let mut next = Some(error);
    while let Some(error) = next {
        let shown = format!("{error} {error:?} {error:#?}");
        assert!(!shown.contains(SECRET), "{text:?}: {shown}");
        next = error.source();
    }
}

fn duration(text: &str) {
    let Ok(duration) = parse_duration(text) else { return };
    let written = format_duration(duration);
    assert_eq!(parse_duration(&written), Ok(duration), "{text:?}, {written}");
    let rounded = parse_duration(&format_rounded(duration)).expect("what is written can be read");
    assert!(rounded >= duration, "{text:?}, rounded to {rounded:?}");
}

/// Reads a configuration from variables.
fn environment(script: &mut Unstructured<'_>) -> Result<()> {
    let mut variables = BTreeMap::new();
    variables.insert(NODES, if script.ratio(1, 3)? { list(script)? } else { "a,b,c".to_owned() });
    for name in [USER, PASSWORD] {
        if script.ratio(1, 3)? {
            variables.insert(name, pieces(script)?);
        }
    }
    for _ in 0..script.int_in_range(0..=3)? {
        let name = *script.choose(&VARIABLES)?;
        let value = match script.int_in_range(0..=3)? {
            // A login at the wrong place.
            0 => address(script, true)?,
            1 => script.arbitrary::<&str>()?.replace(SECRET, "7"),
            _ => (*script.choose(&VALUES)?).to_owned(),
        };
        variables.insert(name, value);
    }
    match Config::from_vars(|name| variables.get(name)) {
        Ok(config) => config.nodes.iter().for_each(same_by_parts),
        Err(error) => hidden_variables(&variables, &error),
    }
    Ok(())
}

fn hidden_variables(variables: &BTreeMap<&str, String>, error: &EnvError) {
    // With a comma in a login, a piece of the login can pass for the host of a node.
    let is_host = matches!(error.kind(), EnvErrorKind::Config(ConfigError::EqualNodes { .. }));
    if !is_host {
        hidden(&format!("{variables:?}"), error);
        let kind = format!("{} {:?}", error.kind(), error.kind());
        assert!(!kind.contains(SECRET), "{variables:?}: {kind}");
    }
}

/// Returns addresses with right and wrong signs between them.
fn list(script: &mut Unstructured<'_>) -> Result<String> {
    let mut list = address(script, false)?;
    for _ in 0..script.int_in_range(0..=2)? {
        list.push_str(script.choose(&BETWEEN)?);
        list.push_str(&address(script, false)?);
    }
    Ok(list)
}

/// Returns an address that may be right, or wrong in several places.
fn address(script: &mut Unstructured<'_>, has_login: bool) -> Result<String> {
    let mut text = (*script.choose(&SCHEMES)?).to_owned();
    if has_login || script.ratio(2, 3)? {
        // `user:password@`, `:password@` or `user@`.
        text.push_str(&pieces(script)?);
        text.push_str(script.choose(&[":", ""])?);
        text.push_str(&pieces(script)?);
        text.push('@');
    }
    text.push_str(script.choose(&HOSTS)?);
    text.push_str(script.choose(&PORTS)?);
    text.push_str(script.choose(&DATABASES)?);
    if !has_login && script.ratio(1, 5)? {
        text.push_str("?password=");
        text.push_str(&pieces(script)?);
    }
    Ok(text)
}

/// Returns the pieces of a login: secret letters, signs, and any text.
fn pieces(script: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..script.int_in_range(0..=5)? {
        match script.int_in_range(0..=4)? {
            0 | 1 => text.push(*script.choose(&SECRET)?),
            2 | 3 => text.push_str(script.choose(&SIGNS)?),
            _ => text.push_str(script.arbitrary()?),
        }
    }
    Ok(text)
}
