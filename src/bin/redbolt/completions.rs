//! `redbolt completions`: what a shell needs to complete the command line.

use std::process::ExitCode;

use clap_complete::{Shell, generate};

use crate::output;

const AFTER_HELP: &str = "\
Where the script goes:
  bash        redbolt completions bash > /usr/share/bash-completion/completions/redbolt
  zsh         redbolt completions zsh > /usr/share/zsh/site-functions/_redbolt
  fish        redbolt completions fish > ~/.config/fish/completions/redbolt.fish
  elvish      redbolt completions elvish >> ~/.config/elvish/rc.elv
  powershell  redbolt completions powershell >> $PROFILE
or, for one session of bash: source <(redbolt completions bash)";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: Args, mut command: clap::Command) -> ExitCode {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    generate(args.shell, &mut command, name, &mut script);
    output::print(&String::from_utf8_lossy(&script))
}
