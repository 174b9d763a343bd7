//! Where the password of each node comes from, for a message about a login that was refused.

use std::sync::OnceLock;

use redbolt::Address;
use redbolt::redlock::NodeId;

use super::sources::Given;

/// The places of the passwords, node by node. The settings of a process are read once, and the
/// places are no part of what the library knows.
static PLACES: OnceLock<Vec<Option<String>>> = OnceLock::new();

/// Keeps where the password of each of these nodes comes from: its address, or the one place for
/// all nodes whose addresses have none.
pub(super) fn remember(nodes: &[Address], common: Option<&Given>) {
    let place = |node: &Address| {
        let password = node.login().password.as_ref()?;
        let common = common.filter(|common| common.value == **password);
        Some(common.map_or("its address", |common| &common.name).to_owned())
    };
    // Whoever reads the settings again reads the same.
    _ = PLACES.set(nodes.iter().map(place).collect());
}

/// Returns where the password of a node comes from, if the node has one.
pub(crate) fn password_place(node: NodeId) -> Option<&'static str> {
    PLACES.get()?.get(node.index())?.as_deref()
}
