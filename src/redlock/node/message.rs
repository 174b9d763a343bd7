//! The text of a server's error, as users see it.

/// The number of characters kept of an error.
const MAX: usize = 128;

/// Returns the text of a server's error, made safe for a terminal and for a log.
pub(super) fn shown(text: &[u8]) -> String {
    // Behind the name of an unknown command, a server repeats the arguments: the password of
    // `AUTH`, or the token of a lock.
    let end = memchr::memmem::find(text, b" with args").unwrap_or(text.len());
    let text = text[..end].trim_ascii_end();
    let text = text.strip_suffix(b",").unwrap_or(text);
    // A character has at most four bytes.
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * MAX)]);
    let safe = |c: char| if c.is_control() { '?' } else { c };
    text.chars().take(MAX).map(safe).collect()
}
