//! The bytes of a compare request. The keys, tokens and ttls of its members come from the table of
//! locks and from the cleanup list.

use bytes::BytesMut;

#[cfg(redbolt_sabotage)]
use crate::redlock::config::RedlockConfig;
use crate::redlock::lock::table::Table;
use crate::redlock::millis::Millis;
use crate::redlock::node::batch::{Member, Purpose};
use crate::redlock::node::cleanup::Cleanup;
use crate::redlock::node::request::{CompareRequest, Op};
#[cfg(redbolt_sabotage)]
use crate::redlock::sabotage::Saboteur;
use crate::redlock::token::{Nonce, Token};
use crate::redlock::wire::command::{self, Subject};
use crate::redlock::wire::keys::Names;

/// The places where the names, tokens and ttls of members are stored.
pub(super) struct Sources<'a> {
    #[cfg(redbolt_sabotage)]
    pub(super) config: &'a RedlockConfig,
    pub(super) table: &'a Table,
    pub(super) nonce: &'a Nonce,
    pub(super) cleanup: &'a Cleanup,
}

impl<'a> Sources<'a> {
    /// Encodes one request over `members`. A set is the only member of its request.
    pub(super) fn encode(
        &self,
        out: &mut BytesMut,
        request: CompareRequest,
        members: impl ExactSizeIterator<Item = &'a Member> + Clone,
        is_set: bool,
    ) {
        let CompareRequest { op, form, .. } = request;
        let mut subjects = members.map(|member| self.subject(member));
        if is_set {
            let Some((names, token, ttl)) = subjects.next() else { return };
            return match op {
                Op::Release => command::release_all(out, form.call(), names, &token),
                Op::Extend => command::extend_all(out, form.call(), names, &token, ttl),
            };
        }
        let subjects =
            subjects.map(|(names, token, ttl)| Subject { resource: names.bytes, token, ttl });
        match op {
            #[cfg(redbolt_sabotage)]
            Op::Release if self.config.is_sabotaged(Saboteur::ReleaseWithoutCompare) => {
                command::delete(out, subjects);
            }
            #[cfg(redbolt_sabotage)]
            Op::Extend if self.config.is_sabotaged(Saboteur::ExtensionRecreates) => {
                command::recreate(out, subjects);
            }
            Op::Release => command::release(out, form, subjects),
            Op::Extend => command::extend(out, form.call(), subjects),
        }
    }

    /// Returns the keys, the token and the ttl of a member.
    #[inline]
    fn subject(&self, member: &Member) -> (Names<'a>, Token, Millis) {
        let serial_and_ttl = match member.purpose {
            Purpose::CleanUp => {
                // A place is not used again while a request names it, so the entry is there.
                let entry = self.cleanup.get(member.slot);
                let names = entry.map_or(Names::NONE, |entry| entry.names());
                return (names, entry.map_or(Token::NONE, |entry| entry.token), Millis::ZERO);
            }
            Purpose::Release => (member.serial, Millis::ZERO),
            Purpose::Extend | Purpose::Adopt => {
                let lock = &self.table[member.slot];
                (lock.serial, lock.round.ttl)
            }
        };
        let (serial, ttl) = serial_and_ttl;
        let token = self.table.token(member.slot, self.nonce, serial);
        (self.table[member.slot].names(), token, ttl)
    }
}
