//! The login to the nodes that are given without one.
//!
//! The user is no secret. The password never stands in an argument: a file has it, a variable, or a
//! credential of systemd.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::file;
use super::sources::{Given, Sources, variable};

pub(super) const USER: &str = "REDBOLT_USER";
pub(super) const PASSWORD: &str = "REDBOLT_PASSWORD";
const PASSWORD_FILE: &str = "REDBOLT_PASSWORD_FILE";

/// The folder of the credentials that systemd passes to a service, and the name of ours.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";
const CREDENTIAL: &str = "redbolt.password";

/// The user and the password, as far as they are given.
pub(super) struct Login {
    pub(super) user: Option<Given>,
    pub(super) password: Option<Given>,
}

impl Login {
    /// Finds the login. The options are `--user` and `--password-file`.
    pub(super) fn find(
        user: Option<&OsString>,
        password_file: Option<&OsString>,
        sources: &Sources,
    ) -> Result<Self, String> {
        let user = user.map(|user| Given::new("--user", user));
        let user = user.or_else(|| sources.given(USER));
        let password = match password_file {
            Some(path) => Some(read(Given::new("--password-file", path))?),
            None => password(sources)?,
        };
        match (&user, &password) {
            // The library tells of a variable in the same words.
            (Some(user), None) if user.name != USER => Err(format!(
                "{} is given, but no password: --password-file or {PASSWORD} is needed",
                user.name,
            )),
            _ => Ok(Self { user, password }),
        }
    }
}

/// Returns the password of the variables, else that of the file, else that of systemd.
fn password(sources: &Sources) -> Result<Option<Given>, String> {
    let of_variables =
        [PASSWORD, PASSWORD_FILE].map(|name| Some(Given::new(name, variable(name)?)));
    let of_file = [PASSWORD, PASSWORD_FILE].map(|name| sources.in_file(name));
    for source in [of_variables, of_file] {
        match source {
            [Some(password), Some(file)] => {
                let (password, file) = (password.name, file.name);
                return Err(format!("{password} and {file} are both given: one is possible"));
            }
            [Some(password), None] => return Ok(Some(password)),
            [None, Some(file)] => return read(file).map(Some),
            [None, None] => {}
        }
    }
    credential()
}

/// Reads the password from the file that is given.
fn read(file: Given) -> Result<Given, String> {
    let Given { name, value } = file;
    if value.is_empty() {
        return Err(format!("{name} is empty"));
    }
    let path = Path::new(&value);
    let password = file::password(path).map_err(|error| format!("{name}: {error}"))?;
    Ok(Given { name: format!("{name} ({})", file::shown(path)), value: password.into() })
}

fn credential() -> Result<Option<Given>, String> {
    let Some(folder) = variable(CREDENTIALS) else { return Ok(None) };
    match file::password(&PathBuf::from(folder).join(CREDENTIAL)) {
        Ok(password) => Ok(Some(Given::new(&format!("the credential {CREDENTIAL}"), password))),
        // The credentials are for somebody else.
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(format!("{CREDENTIALS}: {error}")),
    }
}
