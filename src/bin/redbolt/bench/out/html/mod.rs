//! The report of a run as one page for a browser: no script, no picture, no style from elsewhere.
//!
//! The page is a function of the run, so that a page can be made again from a `run.json`. `page`
//! has the order of the sections; each section has a file, and returns nothing where the run has
//! nothing to say. `plot` draws, with the `axis` of numbers, and `markup` writes text and figures.
//! Every text of the run was written by somebody else and is escaped there.
//!
//! Everything that is measured is on the page as a figure, the slices of the time series excepted:
//! they are drawn, and `series.csv` has their figures.

mod against;
mod axis;
mod baseline;
mod curve;
mod facts;
mod levels;
mod markup;
mod page;
mod percentiles;
mod plot;
mod series;
mod servers;
mod steps;
mod style;
mod summary;
#[cfg(test)]
mod tests;

pub(crate) use self::page::page;
