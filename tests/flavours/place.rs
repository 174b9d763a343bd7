//! The ways to a server. What holds on one of them holds on all.

use std::ops::Deref;
use std::rc::Rc;

use crate::certificates::{Authority, LOCAL};
use crate::secure::Secure;
use crate::support::flavours::Flavour;
use crate::support::servers::Node;

/// How clients reach a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Tcp,
    Unix,
    Tls,
}

impl Way {
    /// Returns the ways that this build knows.
    pub(crate) fn all() -> &'static [Self] {
        let all = &[Self::Tcp, Self::Unix, Self::Tls];
        if cfg!(feature = "tls") { all } else { &all[..2] }
    }
}

/// A flavour, and a way to its servers.
pub(crate) struct Place {
    pub(crate) flavour: Flavour,
    pub(crate) way: Way,
    authority: Rc<Authority>,
}

impl Place {
    /// Returns each flavour that is here, by each way.
    pub(crate) fn all() -> Vec<Self> {
        Way::all().iter().flat_map(|way| Self::each(|_| *way)).collect()
    }

    /// Returns each flavour that is here, by the way that belongs to its number.
    pub(crate) fn each(way: impl Fn(usize) -> Way) -> Vec<Self> {
        let authority = Rc::new(Authority::new());
        let place = |(number, flavour)| {
            let authority = Rc::clone(&authority);
            Self { flavour, way: way(number), authority }
        };
        Flavour::all().into_iter().enumerate().map(place).collect()
    }

    /// Starts an empty master, which clients reach by [`Node::url`]. A failing test shows the way.
    pub(crate) fn start(&self) -> Node {
        println!("by {:?}", self.way);
        match self.way {
            Way::Tcp => self.flavour.start(),
            Way::Unix => {
                let node = self.flavour.start();
                let url = node.unix();
                node.reached_by(url, None)
            }
            Way::Tls => {
                let identity = self.authority.sign("server", &LOCAL);
                let start = |args: &[&str]| self.flavour.start_with(args);
                let secure = Secure::start_by(start, &self.authority, &identity, "no");
                let url = secure.url(&self.authority);
                secure.node.reached_by(url, Some(secure.port))
            }
        }
    }
}

impl Deref for Place {
    type Target = Flavour;

    fn deref(&self) -> &Flavour {
        &self.flavour
    }
}
