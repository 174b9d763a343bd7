//! Options with one of a few values, which a shell can complete.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

/// A parser that tells what is possible, and leaves the rest to another one, whose errors say more
/// than those of clap.
#[derive(Clone)]
pub(crate) struct OneOf<P> {
    names: Vec<&'static str>,
    parser: P,
}

/// Returns a parser of one of these names. The help of an option says what each of them means, so
/// that `hide_possible_values` belongs to it.
pub(crate) fn one_of<P>(names: impl IntoIterator<Item = &'static str>, parser: P) -> OneOf<P> {
    OneOf { names: names.into_iter().collect(), parser }
}

impl<P: TypedValueParser> TypedValueParser for OneOf<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, Error> {
        self.parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().copied().map(PossibleValue::new)))
    }
}
