//! The words of a server, as users see them.
//!
//! A server is a stranger: its words can have the password that it was sent, and characters that
//! tell a terminal to do something. Neither gets past [`server_text`], through which every text of
//! a server goes before it reaches an error, a log, a terminal or an object.

use crate::redlock::login::Login;
use crate::redlock::wire::server_error::Complaint;

/// The number of characters kept of an error.
const MAX: usize = 128;

/// What stands for a password, and for nothing else.
const HIDDEN: &str = "…";

/// The last error of a server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Message {
    /// The words of the server, as users may see them.
    pub(crate) text: String,
    pub(crate) complaint: Option<Complaint>,
}

impl Message {
    /// Keeps an error of the server that has this login from us.
    pub(crate) fn of_error(text: &[u8], login: &Login) -> Self {
        let complaint = Complaint::read(text);
        // Behind the name of an unknown command, a server repeats the arguments: the password of
        // `AUTH`, or the token of a lock.
        let end = memchr::memmem::find(text, b" with args").unwrap_or(text.len());
        let text = text[..end].trim_ascii_end();
        let text = text.strip_suffix(b",").unwrap_or(text);
        Self { text: server_text(text, login, MAX), complaint }
    }

    /// Keeps what is known of an error beside its class, such as the path of a file.
    #[cfg(feature = "net")]
    pub(crate) fn of_detail(text: &str, login: &Login) -> Self {
        Self { text: server_text(text.as_bytes(), login, MAX), complaint: None }
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.complaint = None;
    }
}

/// Returns the beginning of a text that the server with this login has sent, at most `most`
/// characters, without the password, and safe for a terminal and a log.
///
/// What would not show as itself is written as an escape: control characters, those that change the
/// direction of the text, ends of lines of every kind, and what has no width.
pub(crate) fn server_text(text: &[u8], login: &Login, most: usize) -> String {
    let password = login.password.as_deref().unwrap_or_default().as_bytes();
    let mut out = String::new();
    let (mut rest, mut room) = (text, most);
    while room > 0 && !rest.is_empty() {
        let secret = memchr::memmem::find(rest, password).filter(|_| !password.is_empty());
        let end = secret.unwrap_or(rest.len());
        // A character has at most four bytes.
        let seen = String::from_utf8_lossy(&rest[..end.min(4 * room)]);
        append(&mut out, &seen, &mut room);
        if secret.is_some() {
            append(&mut out, HIDDEN, &mut room);
        }
        rest = &rest[secret.map_or(end, |start| start + password.len())..];
    }
    out
}

/// Appends what there is room for.
fn append(out: &mut String, text: &str, room: &mut usize) {
    for c in text.chars() {
        let escape = c.escape_debug();
        let is_itself = escape.len() == 1 || matches!(c, '\'' | '"' | '\\');
        let len = if is_itself { 1 } else { escape.len() };
        if len > *room {
            *room = 0;
            return;
        }
        *room -= len;
        if is_itself { out.push(c) } else { out.extend(escape) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_shows_no_password_and_nothing_that_a_terminal_would_obey() {
        let none = Login::default();
        let login = Login::with_user("app", "pass word");
        let rows: [(&Login, &[u8], &str); 12] = [
            (&none, b"it's \"so\" \\", "it's \"so\" \\"),
            (&none, b"a\x1b[2Jb", "a\\u{1b}[2Jb"),
            (&none, b"a\r\nb\t\0", "a\\r\\nb\\t\\0"),
            (&none, "\u{202e}\u{2066}\u{200f}".as_bytes(), "\\u{202e}\\u{2066}\\u{200f}"),
            (&none, "\u{2028}\u{2029}\u{85}".as_bytes(), "\\u{2028}\\u{2029}\\u{85}"),
            (&none, "\u{9b}2J\u{7f}\u{feff}".as_bytes(), "\\u{9b}2J\\u{7f}\\u{feff}"),
            (&none, "Größe 大".as_bytes(), "Größe 大"),
            (&none, b"\xff", "\u{fffd}"),
            (&login, b"AUTH app pass word!", "AUTH app …!"),
            (&login, b"pass wordpass word", "……"),
            (&login, b"pass wor", "pass wor"),
            (&Login::with_password(""), b"abc", "abc"),
        ];
        for (login, text, expected) in rows {
            assert_eq!(server_text(text, login, 64), expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn a_text_is_cut_behind_its_last_whole_character_and_never_inside_a_password() {
        let none = Login::default();
        assert_eq!(server_text("ä".repeat(99).as_bytes(), &none, 64), "ä".repeat(64));
        assert_eq!(server_text(b"12345678\x1b[2J", &none, 9), "12345678");
        assert_eq!(server_text(b"", &none, 9), "");
        let login = Login::with_password("secret");
        for most in 0..20 {
            let text = server_text(b"0123456789 secret tail", &login, most);
            assert!(!text.contains('s'), "{text}");
            assert!(text.chars().count() <= most, "{text}");
        }
    }

    #[test]
    fn what_a_complaint_is_about_does_not_depend_on_the_password() {
        let login = Login::with_password("NOAUTH");
        let message = Message::of_error(b"NOAUTH Authentication required.", &login);
        assert_eq!(message.text, "… Authentication required.");
        assert_eq!(message.complaint, Some(Complaint::LoginMissing));
    }
}
