//! A child of the client's process. A child has all sockets and all memory of its parent, and must
//! be refused whatever it tries.

use std::process;

use fork::{Fork, fork, waitpid_nohang};

use super::PATIENCE;
use crate::log::{Log, Record, What, nanos};
use crate::support::until;

/// What a child has tried, and whether it was refused.
pub(super) type Tried = (&'static str, bool);

/// Splits the process. The child tries things, writes down what became of them, and ends.
pub(super) fn bear(log: &Log, client: u32, tries: impl FnOnce(&mut dyn FnMut(Tried))) {
    let write = |deed: &str, is_refused| {
        let what = What::Forked { is_refused, deed: deed.to_owned() };
        log.write(&Record { at: nanos(), client, request: 0, what });
    };
    match fork().expect("this process may fork") {
        Fork::Child => {
            tries(&mut |(deed, is_refused)| write(deed, is_refused));
            process::exit(0);
        }
        Fork::Parent(child) => {
            // A child that hangs in a call was not refused.
            let has_ended = || waitpid_nohang(child).expect("the child is ours").is_some();
            write("to keep its parent waiting", until(PATIENCE, has_ended));
        }
    }
}
