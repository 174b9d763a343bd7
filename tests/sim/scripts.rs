//! Masters that run no scripts for their clients, and compare and delete by a command of their own.
//!
//! Everything is drawn from a stream of its own, so that all other worlds do what they did before
//! there was any of this. In these worlds every master has a native command, some refuse scripts
//! from the beginning, and some begin or cease to refuse them. Connections end with such a change
//! or go on. In the second life all masters run scripts.

use redbolt::resp;

use crate::answer::Native;
use crate::chance::Chance;
use crate::faults::{Fault, Kind};
use crate::master::Node;
use crate::net::Net;
use crate::options::Options;
use crate::world::World;

/// Sets this stream apart from all others.
const STREAM: u64 = 0x8cb9_2ba7_2f3d_8dd7;

impl Options {
    /// Takes the scripts from some masters of some worlds.
    ///
    /// A client that cannot read the witness learns of a flush with its next look at `INFO`, as
    /// SAFETY.md says, or never. So nobody flushes masters there.
    pub(crate) fn draw_scripts(&mut self, kind: Kind) {
        let mut chance = Chance::new(self.seed ^ STREAM);
        if kind != Kind::Usual || self.is_edgy || self.has(Fault::Flush) || !chance.one_in(8) {
            return;
        }
        self.extras.without_scripts = Some(chance.below(1 << self.masters) as u8);
        self.faults.extend(vec![Fault::Scripts; chance.index(4)]);
    }
}

impl Node {
    /// Answers what a master without scripts refuses, and the tries of what such a master has.
    /// Returns `false` for any other command.
    pub(crate) fn answer_about_scripts(&mut self, words: &[&[u8]]) -> bool {
        match words {
            [name @ (b"EVAL" | b"EVALSHA" | b"SCRIPT"), ..] if self.face.refuses_scripts => {
                let name = String::from_utf8_lossy(name).to_lowercase();
                let refusal =
                    format!("NOPERM User default has no permissions to run the '{name}' command");
                resp::error(&mut self.out, &refusal);
            }
            [b"SET", ..] if is_try(words) => resp::error(&mut self.out, "ERR syntax error"),
            _ if is_try(words) => resp::integer(&mut self.out, 0),
            _ => return false,
        }
        true
    }

    /// Refuses scripts from now on, or runs them again. Connections may survive the first: whoever
    /// is refused a script finds out.
    pub(crate) fn change_scripts(&mut self, now: u64, chance: &mut Chance) {
        self.face.refuses_scripts = !self.face.refuses_scripts;
        if !self.face.refuses_scripts || chance.one_in(2) {
            self.drop_links(now, chance.one_in(2), chance);
        }
    }
}

impl World {
    /// Lets all masters run scripts again, and all clients find out.
    pub(crate) fn give_scripts_back(&mut self) {
        let Net { now, nodes, weather, .. } = &mut self.net;
        for node in nodes.iter_mut().filter(|node| node.face.refuses_scripts) {
            node.face.refuses_scripts = false;
            node.drop_links(*now, false, &mut weather.chance);
        }
    }
}

/// Returns whether a request only tries whether its command may be used. The empty value is that of
/// no lock.
pub(crate) fn is_try(words: &[&[u8]]) -> bool {
    matches!(
        words,
        [b"SET", _, b"", b"NX", b"XX"] | [b"DELIFEQ", _, b""] | [b"DELEX", _, b"IFEQ", b""]
    )
}

/// Returns the native command of a master in a world whose masters all have one.
pub(crate) fn native(index: usize, options: &Options) -> Native {
    match options.extras.has_delex && index % 2 == 0 {
        true => Native::DelEx,
        false => Native::DelIfEq,
    }
}
