//! A command line that cannot be read is refused in the form that it asks for all the same: a
//! program that reads JSON shall not find a line of text.

use std::env;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use super::failure::Failure;
use super::message::Message;
use super::style::{Form, Style, Volume};
use crate::{exit, output};

/// The option that chooses a form, and its variable.
const OPTION: &str = "--log";
const VARIABLE: &str = "REDBOLT_LOG";

/// Says what is wrong with the arguments.
pub(crate) fn refuse(what: String, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let form = of_arguments(arguments).or_else(of_variable).unwrap_or_default();
    let failure = Failure::Usage(what);
    let message = Message::Failed { exit_code: exit::USAGE, failure: &failure };
    output::write_line(&Style::new(form, Volume::Normal, None).line(&message));
    exit::USAGE.into()
}

/// Returns the form that the variable wants, if it can be used.
pub(super) fn of_variable() -> Option<Form> {
    env::var_os(VARIABLE).and_then(|value| named(&value))
}

/// Returns the form that the arguments want, as far as that can be said.
fn of_arguments(arguments: impl IntoIterator<Item = OsString>) -> Option<Form> {
    let mut arguments = arguments.into_iter().take_while(|argument| argument != "--");
    while let Some(argument) = arguments.next() {
        let value = match argument.to_str().and_then(|argument| argument.strip_prefix(OPTION)) {
            Some("") => arguments.next(),
            Some(value) => value.strip_prefix('=').map(OsString::from),
            None => None,
        };
        let form = value.and_then(|value| named(&value));
        if form.is_some() {
            return form;
        }
    }
    None
}

fn named(value: &OsStr) -> Option<Form> {
    Form::named(value.to_str()?.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_found_among_arguments_that_cannot_be_parsed() {
        let rows: [(&[&str], Option<Form>); 10] = [
            (&[], None),
            (&["exec", "--log"], None),
            (&["exec", "--log", "json"], Some(Form::Json)),
            (&["exec", "--wiat", "5", "--log=json", "r"], Some(Form::Json)),
            (&["exec", "--log=text", "--log=json"], Some(Form::Text)),
            (&["exec", "--log", "xml", "--log=json"], Some(Form::Json)),
            (&["exec", "--logs=json"], None),
            (&["exec", "--log="], None),
            // What stands behind belongs to the command.
            (&["exec", "r", "--", "x", "--log", "json"], None),
            (&["exec", "--log", "--", "json"], None),
        ];
        for (arguments, form) in rows {
            assert_eq!(of_arguments(arguments.iter().map(OsString::from)), form, "{arguments:?}");
        }
    }
}
