//! How much an error shows of a value, or of a name, that cannot be used.

/// How much of a value is shown, in characters.
const MOST_SHOWN: usize = 32;

/// Returns a value as an error may show it: its beginning, or `…` for what looks like an address,
/// which could have a login. Whatever else stands in the wrong place is shown, a bare password too:
/// nothing tells a password from a number or a word.
pub(crate) fn shown(value: &str) -> String {
    let end = value.char_indices().nth(MOST_SHOWN).map_or(value.len(), |(end, _)| end);
    match value.contains(['@', ':', '/']) {
        true => "…".to_owned(),
        false if end < value.len() => format!("{}…", &value[..end]),
        false => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_unless_it_looks_like_an_address() {
        for value in ["", "soon", "10 seconds", "-5s", "two", &"ä".repeat(MOST_SHOWN)] {
            assert_eq!(shown(value), value);
        }
        for value in ["redis://:secret@h", ":secret", "u@h", "secret/3"] {
            assert_eq!(shown(value), "…", "{value}");
        }
        let long = "ä".repeat(MOST_SHOWN);
        assert_eq!(shown(&(long.clone() + "x")), long + "…");
    }
}
