//! The names of the variables that configure, and which name a misspelt one is most like.

/// What every name begins with.
pub(super) const PREFIX: &str = "REDBOLT_";

/// Every variable that is a setting, in the order of the table of `Config::from_env`.
pub(super) const SETTINGS: [&str; 31] = [
    "REDBOLT_NODES",
    "REDBOLT_USER",
    "REDBOLT_PASSWORD",
    "REDBOLT_BUSY_POLL",
    "REDBOLT_TTL",
    "REDBOLT_WAIT",
    "REDBOLT_THREADS",
    "REDBOLT_QUORUM",
    "REDBOLT_ASK",
    "REDBOLT_MAX_TTL",
    "REDBOLT_RESTART_GUARD",
    "REDBOLT_MAX_HOLD",
    "REDBOLT_LOST_LEAD",
    "REDBOLT_FENCE_SKEW",
    "REDBOLT_DRIFT_RATE_PPM",
    "REDBOLT_DRIFT_STEP",
    "REDBOLT_NODE_TIMEOUT",
    "REDBOLT_CONNECT_TIMEOUT",
    "REDBOLT_CLOSE_TIMEOUT",
    "REDBOLT_RELEASE_TIMEOUT",
    "REDBOLT_RETRY_MAX",
    "REDBOLT_TENURE",
    "REDBOLT_TENURE_GAP",
    "REDBOLT_RECONNECT_MAX",
    "REDBOLT_MAX_LOCKS",
    "REDBOLT_MAX_PIPELINE",
    "REDBOLT_MAX_CLEANUP",
    "REDBOLT_REPAIR",
    "REDBOLT_PREFIX",
    "REDBOLT_LABEL",
    "REDBOLT_CONNECTION_NAME",
];

/// What `redbolt exec` sets for its command, which may be a program with a configuration.
const OF_EXEC: [&str; 3] = ["REDBOLT_RESOURCE", "REDBOLT_TOKEN", "REDBOLT_FENCE"];

/// Files with settings, which the command line reads. Who reads variables alone must not pass them
/// over: there may be a prefix or a quorum in them.
pub(super) const FILES: [&str; 2] = ["REDBOLT_CONFIG", "REDBOLT_PASSWORD_FILE"];

/// What only the command line reads, and says nothing about locks.
const OF_COMMAND_LINE: [&str; 10] = [
    "REDBOLT_CONFLICT_EXIT_CODE",
    "REDBOLT_LOST_EXIT_CODE",
    "REDBOLT_UNAVAILABLE_EXIT_CODE",
    "REDBOLT_EXPIRING_SIGNAL",
    "REDBOLT_KEEP_ALIVE",
    "REDBOLT_VERBOSE",
    "REDBOLT_QUIET",
    "REDBOLT_LOG",
    "REDBOLT_WAIT_GROUP",
    "REDBOLT_AT_LEAST",
];

/// The first words of the variables of this repository's own tests and scripts.
const OF_TESTS: [&str; 4] = ["TEST", "SIM", "JEPSEN", "MSRV"];

/// Words of the variables that Kubernetes sets for a service which is called `redbolt`, such as
/// `REDBOLT_SERVICE_HOST` and `REDBOLT_PORT_6379_TCP`.
const OF_KUBERNETES: [&str; 2] = ["PORT", "SERVICE"];

/// The most bytes of a name that are compared: more than any setting has.
const LONGEST: usize = 64;

/// Every name that somebody may have meant.
fn all() -> impl Iterator<Item = &'static str> {
    SETTINGS.into_iter().chain(FILES).chain(OF_COMMAND_LINE)
}

/// Returns whether a name that begins with `REDBOLT_` may be set.
pub(super) fn is_known(name: &str) -> bool {
    let mut words = name.split('_').skip(1);
    all().any(|known| known == name)
        || OF_EXEC.contains(&name)
        || words.clone().next().is_some_and(|word| OF_TESTS.contains(&word))
        || words.any(|word| OF_KUBERNETES.contains(&word))
}

/// Returns the setting whose name is most like this one, if at most half of it differs.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let own = |name: &'static str| &name[PREFIX.len()..];
    let name = name.strip_prefix(PREFIX).filter(|name| name.len() <= LONGEST)?;
    let (distance, known) = all().map(|known| (distance(name, own(known)), known)).min()?;
    (distance <= own(known).len() / 2).then_some(known)
}

/// Returns how many bytes must be inserted or removed to make one text of the other. A name of
/// which a word was left out is nearer so than one with another word in its place.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // The distances between what was read of `a` and each beginning of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + 2 * usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_like_the_one_that_was_meant() {
        let rows = [
            ("REDBOLT_MAXTTL", Some("REDBOLT_MAX_TTL")),
            ("REDBOLT_MAX_TTl", Some("REDBOLT_MAX_TTL")),
            ("REDBOLT_QUORM", Some("REDBOLT_QUORUM")),
            ("REDBOLT_NODE", Some("REDBOLT_NODES")),
            ("REDBOLT_PASSWD", Some("REDBOLT_PASSWORD")),
            ("REDBOLT_DRIFT_PPM", Some("REDBOLT_DRIFT_RATE_PPM")),
            ("REDBOLT_DRIFT_RATE", Some("REDBOLT_DRIFT_RATE_PPM")),
            ("REDBOLT_RESTARTGUARD", Some("REDBOLT_RESTART_GUARD")),
            ("REDBOLT_PASSWORDFILE", Some("REDBOLT_PASSWORD_FILE")),
            ("REDBOLT_LOST_EXITCODE", Some("REDBOLT_LOST_EXIT_CODE")),
            ("REDBOLT_CONF", Some("REDBOLT_CONFIG")),
            ("REDBOLT_XYZZYXYZZY", None),
            ("REDBOLT_", None),
        ];
        for (name, expected) in rows {
            assert!(!is_known(name), "{name}");
            assert_eq!(nearest(name), expected, "{name}");
        }
        assert_eq!(nearest(&(PREFIX.to_owned() + &"X".repeat(10_000))), None);
    }

    #[test]
    fn names_that_others_set_are_left_alone() {
        for name in [
            "REDBOLT_RESOURCE",
            "REDBOLT_TOKEN",
            "REDBOLT_FENCE",
            "REDBOLT_CONFIG",
            "REDBOLT_CONFLICT_EXIT_CODE",
            "REDBOLT_TEST_SERVER",
            "REDBOLT_SIM_SEED",
            "REDBOLT_SERVICE_HOST",
            "REDBOLT_PORT",
            "REDBOLT_PORT_6379_TCP_ADDR",
            "REDBOLT_NODES_SERVICE_PORT",
        ] {
            assert!(is_known(name), "{name}");
        }
        assert!(all().all(is_known));
    }

    #[test]
    fn the_distance_counts_changes() {
        for (a, b, expected) in [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abd", 2)] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
        assert_eq!((distance("MAXTTL", "MAX_TTL"), distance("kitten", "sitting")), (1, 5));
    }
}
