//! The bounds of every setting, and of the names of resources.

use core::time::Duration;

use super::ask::Ask;
use super::bounds::{
    LONGEST_TTL, MAX_NODE_TIMEOUT, MAX_RESOURCE, MIN_NODE_TIMEOUT, MIN_TTL, RESERVED,
};
use super::config::RedlockConfig;
use super::config_error::ConfigError;
use super::millis::Millis;
use super::quorum::Quorum;
use super::request_error::RequestError;
use super::restart_guard::RestartGuard;
use super::validity::Drift;

/// The least and the most of settings that are numbers.
pub(super) const LOCKS: [usize; 2] = [1, 1 << 24];
pub(super) const PIPELINE: [usize; 2] = [1, 1 << 20];
pub(super) const CLEANUP: [usize; 2] = [1, 1 << 20];
pub(super) const LABEL: [usize; 2] = [0, 100];
pub(super) const RATE: [usize; 2] = [0, Drift::MAX_RATE as usize];

impl RedlockConfig {
    /// Checks every bound, and returns the quorum for `nodes` nodes.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first value out of bounds, and the bounds of that value.
    pub fn check(&self, nodes: usize) -> Result<Quorum, ConfigError> {
        let Some(majority) = Quorum::majority(nodes) else {
            return Err(ConfigError::Nodes { count: nodes });
        };
        let majority = majority.need();
        let need = self.quorum.unwrap_or(majority);
        let Some(quorum) = Quorum::new(nodes, need) else {
            return Err(ConfigError::Quorum { need, majority, nodes });
        };
        if self.ask == Ask::Majority && self.restart_guard == RestartGuard::Off {
            return Err(ConfigError::UnguardedMajority);
        }
        self.check_durations()?;
        between("max_locks", self.max_locks, LOCKS)?;
        between("max_pipeline", self.max_pipeline, PIPELINE)?;
        between("max_cleanup", self.max_cleanup, CLEANUP)?;
        length("prefix", &self.prefix, [0, MAX_RESOURCE / 2])?;
        if self.prefix.starts_with(RESERVED) {
            return Err(ConfigError::ReservedPrefix);
        }
        length("label", &self.label, LABEL)?;
        length("connection_name", &self.connection_name, LABEL)?;
        if !self.connection_name.iter().all(u8::is_ascii_graphic) {
            return Err(ConfigError::ConnectionName);
        }
        between("drift.rate_ppm", self.drift.rate_ppm as usize, RATE)?;
        // A ttl counts in whole milliseconds.
        let max_ttl = Millis::of(self.max_ttl).duration();
        let drift = self.drift.of(max_ttl);
        if drift >= max_ttl {
            return Err(ConfigError::Drift { drift, max_ttl });
        }
        Ok(quorum)
    }

    /// Checks the bounds of one resource, with the prefix.
    pub(crate) fn check_resource(&self, resource: &[u8]) -> Result<(), RequestError> {
        let len = self.prefix.len() + resource.len();
        if resource.is_empty() {
            return Err(RequestError::EmptyResource);
        }
        if resource.starts_with(RESERVED) || self.makes_reserved(resource) {
            return Err(RequestError::ReservedResource);
        }
        if len > MAX_RESOURCE {
            return Err(RequestError::ResourceTooLong { len });
        }
        Ok(())
    }

    /// Returns `true` if a short prefix and the resource make a reserved name together, such as
    /// that of the hash with the fencing numbers, which has no prefix.
    fn makes_reserved(&self, resource: &[u8]) -> bool {
        let rest = || RESERVED.strip_prefix(&self.prefix[..]);
        !self.prefix.is_empty() && rest().is_some_and(|rest| resource.starts_with(rest))
    }

    fn check_durations(&self) -> Result<(), ConfigError> {
        const MS: Duration = Duration::from_millis(1);
        const MINUTE: Duration = Duration::from_secs(60);
        let node_timeout = self.stall_timeout();
        let rows = [
            ("max_ttl", self.max_ttl, MIN_TTL, LONGEST_TTL),
            ("max_hold", self.max_hold, MIN_TTL, Duration::MAX),
            ("lost_lead", self.lost_lead, Duration::ZERO, 2 * MS),
            ("fence_skew", self.fence_skew, Duration::ZERO, 10 * MINUTE),
            (
                "node_timeout",
                self.node_timeout.unwrap_or(MIN_NODE_TIMEOUT),
                MIN_NODE_TIMEOUT,
                MAX_NODE_TIMEOUT,
            ),
            ("connect_timeout", self.connect_timeout, MS, MINUTE),
            ("close_timeout", self.close_timeout, node_timeout, 10 * MINUTE),
            ("release_timeout", self.release_timeout, MS, MINUTE),
            ("retry_max", self.retry_max, MS, MINUTE),
            ("tenure", self.tenure, MS, Duration::MAX),
            ("tenure_gap", self.tenure_gap, Duration::ZERO, MINUTE),
            ("reconnect_max", self.reconnect_max, MS, 10 * MINUTE),
        ];
        for (what, value, least, most) in rows {
            if value < least || value > most {
                return Err(ConfigError::Duration { what, value, least, most });
            }
        }
        Ok(())
    }
}

fn length(what: &'static str, text: &[u8], [least, most]: [usize; 2]) -> Result<(), ConfigError> {
    let len = text.len();
    if len < least || len > most {
        return Err(ConfigError::Length { what, len, least, most });
    }
    Ok(())
}

fn between(what: &'static str, value: usize, [least, most]: [usize; 2]) -> Result<(), ConfigError> {
    if value < least || value > most {
        return Err(ConfigError::Size { what, value, least, most });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
