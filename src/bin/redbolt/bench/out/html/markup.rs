//! Text, figures, tables and lists as HTML that is also well-formed XML.

use std::fmt::Write;

use crate::number::grouped;

/// What a figure shows that was not measured.
pub(super) const ABSENT: &str = "–";

/// Returns a text of somebody else, so that no character of it is taken for markup. A character
/// that would not show as itself, such as one that changes the direction of the text, shows as its
/// number.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\\' => out.push(c),
            _ if c.escape_debug().len() == 1 => out.push(c),
            // Writing to a string cannot fail.
            _ => _ = write!(out, "\\u{{{:x}}}", u32::from(c)),
        }
    }
    out
}

/// Returns the number with at most three decimals and grouped digits: `1,234.5`.
pub(super) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    let thousandths = (value.abs() * 1e3).round() as u64;
    let sign = if value < 0.0 && thousandths > 0 { "−" } else { "" };
    let decimals = format!(".{:03}", thousandths % 1_000);
    let decimals = decimals.trim_end_matches('0').trim_end_matches('.');
    format!("{sign}{}{decimals}", grouped(thousandths / 1_000))
}

pub(super) fn figure_or_absent(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), figure)
}

pub(super) fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

pub(super) fn count(value: u64) -> String {
    grouped(value)
}

/// Returns a change with its sign: 0.1 is `+10 %`.
pub(super) fn change(value: f64) -> String {
    let percent = (value * 1e3).round() / 10.0;
    let sign = if percent > 0.0 { "+" } else { "" };
    format!("{sign}{} %", figure(percent))
}

/// A cell of a table.
pub(super) enum Cell {
    Figure(String),
    /// Escaped already, as a figure is.
    Text(String),
    /// The same, but it may have many words.
    Long(String),
    /// A word about a change, which has a colour too.
    Judged {
        class: &'static str,
        text: String,
    },
}

impl Cell {
    fn html(&self) -> String {
        match self {
            Self::Figure(text) => format!("<td>{text}</td>"),
            Self::Text(text) => format!("<td class=\"text\">{text}</td>"),
            Self::Long(text) => format!("<td class=\"text long\">{text}</td>"),
            Self::Judged { class, text } => format!("<td class=\"text {class}\">{text}</td>"),
        }
    }
}

/// A row, and the class that makes it stand out, or none.
pub(super) struct Row {
    pub(super) class: Option<&'static str>,
    pub(super) cells: Vec<Cell>,
}

impl Row {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        Self { class: None, cells }
    }
}

/// Returns a table that a narrow window scrolls by itself. Titles are markup.
pub(super) fn table(titles: &[&str], rows: &[Row]) -> String {
    let is_text = |index: usize| {
        let cell = rows.first().and_then(|row| row.cells.get(index));
        cell.is_some_and(|cell| !matches!(cell, Cell::Figure(_)))
    };
    let title = |(index, title): (usize, &&str)| {
        let class = if is_text(index) { " class=\"text\"" } else { "" };
        format!("<th scope=\"col\"{class}>{title}</th>")
    };
    let titles: String = titles.iter().enumerate().map(title).collect();
    let row = |row: &Row| {
        let class = row.class.map_or_else(String::new, |class| format!(" class=\"{class}\""));
        let cells: String = row.cells.iter().map(Cell::html).collect();
        format!("<tr{class}>{cells}</tr>\n")
    };
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>{titles}</tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// Returns a list of names and what they stand for. The values are markup.
pub(super) fn facts<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let row = |(name, value)| format!("<dt>{name}</dt><dd>{value}</dd>\n");
    let rows: String = rows.into_iter().map(row).collect();
    format!("<dl class=\"facts\">\n{rows}</dl>\n")
}

pub(super) fn section(title: &str, body: &str) -> String {
    format!("<section>\n<h2>{title}</h2>\n{body}</section>\n")
}
