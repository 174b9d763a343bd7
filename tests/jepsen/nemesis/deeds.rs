//! What the nemesis can do, how likely each deed is, and how often it was done.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use redbolt::redlock::RestartGuard;

use crate::fleet::Rules;
use crate::order::Habit;

/// A run of this length goes through the menu several times, so that no deed may be missing that is
/// on it at least twice and can be done to nearly every node at nearly any time.
const LONG: Duration = Duration::from_secs(180);

/// After so many times through the menu, no deed may be missing at all. The one that is left out
/// most often is [`Deed::Files`], which is on the menu once and needs one of the two nodes of five
/// that write such files: about every other time. With a chance of 0.6 to be left out, all of forty
/// are left out once in 10⁹ runs.
const MANY: u64 = 40;

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
    /// A stranger whose clock is ahead asks for all locks, and gets none.
    Stranger,
}

impl Deed {
    /// Returns whether the deed is left out often, or is on the menu only once.
    fn is_rare(self) -> bool {
        match self {
            Self::Evicting | Self::Memory | Self::Timeout | Self::Password | Self::Files => true,
            Self::Spare | Self::Promotion | Self::Demotion | Self::Return => true,
            Self::Kill | Self::Stop | Self::Cut | Self::Flush | Self::Clock => false,
            Self::Delay | Self::Hold | Self::Swallow => false,
            Self::StopClient | Self::KillClient | Self::Stranger => false,
        }
    }

    /// Returns whether the deed is done to the nodes that are drawn for it, and does them harm.
    pub(super) fn is_to_node(self) -> bool {
        let is_to_others =
            matches!(self, Self::StopClient | Self::KillClient | Self::Stranger | Self::Return);
        self != Self::Clock && !is_to_others
    }

    /// Returns the deeds that the rules of a run allow, each as often as it is likely.
    pub(super) fn menu(rules: &Rules) -> Vec<Self> {
        if rules.habit == Habit::Numbered {
            return Self::repeat(&Self::numbered());
        }
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
            (2, Self::Stranger),
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
        Self::repeat(&menu)
    }

    /// Returns the menu where all locks have numbers: processes that die or stand still, and links.
    /// A node that was restarted draws no numbers for seconds, so there are few restarts.
    fn numbered() -> [(usize, Self); 9] {
        [
            (1, Self::Kill),
            (5, Self::Stop),
            (2, Self::Cut),
            (4, Self::Delay),
            (1, Self::Hold),
            (1, Self::Swallow),
            (6, Self::StopClient),
            (4, Self::KillClient),
            (12, Self::Stranger),
        ]
    }

    fn repeat(menu: &[(usize, Self)]) -> Vec<Self> {
        menu.iter().flat_map(|&(times, deed)| vec![deed; times]).collect()
    }
}

/// How often each deed was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deeds {
    counts: BTreeMap<Deed, u64>,
    /// How often the nemesis has gone through the whole menu.
    pub(super) menus: u64,
}

impl Deeds {
    pub(super) fn count(&mut self, deed: Deed) {
        *self.counts.entry(deed).or_default() += 1;
    }

    /// Returns whether a run of this length had enough deeds: one in each second. A long run has
    /// deeds of all kinds, those to clocks only where clocks can be set.
    pub(crate) fn are_enough(&self, long: Duration, rules: &Rules, has_clocks: bool) -> bool {
        // One step of the clocks counts for each node.
        let others = self.counts.iter().filter(|(deed, _)| **deed != Deed::Clock);
        let is_busy = others.map(|(_, count)| count).sum::<u64>() >= long.as_secs();
        let mut wanted = Deed::menu(rules);
        wanted.extend(rules.has_spares.then_some(Deed::Return));
        wanted.retain(|deed| *deed != Deed::Clock || has_clocks);
        wanted.retain(|deed| if deed.is_rare() { self.menus >= MANY } else { long >= LONG });
        is_busy && wanted.iter().all(|deed| self.counts.contains_key(deed))
    }
}

impl fmt::Display for Deeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (deed, count)) in self.counts.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{count} {deed:?}")?;
        }
        write!(f, " in {} menus", self.menus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_must_have_been_done_is_wanted() {
        let rules = Rules { has_spares: true, ..crate::rules() };
        let short = LONG - Duration::from_secs(1);
        for (missing, long, menus, has_clocks, is_enough) in [
            (None, LONG, MANY, true, true),
            (Some(Deed::Stop), LONG, 1, true, false),
            (Some(Deed::Stop), short, 1, true, true),
            (Some(Deed::Clock), LONG, MANY, true, false),
            (Some(Deed::Clock), LONG, MANY, false, true),
            (Some(Deed::Demotion), LONG, MANY, true, false),
            (Some(Deed::Demotion), LONG, MANY - 1, true, true),
            (Some(Deed::Return), LONG, MANY, true, false),
        ] {
            let done = Deed::menu(&rules).into_iter().chain([Deed::Return]);
            let counts = done.filter(|deed| Some(*deed) != missing).map(|deed| (deed, 100));
            let deeds = Deeds { counts: counts.collect(), menus };
            let found = deeds.are_enough(long, &rules, has_clocks);
            assert_eq!(found, is_enough, "without {missing:?} in {long:?} and {menus} menus");
        }
        let idle = Deeds { counts: [(Deed::Clock, 1_000)].into(), menus: 0 };
        assert!(!idle.are_enough(short, &rules, true));
    }
}
