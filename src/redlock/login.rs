//! The login to one node.

use core::fmt;

/// The login to one node, which the handshake sends before anything else.
///
/// `Debug` shows the user and the database. Of a password it shows only that there is one.
///
/// ```
/// use redbolt::redlock::Login;
///
/// let login = Login::with_user("app", "p@ss/word").in_database(3);
/// assert_eq!(login.username.as_deref(), Some("app"));
/// let shown = r#"Login { username: Some("app"), password: Some("…"), database: 3 }"#;
/// assert_eq!(format!("{login:?}"), shown);
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Login {
    /// The user name in the access control list; `None` stands for the user `default`.
    pub username: Option<String>,
    /// The password. With `None` and no user, the handshake sends no `AUTH`. With `None` and a
    /// user, the handshake sends an empty password.
    pub password: Option<String>,
    /// The number of the database; with 0, the handshake sends no `SELECT`.
    pub database: u32,
}

impl Login {
    /// The maximum length of a user and of a password in bytes: Redis takes no longer argument from
    /// a connection that has not logged in.
    pub const MAX_LEN: usize = 16 * 1024;

    /// Creates the login of the user `default`, in database 0.
    pub fn with_password(password: impl Into<String>) -> Self {
        Self { password: Some(password.into()), ..Self::default() }
    }

    /// Creates the login of a user of the access control list, in database 0.
    pub fn with_user(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { username: Some(user.into()), ..Self::with_password(password) }
    }

    /// Sets the number of the database.
    #[must_use]
    pub fn in_database(self, database: u32) -> Self {
        Self { database, ..self }
    }

    /// Whether these bytes have the password in them. A shorter one than eight bytes can stand
    /// anywhere by chance, and is not looked for.
    #[cfg(feature = "net")]
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        const LEAST: usize = 8;
        let password = self.password.as_deref().filter(|password| password.len() >= LEAST);
        password.is_some_and(|password| memchr::memmem::find(bytes, password.as_bytes()).is_some())
    }

    /// Whether the handshake must send `AUTH`.
    pub(crate) fn has_auth(&self) -> bool {
        self.username.is_some() || self.password.is_some()
    }

    /// The words of `AUTH`. A user without a password has an empty one, because the server would
    /// take a user alone for the password of `default`.
    pub(crate) fn auth(&self) -> Vec<&[u8]> {
        let password = self.password.as_deref().unwrap_or_default();
        let words = [Some("AUTH"), self.username.as_deref(), Some(password)];
        words.into_iter().flatten().map(str::as_bytes).collect()
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A password must not reach a log.
        f.debug_struct("Login")
            .field("username", &self.username)
            .field("password", &self.password.as_ref().map(|_| "…"))
            .field("database", &self.database)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_printed() {
        for login in [Login::with_password("secret"), Login::with_user("app", "secret")] {
            assert!(!format!("{login:?} {login:#?}").contains("secret"));
        }
    }
}
