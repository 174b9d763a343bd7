//! Which name a misspelt one is most like.

/// The most bytes of a name that are compared: more than any option has.
const LONGEST: usize = 64;

/// Returns the name that is most like this one, if at most half of it differs.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let known = known.filter(|_| name.len() <= LONGEST);
    let (distance, known) = known.map(|known| (distance(name, known), known)).min()?;
    (distance <= known.len().div_ceil(2)).then_some(known)
}

/// Returns how many bytes must be inserted or removed to make one text of the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // The distances between what was read of `a` and each beginning of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + 2 * usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_like_the_one_that_was_meant() {
        const KNOWN: [&str; 5] = ["wait", "no-wait", "ttl", "max-ttl", "conflict-exit-code"];
        let rows = [
            ("wiat", Some("wait")),
            ("nowait", Some("no-wait")),
            ("tll", Some("ttl")),
            ("maxttl", Some("max-ttl")),
            ("conflict-code", Some("conflict-exit-code")),
            ("latency", None),
            ("x", None),
            ("", None),
        ];
        for (name, expected) in rows {
            assert_eq!(nearest(name, KNOWN.into_iter()), expected, "{name}");
        }
        assert_eq!(nearest(&"wait".repeat(1_000), KNOWN.into_iter()), None);
    }
}
