//! What the nemesis can do, how likely each deed is, and how often it was done.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use redbolt::redlock::RestartGuard;

use crate::fleet::Rules;

/// A run of this length has more deeds than the menu, so that none may be missing.
const LONG: Duration = Duration::from_secs(180);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deed {
    /// A node dies, and comes back with its files or without.
    Kill,
    /// A node stands still.
    Stop,
    /// The connections of a node end.
    Cut,
    /// The keys of a node are deleted.
    Flush,
    /// One direction of the link to a node is slow.
    Delay,
    /// One direction of the link is still for longer.
    Hold,
    /// One direction of the link loses everything, until its connections end.
    Swallow,
    /// A node may evict keys, but has no need to.
    Evicting,
    /// A node has no memory for keys.
    Memory,
    /// A node closes connections that are idle for a second.
    Timeout,
    /// A node writes its files in another way.
    Files,
    /// A node has a new password.
    Password,
    /// A spare takes the name of a node.
    Spare,
    /// A replica takes the name of its master.
    Promotion,
    /// A node becomes a replica of another, and a master again.
    Demotion,
    /// A former member takes its name back.
    Return,
    /// The clocks of nodes are stepped.
    Clock,
    /// A client stands still.
    StopClient,
    /// A client dies, and another takes its place.
    KillClient,
}

impl Deed {
    /// Returns the deeds that the rules of a run allow, each as often as it is likely.
    pub(super) fn menu(rules: &Rules) -> Vec<Self> {
        let mut menu = vec![
            (5, Self::Kill),
            (6, Self::Stop),
            (3, Self::Cut),
            (3, Self::Delay),
            (2, Self::Hold),
            (2, Self::Swallow),
            (4, Self::Clock),
            (5, Self::StopClient),
            (3, Self::KillClient),
            (2, Self::Flush),
            (1, Self::Evicting),
            (1, Self::Memory),
            (1, Self::Timeout),
            (1, Self::Password),
        ];
        // A client that believes the files of a node is promised that nobody tampers with them.
        if rules.guard != RestartGuard::Durable {
            menu.push((1, Self::Files));
        }
        if rules.has_spares {
            menu.extend([(1, Self::Spare), (2, Self::Promotion), (1, Self::Demotion)]);
        }
        menu.into_iter().flat_map(|(times, deed)| vec![deed; times]).collect()
    }
}

/// How often each deed was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deeds(BTreeMap<Deed, u64>);

impl Deeds {
    pub(super) fn count(&mut self, deed: Deed) {
        *self.0.entry(deed).or_default() += 1;
    }

    /// Returns whether a run of this length had enough deeds: one in each second. A long run has
    /// deeds of all kinds.
    pub(crate) fn are_enough(&self, long: Duration, rules: &Rules) -> bool {
        // One step of the clocks counts for each node.
        let others = self.0.iter().filter(|(deed, _)| **deed != Deed::Clock);
        let is_busy = others.map(|(_, count)| count).sum::<u64>() >= long.as_secs();
        let mut wanted = Deed::menu(rules);
        wanted.extend(rules.has_spares.then_some(Deed::Return));
        let is_complete = wanted.iter().all(|deed| self.0.contains_key(deed));
        is_busy && (is_complete || long < LONG)
    }
}

impl fmt::Display for Deeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (deed, count)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{count} {deed:?}")?;
        }
        Ok(())
    }
}
