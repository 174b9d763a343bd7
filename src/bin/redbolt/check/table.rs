//! The report for people.

use std::time::Duration;

use redbolt::{CheckFinding, CheckNode, CheckReport, CheckState};

use super::text::{width, wrap};

/// The longest address that stands in its column. A longer one has a line of its own.
const LONGEST_ADDRESS: usize = 24;

/// The space between two columns.
const GAP: usize = 2;

/// One column of the table.
struct Column {
    title: &'static str,
    is_number: bool,
    /// Those with a higher rank go first where not all fit. A column with rank 0 stays.
    rank: u8,
    cell: fn(&CheckNode) -> Option<String>,
}

const COLUMNS: [Column; 10] = [
    column("node", 0, |node| Some(node.address.to_string())),
    column("state", 0, |node| Some(state(node))),
    column("server", 1, server),
    number("rtt p50", 2, |node| node.round_trip.map(round_trip)),
    number("uptime", 3, |node| node.server.as_ref()?.uptime.map(whole)),
    column("policy", 6, |node| node.server.as_ref()?.policy.clone()),
    column("disk", 5, |node| node.server.as_ref()?.persistence().map(str::to_owned)),
    number("clock", 4, |node| node.clock.map(|clock| clock.offset.to_string())),
    column("rights", 7, rights),
    column("id", 8, id),
];

const fn column(title: &'static str, rank: u8, cell: fn(&CheckNode) -> Option<String>) -> Column {
    Column { title, is_number: false, rank, cell }
}

const fn number(title: &'static str, rank: u8, cell: fn(&CheckNode) -> Option<String>) -> Column {
    Column { title, is_number: true, rank, cell }
}

/// Returns the whole report: the table, the findings, the verdict.
pub(super) fn page(report: &CheckReport, columns: usize) -> String {
    let mut out = table(report.nodes(), columns);
    if !report.findings().is_empty() {
        out.push('\n');
    }
    for finding in report.findings() {
        write_finding(&mut out, finding, report.nodes().len(), columns);
    }
    out.push('\n');
    wrap(&mut out, "verdict  ", &report.verdict().to_string(), 9, columns);
    out
}

fn write_finding(out: &mut String, finding: &CheckFinding, nodes: usize, columns: usize) {
    let names: Vec<_> = finding.nodes.iter().map(ToString::to_string).collect();
    let nodes = match names.len() {
        0 => "this machine".to_owned(),
        count if count == nodes && count > 1 => "all nodes".to_owned(),
        _ => names.join(", "),
    };
    let head = if finding.blocks { "! " } else { "- " };
    wrap(out, head, &format!("{nodes}: {}", finding.cause), 2, columns);
    wrap(out, "  → ", &finding.remedy, 4, columns);
}

fn table(nodes: &[CheckNode], columns: usize) -> String {
    let cells = |column: &Column| -> Vec<String> {
        let cell = |node: &CheckNode| match node.server {
            Some(_) => (column.cell)(node).unwrap_or_else(|| "-".to_owned()),
            // What nobody has told is left blank.
            None => (column.cell)(node).unwrap_or_default(),
        };
        [column.title.to_owned()].into_iter().chain(nodes.iter().map(cell)).collect()
    };
    let mut table: Vec<_> = COLUMNS.iter().map(|column| (column, cells(column))).collect();
    while total(&table) > columns {
        let Some(last) = table.iter().map(|(column, _)| column.rank).max().filter(|rank| *rank > 0)
        else {
            break;
        };
        table.retain(|(column, _)| column.rank != last);
    }
    let mut out = String::new();
    for row in 0..=nodes.len() {
        out.push_str(&line(&table, row));
    }
    out
}

fn line(table: &[(&Column, Vec<String>)], row: usize) -> String {
    let mut line = String::new();
    for (place, (column, cells)) in table.iter().enumerate() {
        let cell = &cells[row];
        let room = room(cells);
        if place == 0 && width(cell) > LONGEST_ADDRESS {
            line += &format!("{cell}\n{:room$}", "");
            continue;
        }
        let gap = if place == 0 { 0 } else { GAP };
        line += &" ".repeat(gap);
        line += &match column.is_number {
            true => format!("{cell:>room$}"),
            false => format!("{cell:<room$}"),
        };
    }
    line.truncate(line.trim_end().len());
    line + "\n"
}

/// Returns the width of a column.
fn room(cells: &[String]) -> usize {
    let widths = cells.iter().map(|cell| width(cell));
    widths.filter(|width| *width <= LONGEST_ADDRESS).max().unwrap_or(0)
}

fn total(table: &[(&Column, Vec<String>)]) -> usize {
    let rooms: usize = table.iter().map(|(_, cells)| room(cells) + GAP).sum();
    rooms - GAP
}

fn state(node: &CheckNode) -> String {
    match node.state {
        CheckState::Quarantined { remaining, .. } if !remaining.is_zero() => {
            format!("{} {}", node.label, whole(remaining))
        }
        _ => node.label.to_owned(),
    }
}

fn server(node: &CheckNode) -> Option<String> {
    let server = node.server.as_ref()?;
    let name = server.name.strip_prefix("redbolt-").unwrap_or(&server.name);
    let version = server.version.as_deref().unwrap_or_default();
    let name: String = format!("{name} {version}").chars().take(LONGEST_ADDRESS).collect();
    Some(name.trim_end().to_owned())
}

fn rights(node: &CheckNode) -> Option<String> {
    node.server.as_ref()?;
    Some(if node.missing.is_empty() { "all" } else { "not all" }.to_owned())
}

fn id(node: &CheckNode) -> Option<String> {
    let id = node.server.as_ref()?.run_id.as_ref()?;
    Some(id.chars().take(7).collect())
}

/// Writes a round trip in two or three digits.
fn round_trip(duration: Duration) -> String {
    let ms = duration.as_secs_f64() * 1e3;
    if ms < 9.995 { format!("{ms:.2}ms") } else { format!("{ms:.0}ms") }
}

/// Writes a time in the largest unit of which there are two, rounded up below a minute or two.
fn whole(duration: Duration) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "d"), (3_600, "h"), (60, "m")];
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    let unit = UNITS.iter().find(|(length, _)| seconds >= 2 * length);
    match unit {
        Some((length, name)) => format!("{}{name}", seconds / length),
        None => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_short() {
        let rows = [
            (0, "0s"),
            (1, "1s"),
            (60_300, "61s"),
            (119_000, "119s"),
            (120_000, "2m"),
            (7_199_000, "119m"),
            (7_200_000, "2h"),
            (172_800_000, "2d"),
        ];
        for (millis, expected) in rows {
            assert_eq!(whole(Duration::from_millis(millis)), expected);
        }
    }

    #[test]
    fn a_round_trip_has_the_digits_that_say_something() {
        let rows = [(49, "0.05ms"), (1_234, "1.23ms"), (9_996, "10ms"), (123_456, "123ms")];
        for (micros, expected) in rows {
            assert_eq!(round_trip(Duration::from_micros(micros)), expected);
        }
    }

    #[test]
    fn columns_stay_in_line_and_a_long_address_has_a_line_of_its_own() {
        let column = |place: usize, cells: &[&str]| {
            let cells = cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
            (&COLUMNS[place], cells)
        };
        let long = "a-long-name-of-a-host.example:6379";
        let table = [
            column(0, &["node", "10.0.0.1:6379", long]),
            column(1, &["state", "ready", "QUARANTINE 42s"]),
            column(3, &["rtt p50", "0.20ms", ""]),
        ];
        let lines: String = (0..3).map(|row| line(&table, row)).collect();
        let expected = "node           state           rtt p50\n\
                        10.0.0.1:6379  ready            0.20ms\n\
                        a-long-name-of-a-host.example:6379\n               QUARANTINE 42s\n";
        assert_eq!(lines, expected);
        assert_eq!(total(&table), 13 + 2 + 14 + 2 + 7);
    }
}
