//! `redbolt man`: the pages of the manual, made of the same texts as `--help`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use clap::builder::StringValueParser;
use clap_mangen::Man;

use crate::choice::one_of;
use crate::output::{print, say};
use crate::{exit, quote};

/// The commands that have a page.
const PAGES: [&str; 8] = ["bench", "check", "exec", "init", "who", "unlock", "completions", "man"];

const AFTER_HELP: &str = "\
Examples:
  redbolt man exec | man -l -
  redbolt man --dir /usr/local/share/man/man1";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The command whose page is printed; redbolt itself when this is absent
    #[arg(value_name = "COMMAND", hide_possible_values = true)]
    #[arg(value_parser = one_of(PAGES, StringValueParser::new()))]
    page: Option<String>,

    /// Write all pages into this folder, which is made where it is missing
    #[arg(long, value_name = "DIR", conflicts_with = "page", value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: Args, command: clap::Command) -> ExitCode {
    let pages = pages(command);
    if let Some(dir) = args.dir {
        return match write_all(&dir, &pages) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say(format_args!("cannot write to {}: {error}", dir.display()));
                exit::SOFTWARE.into()
            }
        };
    }
    let name =
        args.page.as_ref().map_or_else(|| "redbolt".to_owned(), |page| format!("redbolt-{page}"));
    match pages.iter().find(|page| page.name == name) {
        Some(page) => print(&page.text),
        None => {
            let page = quote::quoted(&args.page.unwrap_or_default());
            let names = pages.iter().filter_map(|page| page.name.strip_prefix("redbolt-"));
            let names: Vec<_> = names.collect();
            say(format_args!("COMMAND is {page}, one of {} is possible", names.join(", ")));
            exit::USAGE.into()
        }
    }
}

/// One page, and its name without the section.
struct Page {
    name: String,
    text: String,
}

/// Returns the page of the program, and that of each of its commands.
fn pages(command: clap::Command) -> Vec<Page> {
    let mut command = command.disable_help_subcommand(true);
    // This gives the commands the names that they have below the program.
    command.build();
    let commands: Vec<_> = command.get_subcommands().cloned().collect();
    [command].into_iter().chain(commands).map(page).collect()
}

fn page(mut command: clap::Command) -> Page {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    // The synopsis of clap names every option, and leaves out the `--` before COMMAND.
    let usage = command.render_usage().to_string();
    let command = command.override_usage(usage.trim_start_matches("Usage: ").to_owned());
    let source = concat!("redbolt ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).title(name.to_uppercase()).source(source).manual("redbolt");
    let mut text = Vec::new();
    // Writing to a vector does not fail.
    _ = man.render(&mut text);
    Page { name, text: laid_out(&String::from_utf8_lossy(&text)) }
}

/// Returns a page on which no name is hyphenated, and on which the line behind a list is a line of
/// its own. Lines that begin with a space are lines of a list, which `man` leaves alone: they must
/// fit into its narrowest page. The rows of a table may be longer, because `man` lays them out.
fn laid_out(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let (mut is_list, mut is_table, mut is_notes) = (false, false, false);
    for line in page.lines() {
        // The lists of the options stand in columns that have their own indent.
        is_notes |= line == ".SH EXTRA";
        if let Some((name, width, what)) = row(line).filter(|_| is_notes) {
            text.push_str(if is_table { "" } else { ".RS 2\n.PD 0\n" });
            text.push_str(&format!(".TP {width}\n{name}\n{what}\n"));
            (is_list, is_table) = (false, true);
            continue;
        }
        if is_table && line.starts_with(' ') {
            text.push_str(&format!("{}\n", line.trim_start()));
            continue;
        }
        text.push_str(if is_table { ".PD\n.RE\n" } else { "" });
        is_table = false;
        let (was_list, is_control) = (is_list, line.starts_with('.'));
        is_list = line.starts_with(' ');
        if was_list && !is_list && !is_control {
            text.push_str(".br\n");
        }
        // What stands behind the options has no better name in clap.
        text.push_str(if line == ".SH EXTRA" { ".SH NOTES" } else { line });
        text.push('\n');
        if line.starts_with(".TH ") {
            text.push_str(".nh\n.ad l\n");
        }
    }
    text
}

/// Returns the parts of a row, `  name    what it means`, and the width of its first column.
fn row(line: &str) -> Option<(&str, usize, &str)> {
    let row = line.strip_prefix("  ").filter(|row| !row.starts_with(' '))?;
    let (name, what) = row.split_once("  ").filter(|(name, _)| !name.contains(' '))?;
    let what = what.trim_start();
    Some((name, row.len() - what.len(), what))
}

fn write_all(dir: &Path, pages: &[Page]) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    pages.iter().try_for_each(|page| fs::write(dir.join(format!("{}.1", page.name)), &page.text))
}
