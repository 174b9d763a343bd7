//! [`Credentials`]: logins that are asked for at each new connection.

use core::fmt;
use std::sync::Arc;

use super::address::Address;
use super::callback;
use crate::redlock::Login;

/// A function that returns the login to a node. The engine calls the function for each new
/// connection, just before the handshake, so that a password can be rotated while the process runs.
///
/// The function gets the address of the node, as configured. It returns the user and the password;
/// the database is always that of the address, because the locks of another database would not be
/// seen. The function runs in the thread of the engine, and no lock makes progress meanwhile: read
/// the password from memory there, and fetch new ones elsewhere.
///
/// A connection that is up stays up, also with an old password. After a node has refused a login,
/// the function is asked again after the pauses of a reconnect (`reconnect_max` at most). Another
/// login is tried at once, and the same one after about half a minute. A rotation without a gap
/// gives the node the new password first, then the function, and takes the old one away last. If
/// the function panics, the connection is made with the login that was known before, which at first
/// is that of the address, and the function is asked again the next time.
///
/// `Debug` shows nothing of the function.
///
/// ```
/// use redbolt::{Config, Credentials, Login};
/// use std::sync::{Arc, Mutex};
///
/// let password = Arc::new(Mutex::new("first".to_owned()));
/// let mut config = Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?;
/// config.credentials = Some(Credentials::new({
///     let password = password.clone();
///     move |_| Login::with_user("locks", password.lock().unwrap().clone())
/// }));
/// // Whatever watches the secrets store does this, from any thread.
/// *password.lock().unwrap() = "second".to_owned();
/// # Ok::<(), redbolt::AddressError>(())
/// ```
#[derive(Clone)]
pub struct Credentials(Arc<dyn Fn(&Address) -> Login + Send + Sync>);

impl Credentials {
    /// Creates credentials that are asked for by a call of `login`.
    pub fn new(login: impl Fn(&Address) -> Login + Send + Sync + 'static) -> Self {
        Self(Arc::new(login))
    }

    /// Returns the login for a new connection to a node; `None` if the function has panicked.
    pub(super) fn login(&self, address: &Address) -> Option<Login> {
        let login = callback::call(|| (self.0)(address))?;
        Some(login.in_database(address.login().database))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_is_that_of_the_address() {
        let credentials = Credentials::new(|address| {
            assert_eq!(address.host(), Some("h"));
            Login::with_password("secret").in_database(7)
        });
        let address = "redis://h/3".parse::<Address>().expect("an address");
        let expected = Login::with_password("secret").in_database(3);
        assert_eq!(credentials.login(&address), Some(expected));
        assert_eq!(format!("{credentials:?} {credentials:#?}"), "Credentials(…) Credentials(…)");
    }
}
