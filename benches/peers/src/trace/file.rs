//! The trace as `redbolt bench --trace … --print N` prints it: a transaction on each line.

use std::fs;
use std::path::Path;

use crate::plan::Outcome;

/// The names of the locks of one transaction, in order.
pub(crate) type Transaction = Vec<Vec<u8>>;

/// Reads the whole file. `redbolt` has written it, and checks its bounds.
pub(crate) fn read(path: &Path) -> Outcome<Vec<Transaction>> {
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let trace = parse(&text);
    if trace.is_empty() { Err("the trace has no transaction".into()) } else { Ok(trace) }
}

fn parse(text: &[u8]) -> Vec<Transaction> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let names = |line: &[u8]| {
        let names = line.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty());
        let mut names: Vec<_> = names.map(<[u8]>::to_vec).collect();
        names.sort_unstable();
        names
    };
    lines.map(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_transaction_with_its_names_in_order() {
        let trace = parse(b"# a trace\n\nb a\nc\n");
        let expected = vec![vec![b"a".to_vec(), b"b".to_vec()], vec![b"c".to_vec()]];
        assert_eq!(trace, expected);
    }
}
