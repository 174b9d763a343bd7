//! How much a message shows of a value that cannot be used.

/// How much of a value is shown, in characters.
const MOST_SHOWN: usize = 32;

/// Returns a value in quotes, as a message may show it: its beginning, or `…` for what looks like
/// an address, which could have a login.
pub(crate) fn quoted(value: &str) -> String {
    beginning(value, &['@', ':', '/'])
}

/// The same for a value that can have colons without being an address.
pub(crate) fn with_colons(value: &str) -> String {
    beginning(value, &['@', '/'])
}

fn beginning(value: &str, of_address: &[char]) -> String {
    let end = value.char_indices().nth(MOST_SHOWN).map_or(value.len(), |(end, _)| end);
    match value.contains(of_address) {
        true => "\"…\"".to_owned(),
        false if end < value.len() => format!("{:?}", format!("{}…", &value[..end])),
        false => format!("{value:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_unless_it_looks_like_an_address() {
        for value in ["", "soon", "10 seconds", "-5s", "two\n"] {
            assert_eq!(quoted(value), format!("{value:?}"));
        }
        for value in ["redis://:secret@h", ":secret", "u@h", "secret/3"] {
            assert_eq!(quoted(value), "\"…\"", "{value}");
        }
        assert_eq!(quoted(&"ä".repeat(99)), format!("\"{}…\"", "ä".repeat(32)));
        assert_eq!(with_colons("zipf:10:99"), "\"zipf:10:99\"");
        for value in ["redis://:secret@h", "u:secret@h", ":secret/3"] {
            assert_eq!(with_colons(value), "\"…\"", "{value}");
        }
    }
}
