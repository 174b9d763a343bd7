//! `redbolt bench`.

use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args) -> ExitCode {
    crate::exit::SOFTWARE.into()
}
