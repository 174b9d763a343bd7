//! Loopback ports for servers that are told their port instead of choosing it.
//!
//! A port that the kernel hands out (`bind` to port 0) may become the source port of any outgoing
//! connection while its server is down, and then the server cannot be restarted there. The ports
//! here lie below the usual ephemeral ranges. Test processes that run side by side have
//! neighbouring process ids, and so begin in different blocks. Inside one process a port belongs to
//! one owner until that owner is dropped. One risk stays: a stranger may take a port between the
//! check and the start of the server. The caller tries again then.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

const FIRST: u32 = 10_000;
const COUNT: u32 = 22_000;
const BLOCK: u32 = 100;

static POOL: Mutex<Pool> = Mutex::new(Pool { next: None, owned: BTreeSet::new() });

struct Pool {
    next: Option<u32>,
    owned: BTreeSet<u16>,
}

/// A port that belongs to one owner in this process until the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Port(Arc<Reservation>);

struct Reservation(u16);

impl Port {
    /// Returns a port on which nobody listens right now.
    pub(crate) fn free() -> Self {
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        let start = pool.next.unwrap_or_else(|| process::id() % (COUNT / BLOCK) * BLOCK);
        for offset in (start..start + COUNT).map(|offset| offset % COUNT) {
            let number = u16::try_from(FIRST + offset).expect("the range ends below 32,000");
            if !pool.owned.contains(&number) && is_free(number) {
                pool.next = Some((offset + 1) % COUNT);
                pool.owned.insert(number);
                return Self(Arc::new(Reservation(number)));
            }
        }
        panic!("no loopback port from {FIRST} to {} is free", FIRST + COUNT - 1);
    }

    pub(crate) fn number(&self) -> u16 {
        self.0.0
    }

    /// Returns the address, written as in a list of nodes.
    pub(crate) fn addr(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Ipv4Addr::LOCALHOST, self.number())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        POOL.lock().unwrap_or_else(PoisonError::into_inner).owned.remove(&self.0);
    }
}

fn is_free(number: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, number)).is_ok()
}
