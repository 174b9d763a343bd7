//! The passwords of the nodes, in files that all clients read before they connect, as from a store
//! of secrets.

use std::fs;
use std::path::{Path, PathBuf};

use redbolt::{Credentials, Login};

/// The user that has no right to track.
pub(crate) const DEAF: &str = "deaf";

/// The password of every node at first.
pub(crate) const FIRST: &str = "p0";

/// The folder of the passwords of a run.
pub(crate) struct Secrets(PathBuf);

impl Secrets {
    /// Returns the secrets of the run with this log.
    pub(crate) fn of(log: &Path) -> Self {
        Self(log.with_extension("secrets"))
    }

    pub(crate) fn create(log: &Path) -> Self {
        let secrets = Self::of(log);
        fs::create_dir_all(&secrets.0).expect("there is room for a folder");
        secrets
    }

    pub(crate) fn remove(&self) {
        // A folder that stays costs a little disk.
        _ = fs::remove_dir_all(&self.0);
    }

    /// Sets the password for the node at this address.
    pub(crate) fn set(&self, address: &str, password: &str) {
        let path = self.path(address.rsplit(':').next().expect("an address has a port"));
        let new = path.with_extension("new");
        fs::write(&new, password).expect("there is room for a password");
        // Nobody ever reads half of a password.
        fs::rename(new, path).expect("both are in one folder");
    }

    /// Returns the logins of a client.
    pub(crate) fn credentials(self, is_deaf: bool) -> Credentials {
        Credentials::new(move |address| {
            let port = address.port().expect("the servers have ports");
            let password = fs::read_to_string(self.path(&port.to_string()));
            let password = password.unwrap_or_else(|_| FIRST.to_owned());
            if is_deaf { Login::with_user(DEAF, FIRST) } else { Login::with_password(password) }
        })
    }

    fn path(&self, port: &str) -> PathBuf {
        self.0.join(port)
    }
}
