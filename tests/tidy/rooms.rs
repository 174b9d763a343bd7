//! The order of the rooms inside `src/redlock`: each uses only those below.

use super::Finding;
use super::layers::upward;
use super::modules::Arrow;
use super::paths::names;
use super::source::Source;

const FOLDER: &str = "src/redlock/";

/// From the bottom up.
const ROOMS: [&str; 5] = [ROOT, "wire", "lock", "node", "machine"];

/// The words that all rooms use: the files directly in [`FOLDER`].
const ROOT: &str = "the root";

/// The one file above all rooms: it only declares modules and re-exports what is public.
const TOP: &str = "mod.rs";

/// The arrows that go up, folders that are no room, and items of the `mod.rs` above the rooms.
pub(crate) fn check(sources: &[Source], arrows: &[Arrow]) -> Vec<(String, Finding)> {
    let mut findings = upward(arrows, place);
    for source in sources.iter().filter(|source| !source.is_test()) {
        let found = match source.path.strip_prefix(FOLDER) {
            Some(TOP) => items(source),
            Some(_) if place(&source.path).is_none() => {
                vec![Finding::new(1, format!("{FOLDER} has no room of this name, see {}", file!()))]
            }
            _ => Vec::new(),
        };
        findings.extend(found.into_iter().map(|finding| (source.path.clone(), finding)));
    }
    findings
}

/// The room of a file, and the place of the room from the bottom up.
fn place(file: &str) -> Option<(&str, usize)> {
    let inside = file.strip_prefix(FOLDER)?;
    if inside == TOP {
        return Some((TOP, ROOMS.len()));
    }
    let room = inside.split_once('/').map_or(ROOT, |(room, _)| room);
    Some((room, ROOMS.iter().position(|known| *known == room)?))
}

fn items(source: &Source) -> Vec<Finding> {
    let names = names(&source.code[..source.end_of_code()]);
    let what = "only declares modules and re-exports: an item belongs in a room";
    names.items.iter().map(|item| Finding::new(item.line, what)).collect()
}
