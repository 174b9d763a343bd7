//! The settings by name, for configurations that are written as text.
//!
//! A setting has the name of its field in [`RedlockConfig`]; those of the drift are
//! `drift_rate_ppm` and `drift_step`. The environment and serde use these names, and no others.

#[cfg(feature = "net")]
use core::fmt;
use core::time::Duration;

use super::ask::Ask;
use super::config::RedlockConfig;
use super::limits::{CLEANUP, LOCKS, PIPELINE, RATE};
use super::node_set::MAX_NODES;
use super::restart_guard::RestartGuard;
use super::validity::Drift;
#[cfg(feature = "net")]
use crate::time::{DurationError, parse_duration};

/// The number of settings.
pub(crate) const SETTINGS: usize = 24;

/// A setting that can be changed, by the type of its value. Numbers have their bounds beside them;
/// those of durations depend on other settings.
#[derive(Debug)]
pub(crate) enum Setting<'c> {
    Duration(&'c mut Duration),
    MaybeDuration(&'c mut Option<Duration>),
    Count(&'c mut usize, Bounds),
    MaybeCount(&'c mut Option<usize>, Bounds),
    Rate(&'c mut u32, Bounds),
    Switch(&'c mut bool),
    Guard(&'c mut RestartGuard),
    Ask(&'c mut Ask),
    Bytes(&'c mut Vec<u8>),
}

/// The least and the most of a number.
pub(crate) type Bounds = [usize; 2];

/// Why a text cannot be the value of a setting: the end of a sentence that names both.
#[cfg(feature = "net")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unfit {
    Duration(DurationError),
    Count(Bounds),
    Switch,
    Guard,
    Ask,
}

impl RedlockConfig {
    /// Returns all settings with their names, in the order of the fields.
    pub(crate) fn settings(&mut self) -> [(&'static str, Setting<'_>); SETTINGS] {
        // A new field must be named here, or this does not compile.
        let Self {
            quorum,
            ask,
            max_ttl,
            restart_guard,
            max_hold,
            lost_lead,
            fence_skew,
            drift: Drift { rate_ppm, step },
            node_timeout,
            connect_timeout,
            close_timeout,
            release_timeout,
            retry_max,
            tenure,
            tenure_gap,
            reconnect_max,
            max_locks,
            max_pipeline,
            max_cleanup,
            repair,
            prefix,
            label,
            connection_name,
            names: _,
            place: _,
            #[cfg(redbolt_sabotage)]
                saboteur: _,
        } = self;
        [
            ("quorum", Setting::MaybeCount(quorum, [1, MAX_NODES])),
            ("ask", Setting::Ask(ask)),
            ("max_ttl", Setting::Duration(max_ttl)),
            ("restart_guard", Setting::Guard(restart_guard)),
            ("max_hold", Setting::Duration(max_hold)),
            ("lost_lead", Setting::Duration(lost_lead)),
            ("fence_skew", Setting::Duration(fence_skew)),
            ("drift_rate_ppm", Setting::Rate(rate_ppm, RATE)),
            ("drift_step", Setting::Duration(step)),
            ("node_timeout", Setting::MaybeDuration(node_timeout)),
            ("connect_timeout", Setting::Duration(connect_timeout)),
            ("close_timeout", Setting::Duration(close_timeout)),
            ("release_timeout", Setting::Duration(release_timeout)),
            ("retry_max", Setting::Duration(retry_max)),
            ("tenure", Setting::Duration(tenure)),
            ("tenure_gap", Setting::Duration(tenure_gap)),
            ("reconnect_max", Setting::Duration(reconnect_max)),
            ("max_locks", Setting::Count(max_locks, LOCKS)),
            ("max_pipeline", Setting::Count(max_pipeline, PIPELINE)),
            ("max_cleanup", Setting::Count(max_cleanup, CLEANUP)),
            ("repair", Setting::Switch(repair)),
            ("prefix", Setting::Bytes(prefix)),
            ("label", Setting::Bytes(label)),
            ("connection_name", Setting::Bytes(connection_name)),
        ]
    }
}

#[cfg(feature = "net")]
impl Setting<'_> {
    /// Sets the value that a text stands for.
    /// Spaces around the text do not count, except in bytes.
    pub(crate) fn set(&mut self, text: &str) -> Result<(), Unfit> {
        let (bytes, text) = (text.as_bytes(), text.trim());
        let count = |bounds: &Bounds| whole_number(text).ok_or(Unfit::Count(*bounds));
        let duration = || parse_duration(text).map_err(Unfit::Duration);
        match self {
            Self::Duration(value) => **value = duration()?,
            Self::MaybeDuration(value) => **value = Some(duration()?),
            Self::Count(value, bounds) => **value = count(bounds)?,
            Self::MaybeCount(value, bounds) => **value = Some(count(bounds)?),
            Self::Rate(value, bounds) => {
                **value = u32::try_from(count(bounds)?).unwrap_or(u32::MAX);
            }
            Self::Switch(value) => **value = text.parse().map_err(|_| Unfit::Switch)?,
            Self::Guard(value) => **value = RestartGuard::from_name(text).ok_or(Unfit::Guard)?,
            Self::Ask(value) => **value = Ask::from_name(text).ok_or(Unfit::Ask)?,
            Self::Bytes(value) => **value = bytes.to_vec(),
        }
        Ok(())
    }
}

/// Parses digits. A number that is too large for its type is out of every bound, and becomes the
/// largest one, so that the check of the bounds finds it.
#[cfg(feature = "net")]
fn whole_number(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(usize::MAX))
}

#[cfg(feature = "net")]
impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duration(error) => error.fmt(f),
            Self::Count([least, most]) => {
                write!(f, "a whole number between {least} and {most} is possible")
            }
            Self::Switch => f.write_str("true or false is possible"),
            Self::Guard => f.write_str("on, strict, durable or off is possible"),
            Self::Ask => f.write_str("all or majority is possible"),
        }
    }
}

#[cfg(all(test, feature = "net"))]
mod tests {
    use super::*;

    fn set(config: &mut RedlockConfig, name: &str, text: &str) -> Result<(), Unfit> {
        let mut settings = config.settings();
        let found = settings.iter_mut().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("{name} is a setting")).1.set(text)
    }

    #[test]
    fn every_setting_is_set_by_its_name() {
        let rows = [
            ("quorum", "3"),
            ("ask", "majority"),
            ("max_ttl", "10s"),
            ("restart_guard", "strict"),
            ("max_hold", "forever"),
            ("lost_lead", "2ms"),
            ("fence_skew", "1s"),
            ("drift_rate_ppm", "10000"),
            ("drift_step", "1.5ms"),
            ("node_timeout", "20ms"),
            ("connect_timeout", "2s"),
            ("close_timeout", "6s"),
            ("release_timeout", "2s"),
            ("retry_max", "200ms"),
            ("tenure", "forever"),
            ("tenure_gap", "0"),
            ("reconnect_max", "1m"),
            ("max_locks", "7"),
            ("max_pipeline", "8"),
            ("max_cleanup", "9"),
            ("repair", "false"),
            ("prefix", "locks:"),
            ("label", "billing"),
            ("connection_name", "billing"),
        ];
        let mut config = RedlockConfig::default();
        for (name, text) in rows {
            let before = config.clone();
            assert_eq!(set(&mut config, name, text), Ok(()), "{name}");
            assert_ne!(format!("{before:?}"), format!("{config:?}"), "{name}");
        }
        assert_eq!(rows.map(|(name, _)| name), config.settings().map(|(name, _)| name));
        assert_eq!(config.drift.step, Duration::from_micros(1_500));
        assert_eq!((config.tenure, config.prefix), (Duration::MAX, b"locks:".to_vec()));
    }

    #[test]
    fn what_no_value_can_be_is_told_what_is_possible() {
        let rows = [
            ("quorum", "-1", "a whole number between 1 and 16 is possible"),
            ("drift_rate_ppm", "1.5", "a whole number between 0 and 100000 is possible"),
            ("max_locks", "", "a whole number between 1 and 16777216 is possible"),
            ("max_pipeline", "+1", "a whole number between 1 and 1048576 is possible"),
            ("max_cleanup", "1e3", "a whole number between 1 and 1048576 is possible"),
            ("repair", "yes", "true or false is possible"),
            ("restart_guard", "On", "on, strict, durable or off is possible"),
            ("ask", "quorum", "all or majority is possible"),
            ("node_timeout", "1 s", "whose unit is not one of ns, us, ms, s, m, h and d"),
        ];
        for (name, text, possible) in rows {
            let error = set(&mut RedlockConfig::default(), name, text).expect_err(text);
            assert_eq!(error.to_string(), possible, "{name}");
        }
    }

    #[test]
    fn a_number_too_large_for_its_type_is_found_by_the_check_of_its_bounds() {
        let huge = "9".repeat(100);
        let rows = [
            ("quorum", "given, with 1 node only 1 is possible"),
            ("drift_rate_ppm", "drift.rate_ppm is 4294967295, between 0 and 100000 is possible"),
            ("max_locks", "between 1 and 16777216 is possible"),
            ("max_pipeline", "between 1 and 1048576 is possible"),
            ("max_cleanup", "between 1 and 1048576 is possible"),
        ];
        for (name, possible) in rows {
            let mut config = RedlockConfig::default();
            assert_eq!(set(&mut config, name, &huge), Ok(()), "{name}");
            let error = config.check(1).expect_err(name).to_string();
            assert!(error.ends_with(possible), "{name}: {error}");
        }
    }
}
