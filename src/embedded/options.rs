//! [`Options`], the settings of an embedded master.

use core::fmt;

/// The limits and the password of an embedded master.
///
/// ```
/// use redbolt::embedded::Options;
///
/// let options = Options::default().max_keys(1_000).password("secret");
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct Options {
    pub(super) max_keys: usize,
    /// `None` leaves the answer to who starts the master.
    pub(super) is_fresh: Option<bool>,
    pub(super) credentials: Option<Credentials>,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) user: String,
    pub(super) password: String,
}

/// The user that `AUTH password` means.
pub(super) const DEFAULT_USER: &str = "default";

impl Options {
    /// Sets how many keys may exist, over all databases. Default: one million.
    ///
    /// A request that would create one key more is refused with `-OOM`; a lock on several resources
    /// is refused whole. Overwriting and releases still work, as in a Redis that has reached its
    /// `maxmemory`. The keys by which clients know the age of the data, two for each prefix and
    /// database, do not count; 64 of them may exist.
    #[must_use]
    pub fn max_keys(mut self, max_keys: usize) -> Self {
        self.max_keys = max_keys;
        self
    }

    /// Sets whether the master is declared fresh at its birth, as `redbolt init --fresh` does: no
    /// client can hold a lock there, so that clients let the master vote at once. The declaration
    /// is good for every database, prefix, `max_ttl` and number of nodes, and ends with the first
    /// restart or loss of data.
    ///
    /// Default: yes for the masters of a [`Cluster`](super::Cluster), which are new. No for a
    /// [`Server`](super::Server) and a [`Master`](super::Master), which may stand for an earlier
    /// one: clients then wait until every lock from before is over.
    #[must_use]
    pub fn fresh(mut self, is_fresh: bool) -> Self {
        self.is_fresh = Some(is_fresh);
        self
    }

    /// Demands a password of every connection, as `requirepass` does.
    #[must_use]
    pub fn password(self, password: &str) -> Self {
        self.user(DEFAULT_USER, password)
    }

    /// Demands `AUTH user password` of every connection. The default user is off, unless `user` is
    /// the default user.
    #[must_use]
    pub fn user(mut self, user: &str, password: &str) -> Self {
        self.credentials = Some(Credentials { user: user.into(), password: password.into() });
        self
    }

    /// The address of a master with these options as a URL, user and password included.
    pub(super) fn url(&self, address: impl fmt::Display) -> String {
        let Some(credentials) = &self.credentials else {
            return format!("redis://{address}");
        };
        let user = Some(&*credentials.user).filter(|user| *user != DEFAULT_USER).unwrap_or("");
        let (user, password) = (percent_encoded(user), percent_encoded(&credentials.password));
        format!("redis://{user}:{password}@{address}")
    }
}

impl Default for Options {
    /// Returns the options of a master with at most a million keys and without a password.
    fn default() -> Self {
        Self { max_keys: 1_000_000, is_fresh: None, credentials: None }
    }
}

/// Shows whether there is a password, never the password.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("max_keys", &self.max_keys)
            .field("is_fresh", &self.is_fresh)
            .field("user", &self.credentials.as_ref().map(|credentials| &credentials.user))
            .finish_non_exhaustive()
    }
}

/// Encodes all characters except those that may stand anywhere in a URL.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
