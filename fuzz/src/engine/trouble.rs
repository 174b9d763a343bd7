//! What the servers do wrong.

use arbitrary::{Result, Unstructured};
use redbolt::Clock;
use redbolt::embedded::Memory;

use super::super::commands::FLUSHED;
use super::super::lies::{Lie, Twist};
use super::super::questions;
use super::World;
#[cfg(feature = "tls")]
use super::secure::{Face, Harm};

/// Bytes that begin a reply, or none, and go on for as long as the server likes.
const ENDLESS: [&[u8]; 5] = [b"*1\r\n", b"$65536\r\n", b"+", b":1\r\n", FLUSHED];

impl World {
    /// Returns what a server says instead of one of its next replies, if it lies at all.
    pub(super) fn lie(
        &mut self,
        index: usize,
        script: &mut Unstructured<'_>,
    ) -> Result<Option<Lie>> {
        let at = script.int_in_range(0..=20)?;
        let peer = &mut self.peers[index];
        Ok(match script.int_in_range(0..=7)? {
            0 => Some(Lie::error(at, script.arbitrary::<u8>()?.into())),
            1 => Some(Lie::value(at, script.arbitrary::<u8>()?.into(), script.arbitrary()?)),
            2 => Some(Lie::silence(at)),
            3 => {
                peer.read();
                match peer.question() {
                    Some(first) => Some(questions::lie(script, first)?),
                    None => None,
                }
            }
            _ => None,
        })
    }

    /// Does something to a server.
    pub(super) fn trouble(&mut self, index: usize, script: &mut Unstructured<'_>) -> Result<()> {
        let (peer, master) = (&mut self.peers[index], &mut self.masters[index]);
        #[cfg(feature = "tls")]
        if self.is_secure && script.arbitrary()? {
            match script.int_in_range(0..=9)? {
                0 | 1 => peer.show(Face::choose(script)?),
                _ => peer.harm(Harm::choose(script)?),
            }
            return Ok(());
        }
        match script.int_in_range(0..=6)? {
            0 => peer.close(),
            1 => peer.pace = script.int_in_range(0..=20)?,
            2 => {
                self.restarts += 1;
                master.restart(1_000 + self.restarts, Memory::Lost, Clock::now());
                peer.close();
            }
            3 => {
                master.flush();
                peer.say(FLUSHED);
            }
            4 => {
                let len = script.int_in_range(0..=40)?.min(script.len());
                peer.say(script.bytes(len)?);
            }
            5 => {
                let times = usize::from(script.arbitrary::<u16>()?) / 8;
                peer.say(&script.choose(&ENDLESS)?.repeat(times));
            }
            _ => {
                let twist = Twist::choose(script)?;
                peer.accept();
                peer.read();
                let lie = peer.look().map(|at| Lie::twisted(at, twist));
                peer.serve(Clock::now(), master, lie);
            }
        }
        Ok(())
    }
}
