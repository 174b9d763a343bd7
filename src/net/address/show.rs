//! An address as text, without its login.

use core::fmt;

#[cfg(feature = "serde")]
use super::parse::LEFT_OUT;
use super::syntax::is_plain_in_path;
use super::{Address, Place};

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "", "")
    }
}

impl Address {
    /// Writes the address, with a scheme where the text can be without one, and with a login.
    fn write(&self, f: &mut fmt::Formatter<'_>, scheme: &str, login: &str) -> fmt::Result {
        let scheme = if self.tls().is_some() { "rediss://" } else { scheme };
        match self.place() {
            Place::Host { host, port, .. } if host.contains(':') => {
                let zone = if scheme.is_empty() { "%" } else { "%25" };
                write!(f, "{scheme}{login}[{}]:{port}", host.replace('%', zone))?;
            }
            Place::Host { host, port, .. } => write!(f, "{scheme}{login}{host}:{port}")?,
            Place::Unix { path } => write!(f, "unix://{login}{}", Encoded(path))?,
        }
        match (self.login().database, self.place()) {
            (0, _) => Ok(()),
            (database, Place::Host { .. }) => write!(f, "/{database}"),
            (database, Place::Unix { .. }) => write!(f, "?db={database}"),
        }
    }
}

/// An address as a text that can be parsed, with a sign in the place of the login.
#[cfg(feature = "serde")]
pub(super) struct Parsable<'a>(pub(super) &'a Address);

#[cfg(feature = "serde")]
impl fmt::Display for Parsable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let login = self.0.login();
        let sign = if login.has_auth() { format!("{LEFT_OUT}@") } else { String::new() };
        let is_short = !login.has_auth() && login.database == 0;
        self.0.write(f, if is_short { "" } else { "redis://" }, &sign)?;
        let Some(tls) = self.0.tls() else { return Ok(()) };
        let settings = [
            ("ca", text(&tls.ca)),
            ("cert", text(&tls.cert)),
            ("key", text(&tls.key)),
            ("server_name", tls.server_name.as_deref().map(Into::into)),
        ];
        let settings = settings.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        for (place, (name, value)) in settings.enumerate() {
            write!(f, "{}{name}={}", if place == 0 { '?' } else { '&' }, Encoded(value))?;
        }
        Ok(())
    }
}

#[cfg(feature = "serde")]
fn text(path: &Option<std::path::PathBuf>) -> Option<std::borrow::Cow<'_, str>> {
    path.as_ref().map(|path| path.to_string_lossy())
}

/// A path, percent-encoded as far as a text needs it.
struct Encoded<'a>(&'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        for c in self.0.chars() {
            if is_plain_in_path(c) {
                f.write_char(c)?;
            } else {
                c.encode_utf8(&mut [0; 4]).bytes().try_for_each(|byte| write!(f, "%{byte:02X}"))?;
            }
        }
        Ok(())
    }
}
