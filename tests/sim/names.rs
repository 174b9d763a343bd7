//! The resources of a world, their keys on the masters, and sets of them.

/// How many resources there are.
pub(crate) const COUNT: usize = 32;

/// The prefix of those clients that have one.
pub(crate) const TENANT: &[u8] = b"tenant:";

/// A name of the greatest length, with the prefix. By its end, resources 0 and 1 are neighbours
/// without the prefix: their fencing numbers are of one stripe.
const LONGEST: &[u8; 67] = b"tenant:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxabmuf";

/// Names of all lengths. The longest does not fit into a lock without an allocation.
pub(crate) const RESOURCES: [&[u8]; COUNT] = keys(LONGEST.split_at(TENANT.len()).1);

/// The keys of these names, with the prefix.
const TENANTS: [&[u8]; COUNT] = keys(LONGEST);

/// Cuts keys of all lengths from the longest. The number of a resource is the length of its name,
/// except for the longest, which has the number 0.
const fn keys(longest: &'static [u8]) -> [&'static [u8]; COUNT] {
    let prefix = longest.len() - 60;
    let mut keys = [longest; COUNT];
    let mut length = 1;
    while length < COUNT {
        keys[length] = longest.split_at(prefix + length).0;
        length += 1;
    }
    keys
}

/// Returns the key of a resource for a client with this prefix.
pub(crate) fn key(prefix: &[u8], resource: usize) -> &'static [u8] {
    if prefix.is_empty() { RESOURCES[resource] } else { TENANTS[resource] }
}

/// Returns the keys of a resource: without the prefix and with it.
pub(crate) fn both_keys(resource: usize) -> [&'static [u8]; 2] {
    [RESOURCES[resource], TENANTS[resource]]
}

/// The resources of a lock, one bit for each of [`RESOURCES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Resources(pub(crate) u32);

impl Resources {
    pub(crate) fn one(resource: usize) -> Self {
        Self(1 << resource)
    }

    /// Returns the resources that have these keys, with the prefix or without.
    pub(crate) fn of_keys(keys: &[&[u8]]) -> Self {
        let length = |key: &&[u8]| key.strip_prefix(TENANT).unwrap_or(key).len();
        Self(keys.iter().fold(0, |all, key| all | 1 << (length(key) % RESOURCES[0].len())))
    }

    /// Returns whether these are several.
    pub(crate) fn is_set(self) -> bool {
        self.0.count_ones() > 1
    }

    /// Returns whether these are some of the others, and not all.
    pub(crate) fn is_part_of(self, others: Self) -> bool {
        self != others && self.0 & !others.0 == 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..COUNT).filter(move |resource| self.0 & 1 << resource != 0)
    }

    pub(crate) fn names(self) -> Vec<&'static [u8]> {
        self.iter().map(|resource| RESOURCES[resource]).collect()
    }
}
