//! The settings that all commands have in common, and where they come from.
//!
//! An option goes before a variable, a variable before the file of `--config`, and the file before
//! the default ([`sources`]). [`args`] has the options, [`list`] reads `--nodes @FILE`, [`login`]
//! finds user and password, whose place [`passwords`] remembers, and [`config_file`] reads TOML
//! ([`unquoted`]). [`file`] and [`input`] read all of these files. [`names`] has the names of all
//! settings.
//!
//! A message names the option, the variable, or the line of the file that is wrong, and shows no
//! piece of a password.

mod args;
mod config_file;
mod file;
mod help;
mod input;
mod list;
mod login;
mod names;
mod passwords;
mod sources;
mod unquoted;

pub(crate) use self::args::{ASKS, NO_NODES, NodeArgs, Override};
pub(crate) use self::file::token;
pub(crate) use self::passwords::password_place;
pub(crate) use self::sources::{Given, Sources};
