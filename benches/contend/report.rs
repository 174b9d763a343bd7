//! A result as a row of a table, and the same as a line of JSON.

use std::fmt::Write;

/// What the table has where a figure is not known, such as a percentile of no samples: a 0 would
/// look like a result. JSON has `null`.
const UNKNOWN: &str = "-";

/// Names and figures, in their order. The name of a figure says its unit.
pub(crate) struct Row {
    title: String,
    cells: Vec<(String, String)>,
    raw: String,
}

impl Row {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), cells: Vec::new(), raw: String::new() }
    }

    pub(crate) fn count(&mut self, name: &str, value: impl TryInto<u64>) {
        let value = value.try_into().unwrap_or(u64::MAX);
        self.cells.push((name.to_owned(), value.to_string()));
    }

    /// A figure with as many decimals as say something, or [`UNKNOWN`] where it is not finite.
    pub(crate) fn figure(&mut self, name: &str, value: f64) {
        let decimals = if value.abs() < 100.0 { 2 } else { 0 };
        let is_known = value.is_finite();
        let value = if is_known { format!("{value:.decimals$}") } else { UNKNOWN.to_owned() };
        self.cells.push((name.to_owned(), value));
    }

    /// What is too long for the table: an object of counts, for the line of JSON alone.
    pub(crate) fn raw<'a>(&mut self, name: &str, counts: impl Iterator<Item = (&'a str, f64)>) {
        let counts: Vec<_> = counts.map(|(key, count)| format!("\"{key}\":{count:.0}")).collect();
        let _ = write!(self.raw, ",\"{name}\":{{{}}}", counts.join(","));
    }

    /// Prints the names, the figures below them, and the line.
    pub(crate) fn print(&self) {
        println!("{}", self.text());
    }

    pub(crate) fn text(&self) -> String {
        let (mut names, mut values) = (String::new(), String::new());
        let mut json = format!("{{\"title\":\"{}\"", self.title);
        for (name, value) in &self.cells {
            let width = name.len().max(value.len()) + 2;
            let _ = write!(names, "{name:>width$}");
            let _ = write!(values, "{value:>width$}");
            let value = if value == UNKNOWN { "null" } else { value };
            let _ = write!(json, ",\"{name}\":{value}");
        }
        format!("\n{}\n{names}\n{values}\njson {json}{}}}", self.title, self.raw)
    }
}
