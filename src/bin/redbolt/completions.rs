//! `redbolt completions`: what a shell needs to complete the command line.

use std::process::ExitCode;

use clap::{Arg, ValueHint};
use clap_complete::{Shell, generate};

use crate::output;

/// How the script for bash names the function that completes, and how ours is named instead.
const BASH_FUNCTION: &str = "complete -F _redbolt ";
const BASH_WRAPPER: &str = "complete -F _redbolt_line ";

/// What the script of clap lacks: a command behind `--`, and values behind `=`, which is a word of
/// its own for bash.
const BASH: &str = r#"
_redbolt_line() {
    local at prev="$3"
    COMPREPLY=()
    if [[ "${COMP_WORDS[1]}" == exec ]]; then
        for (( at = 2; at < COMP_CWORD; at++ )); do
            [[ "${COMP_WORDS[at]}" == -- ]] || continue
            (( at++ ))
            # Where bash-completion is loaded, the command completes its own arguments.
            if declare -F _comp_command_offset >/dev/null; then
                _comp_command_offset "$at"
            elif declare -F _command_offset >/dev/null; then
                _command_offset "$at"
            elif (( at == COMP_CWORD )); then
                local IFS=$'\n'
                COMPREPLY=( $(compgen -c -- "$2") )
            fi
            return
        done
    fi
    [[ "$prev" == = ]] && prev="${COMP_WORDS[COMP_CWORD-2]}"
    _redbolt "$1" "$2" "$prev"
}
"#;

/// What the script of clap lacks for fish: a command behind `--`.
const FISH: &str = r#"
function __fish_redbolt_command
    set -l words (commandline -opc)
    set -l at (contains -i -- -- $words); or return
    set -l line (string escape -- $words[(math $at + 1)..-1]) (commandline -ct)
    complete -C (string join ' ' -- $line)
end
function __fish_redbolt_has_command
    __fish_redbolt_using_subcommand exec; and contains -- -- (commandline -opc)
end
complete -c redbolt -n __fish_redbolt_has_command -f -a "(__fish_redbolt_command)"
"#;

/// How the script for zsh describes the command behind `--`: with the resource as its first word.
/// A third colon leaves the resource out.
const ZSH_COMMAND: &str = "'*::command -- ";
const ZSH_COMMAND_ALONE: &str = "'*:::command -- ";

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

pub(crate) fn run(args: Args, command: clap::Command) -> ExitCode {
    let name = command.get_name().to_owned();
    let mut command = command.mut_subcommands(|command| command.mut_args(without_files));
    let mut script = Vec::new();
    generate(args.shell, &mut command, name, &mut script);
    let script = String::from_utf8_lossy(&script);
    output::print(&match args.shell {
        Shell::Bash => script.replace(BASH_FUNCTION, BASH_WRAPPER) + BASH,
        Shell::Fish => script.into_owned() + FISH,
        Shell::Zsh => script.replace(ZSH_COMMAND, ZSH_COMMAND_ALONE),
        _ => script.into_owned(),
    })
}

/// A value of which nothing is known is no file: most are numbers and durations.
fn without_files(arg: Arg) -> Arg {
    match arg.get_value_hint() {
        ValueHint::Unknown if arg.get_action().takes_values() => arg.value_hint(ValueHint::Other),
        _ => arg,
    }
}
