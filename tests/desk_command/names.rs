//! Nodes that are given by a name with several addresses, or by an address with a zone: every
//! command reaches them at once.

use std::fs;
use std::net::Ipv6Addr;
use std::process::Command;

use crate::support::flavours::leave_out;
use crate::support::process::Folder;
use crate::support::servers::Node;

/// The name, and what it stands for: the servers of tests listen to the second address alone.
const NAME: &str = "redbolt.test";
const HOSTS: &str = "::1 redbolt.test\n127.0.0.1 redbolt.test\n";

/// Runs a program with a file of hosts of its own.
const IN_WORLD: &str = "mount --bind \"$0\" /etc/hosts && exec \"$@\"";

/// A world in which the name stands for both addresses.
struct World(Folder);

impl World {
    /// Returns `None` where the system lets nobody make one.
    fn new() -> Option<Self> {
        let folder = Folder::new();
        fs::write(folder.path().join("hosts"), HOSTS).expect("the folder is ours");
        let world = Self(folder);
        let found = world.command("getent", &["ahosts", NAME]).output().ok()?;
        let found = String::from_utf8_lossy(&found.stdout).into_owned();
        let is_first = found.starts_with("::1 ") && found.contains("127.0.0.1 ");
        is_first.then_some(world)
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", IN_WORLD]);
        command.arg(self.0.path().join("hosts")).arg(program).args(arguments);
        command
    }
}

fn node(place: &str, node: &Node) -> String {
    let address = node.addr();
    let (_, port) = address.rsplit_once(':').expect("a port");
    format!("{place}:{port}")
}

/// Runs all commands on this node, each of which connects once and no more.
fn all_reach(nodes: &str, mut redbolt: impl FnMut(&[&str]) -> Command) {
    let rows: [(&[&str], i32); 6] = [
        (&["check"], 69),
        (&["init", "--fresh"], 0),
        (&["check"], 0),
        (&["exec", "-n", "r", "--", "true"], 0),
        (&["who", "r"], 1),
        (&["unlock", "r", "--token", "0123456789abcdef0123456789abcdef01234567"], 0),
    ];
    for (arguments, code) in rows {
        let mut command = redbolt(arguments);
        let output = command.env("REDBOLT_NODES", nodes).output().expect("it can be started");
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(!said.contains("connecting failed"), "{arguments:?}: {said}");
    }
}

/// Nobody listens at the first address.
#[test]
fn a_name_whose_first_address_is_dead() {
    let Some(world) = World::new() else {
        return leave_out("a name with two addresses", "no file of hosts can be put in place");
    };
    let server = Node::start();
    all_reach(&node(NAME, &server), |arguments| {
        world.command(env!("CARGO_BIN_EXE_redbolt"), arguments)
    });
}

#[test]
fn a_link_local_address_has_its_zone_by_name_or_by_number() {
    let Some((ip, name, number)) = link_local() else {
        return leave_out("link-local addresses", "no interface has one");
    };
    let bound = format!("{ip}%{name}");
    let server = Node::start_with(&["--bind", "127.0.0.1", &bound, "--protected-mode", "no"]);
    let ways = [
        node(&format!("[{ip}%{name}]"), &server),
        node(&format!("[{ip}%{number}]"), &server),
        node(&format!("redis://[{ip}%25{name}]"), &server),
    ];
    for way in ways {
        all_reach(&way, |arguments| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_redbolt"));
            command.args(arguments);
            command
        });
        server.command(&[b"FLUSHALL"]);
    }
}

/// Returns a link-local address of this machine, with the name and the number of its interface.
fn link_local() -> Option<(Ipv6Addr, String, u32)> {
    let all = fs::read_to_string("/proc/net/if_inet6").ok()?;
    all.lines().find_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [ip, number, _, _, _, name] = words[..] else { return None };
        let ip = Ipv6Addr::from(u128::from_str_radix(ip, 16).ok()?);
        let number = u32::from_str_radix(number, 16).ok()?;
        ip.is_unicast_link_local().then(|| (ip, name.to_owned(), number))
    })
}
