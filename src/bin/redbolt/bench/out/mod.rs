//! What a run has measured, for people and for programs.
//!
//! `table` prints a run of one step, and `levels` one of many; `object` prints either for programs.
//! `folder` has the files of `--out`: `html`, a page for a browser, with `series` and `hlog` beside
//! the run itself. This room must never touch a node, and never compute what is not in the run.

pub(crate) mod folder;
pub(crate) mod hlog;
mod html;
pub(crate) mod levels;
pub(crate) mod object;
mod series;
pub(crate) mod table;
