//! Masters that ask for a password, change it, and take rights away, in the middle of a session.

use redbolt::redlock::{Login, NodeId};
use redbolt::resp;

use crate::answer::Mood;
use crate::client::Client;
use crate::clock::MS;
use crate::link::Link;
use crate::master::Node;
use crate::world::World;

/// Returns the login with the password of this version.
pub(crate) fn login(version: u64) -> Login {
    Login::with_password(password(version))
}

fn password(version: u64) -> String {
    format!("password {version}")
}

impl Node {
    /// Answers a command in the place of the master, if the link has not logged in, or if the
    /// command is the login. Returns `false` for any other command.
    pub(crate) fn answer_about_login(
        &mut self,
        now: u64,
        link: &mut Link,
        words: &[&[u8]],
    ) -> bool {
        let Some(version) = self.face.password else { return false };
        match words {
            // A busy master and one that is loading answer `AUTH` all the same.
            [b"AUTH", word] if *word == password(version).as_bytes() => {
                link.is_authed = true;
                resp::simple(&mut self.out, b"OK");
            }
            [b"AUTH", ..] => {
                let refusal = "WRONGPASS invalid username-password pair or user is disabled.";
                resp::error(&mut self.out, refusal);
            }
            _ if !link.is_authed => resp::error(&mut self.out, "NOAUTH Authentication required."),
            [name, ..] if self.face.mood(now) == Mood::Forbidden => {
                let name = String::from_utf8_lossy(name).to_lowercase();
                let refusal =
                    format!("NOPERM User default has no permissions to run the '{name}' command");
                resp::error(&mut self.out, &refusal);
            }
            _ => return false,
        }
        true
    }
}

impl Client {
    /// Tells the core the login for the next handshake, as far as the client knows one.
    pub(crate) fn tell_login(&mut self, node: NodeId) {
        if let Some(version) = self.passwords.get(node.index()) {
            self.redlock.set_login(node, login(*version));
        }
    }
}

impl World {
    /// Changes the password of a master, ends the logins of its sessions, or takes away all rights
    /// for a while. Some clients learn of a new password at once, others only with the next one.
    pub(crate) fn change_login(&mut self) {
        let Self { net, chance, clients, .. } = self;
        let (index, what) = (chance.index(net.nodes.len()), chance.below(6));
        let node = &mut net.nodes[index];
        let is_well = node.face.mood(net.now) == Mood::Well;
        let Some(version) = &mut node.face.password else { return };
        match what {
            0 if is_well => {
                let until = net.now + chance.below(900 * MS);
                (node.face.mood, node.face.mood_until) = (Mood::Forbidden, until);
                self.faults_until = self.faults_until.max(until);
            }
            1 | 2 => node.links.iter_mut().for_each(|link| link.is_authed = false),
            _ => {
                *version += 1;
                for client in clients.iter_mut().filter(|_| !chance.one_in(3)) {
                    client.passwords[index] = *version;
                }
                if chance.one_in(2) {
                    node.links.iter_mut().for_each(|link| link.is_authed = false);
                }
            }
        }
        net.trace.say(net.now, format_args!("login {index}: {what}"));
    }

    /// Lets every client know every password, and try again at once.
    pub(crate) fn tell_passwords(&mut self) {
        for (index, node) in self.net.nodes.iter().enumerate() {
            let (Some(version), Some(id)) = (node.face.password, NodeId::new(index)) else {
                return;
            };
            for client in &mut self.clients {
                client.passwords[index] = version;
                client.tell_login(id);
                client.due = self.net.now;
            }
        }
    }
}
