//! One look at all nodes, and its report in one of two forms.

use redbolt::{Check, CheckError, CheckReport, Config};

use super::{object, table, text};
use crate::failure::Failure;

pub(super) fn look(config: Config) -> Result<CheckReport, Failure> {
    Check::new(config).run().map_err(|error| match error {
        CheckError::Io(_) => Failure::software(error),
        _ => Failure::usage(error),
    })
}

/// Returns the report as one line of JSON, or for people, as wide as the terminal.
pub(super) fn written(report: &CheckReport, json: bool) -> String {
    if json { object::of(report) } else { table::page(report, text::columns()) }
}
