//! Whose lock it is, by what the client has left beside its locks.

use crate::redlock::{NodeError, Nonce, Stored};

/// A client, as its label says ([`RedlockConfig::label`](crate::RedlockConfig::label)). Nobody
/// checks a label: whoever may write to the nodes can write one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct WhoClient {
    /// The name of the machine, if the client is an engine.
    pub machine: Option<String>,
    /// The number of the process there.
    pub process: Option<u32>,
    /// The label of the client.
    pub label: String,
}

impl WhoClient {
    /// Reads what a client has written. Any text is a label.
    fn read(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let mut words = text.splitn(3, ' ');
        match (words.next(), words.next().map(str::parse), words.next()) {
            (Some(machine), Some(Ok(process)), Some(label)) => Self {
                machine: Some(machine.to_owned()),
                process: Some(process),
                label: label.to_owned(),
            },
            _ => Self { machine: None, process: None, label: text.into_owned() },
        }
    }
}

/// The labels that one node has, by the begin of the tokens of their clients.
pub(super) type Labels = Vec<(Nonce, WhoClient)>;

/// Returns the engines whose tokens a node has, each once.
pub(super) fn engines(stored: &[Result<Stored, NodeError>]) -> Vec<Nonce> {
    let values = stored.iter().flatten().filter_map(Stored::value);
    let mut engines: Vec<_> = values.filter_map(|value| Some(value.drawn_by()?.0)).collect();
    engines.sort_unstable();
    engines.dedup();
    engines
}

/// Returns the labels among these answers about the labels of `engines`. A node that does not tell
/// has none.
pub(super) fn labels(engines: Vec<Nonce>, stored: Vec<Result<Stored, NodeError>>) -> Labels {
    let label = |(engine, stored): (Nonce, Result<Stored, NodeError>)| {
        Some((engine, WhoClient::read(stored.ok()?.value()?.as_bytes())))
    };
    engines.into_iter().zip(stored).filter_map(label).collect()
}

/// Returns the label of an engine that most nodes have.
pub(super) fn of(engine: Nonce, labels: &[(Nonce, WhoClient)]) -> Option<WhoClient> {
    let own = || labels.iter().filter(|(nonce, _)| *nonce == engine).map(|(_, client)| client);
    let count = |client: &WhoClient| own().filter(|other| *other == client).count();
    own().max_by_key(|client| count(client)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_a_label_and_that_of_an_engine_tells_its_process() {
        type Row = (&'static [u8], Option<(&'static str, u32)>, &'static str);
        let rows: [Row; 7] = [
            (b"web-3 4711 billing", Some(("web-3", 4_711)), "billing"),
            (b"web-3 4711 the ledger of 2", Some(("web-3", 4_711)), "the ledger of 2"),
            (b"web-3 4711 ", Some(("web-3", 4_711)), ""),
            (b"web-3 4711", None, "web-3 4711"),
            (b"web-3 99999999999 x", None, "web-3 99999999999 x"),
            (b"", None, ""),
            (b"\xff", None, "\u{fffd}"),
        ];
        for (text, place, label) in rows {
            let client = WhoClient::read(text);
            let found = client.machine.as_deref().zip(client.process);
            assert_eq!((found, &*client.label), (place, label), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn the_label_that_most_nodes_have_is_told() {
        let (one, other) = ([1; 12], [2; 12]);
        let client = |text: &str| WhoClient::read(text.as_bytes());
        let labels = [(one, "a 1 lie"), (one, "b 2 so"), (other, "c 3 x"), (one, "b 2 so")];
        let labels = labels.map(|(engine, text)| (engine, client(text)));
        assert_eq!(of(one, &labels), Some(client("b 2 so")));
        assert_eq!(of(other, &labels), Some(client("c 3 x")));
        assert_eq!(of([3; 12], &labels), None);
    }
}
