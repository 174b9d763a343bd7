//! Keys of others that stay until somebody deletes them.

use std::fmt;

use redbolt::redlock::NodeId;
use redbolt::{Address, Engine};
use serde::Serialize;

/// What stays at a key, and leaves no quorum of nodes to anybody.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Remains {
    /// The key as the nodes have it, with its prefix.
    key: String,
    /// The nodes that have a value without a ttl.
    no_ttl: Vec<String>,
    /// The nodes that have data which is not a string.
    data: Vec<String>,
    /// What deletes the key: everywhere by its value, or node by node.
    #[serde(skip_serializing)]
    commands: Vec<String>,
}

impl Remains {
    pub(super) fn new(
        engine: &Engine,
        resource: &[u8],
        no_ttl: &[NodeId],
        data: &[NodeId],
    ) -> Self {
        let key = [&engine.redlock_config().prefix[..], resource].concat();
        let names = |nodes: &[NodeId]| {
            let addresses = nodes.iter().filter_map(|node| engine.address(*node));
            addresses.map(ToString::to_string).collect()
        };
        let unlock = (!no_ttl.is_empty()).then(|| unlocking(resource));
        let addresses = data.iter().filter_map(|node| engine.address(*node));
        let deletions = addresses.map(|address| deletion(address, &key));
        Self {
            no_ttl: names(no_ttl),
            data: names(data),
            commands: unlock.into_iter().chain(deletions).collect(),
            key: String::from_utf8_lossy(&key).into_owned(),
        }
    }

    /// Returns what to do about the key, in lines of its own.
    pub(super) fn way_out(&self) -> String {
        let commands = self.commands.join("\n  ");
        format!(
            "\nfind out who has written the key, and delete it if nobody needs it:\n  {commands}"
        )
    }
}

impl fmt::Display for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, no_ttl, data, .. } = self;
        write!(f, "the key {key:?} ")?;
        if !no_ttl.is_empty() {
            let nodes = no_ttl.join(", ");
            write!(f, "has no ttl and stays until it is deleted, at {nodes}")?;
        }
        if !data.is_empty() {
            let and = if no_ttl.is_empty() { "" } else { "; it " };
            let nodes = data.join(", ");
            write!(f, "{and}is not a lock but other data, such as a list, at {nodes}")?;
        }
        Ok(())
    }
}

/// Returns the command that deletes a value of a resource at all nodes, and nothing else.
fn unlocking(resource: &[u8]) -> String {
    let resource = match std::str::from_utf8(resource) {
        Ok(text) if !text.contains(char::is_control) => in_shell(text),
        _ => format!("$'{}'", resource.escape_ascii()),
    };
    let resource = if resource.starts_with('-') { format!("-- {resource}") } else { resource };
    format!("redbolt unlock --token TOKEN {resource}  # TOKEN: redbolt who --json {resource}")
}

/// Returns the command that deletes a key at a node. The password is asked for.
fn deletion(address: &Address, key: &[u8]) -> String {
    let login = address.login();
    let place = match (address.host(), address.port(), address.path()) {
        (Some(host), Some(port), _) => format!("-h {host} -p {port}"),
        (_, _, path) => format!("-s {}", in_shell(path.unwrap_or_default())),
    };
    let mut command = format!("redis-cli {place}");
    if let Some(tls) = address.tls() {
        command += " --tls";
        let files = [("cacert", &tls.ca), ("cert", &tls.cert), ("key", &tls.key)];
        for (option, file) in
            files.iter().filter_map(|(option, file)| Some((option, file.as_ref()?)))
        {
            command += &format!(" --{option} {}", in_shell(&file.to_string_lossy()));
        }
        if let Some(name) = &tls.server_name {
            command += &format!(" --sni {}", in_shell(name));
        }
    }
    if login.database != 0 {
        command += &format!(" -n {}", login.database);
    }
    if let Some(user) = &login.username {
        command += &format!(" --user {}", in_shell(user));
    }
    if login.password.is_some() {
        command += " --askpass";
    }
    match std::str::from_utf8(key) {
        Ok(text) if !text.contains(char::is_control) => format!("{command} DEL {}", in_shell(text)),
        // No argument can have every byte, but a line that redis-cli reads can.
        _ => {
            let line = format!("DEL \"{}\"", key.escape_ascii());
            format!("printf '%s\\n' {} | {command}", in_shell(&line))
        }
    }
}

/// Returns a text as one word of a shell.
fn in_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_deletes_a_key_can_be_pasted_into_a_shell() {
        let rows: [(&str, &[u8], &str); 6] = [
            ("db1", b"jobs:r/1", "redis-cli -h db1 -p 6379 DEL jobs:r/1"),
            ("[::1]:7000", b"a b", "redis-cli -h ::1 -p 7000 DEL 'a b'"),
            ("redis://:pw@db1/3", b"$x", "redis-cli -h db1 -p 6379 -n 3 --askpass DEL '$x'"),
            ("redis://a%20b:pw@db1", b"r", "redis-cli -h db1 -p 6379 --user 'a b' --askpass DEL r"),
            ("db1", b"it's", r"redis-cli -h db1 -p 6379 DEL 'it'\''s'"),
            (
                "db1",
                b"a'\n\xff",
                r#"printf '%s\n' 'DEL "a\'\''\n\xff"' | redis-cli -h db1 -p 6379"#,
            ),
        ];
        for (address, key, command) in rows {
            let address = address.parse().expect("an address");
            assert_eq!(deletion(&address, key), command);
        }
    }

    #[test]
    fn the_command_that_ends_a_value_names_the_resource_as_a_shell_reads_it() {
        let rows: [(&[u8], &str); 4] = [
            (b"jobs/1", "jobs/1"),
            (b"it's", r"'it'\''s'"),
            (b"-r", "-- -r"),
            (b"a'\n\xff", r"$'a\'\n\xff'"),
        ];
        for (resource, shown) in rows {
            let expected = format!(
                "redbolt unlock --token TOKEN {shown}  # TOKEN: redbolt who --json {shown}"
            );
            assert_eq!(unlocking(resource), expected);
        }
    }

    #[test]
    fn each_node_is_named_with_what_it_has() {
        let nodes = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let text = |no_ttl: &[&str], data: &[&str]| {
            let (no_ttl, data) = (nodes(no_ttl), nodes(data));
            Remains { key: "x:r".to_owned(), no_ttl, data, commands: Vec::new() }.to_string()
        };
        assert_eq!(
            text(&["a", "b"], &[]),
            "the key \"x:r\" has no ttl and stays until it is deleted, at a, b"
        );
        assert_eq!(
            text(&[], &["c"]),
            "the key \"x:r\" is not a lock but other data, such as a list, at c"
        );
        assert_eq!(
            text(&["a"], &["c"]),
            "the key \"x:r\" has no ttl and stays until it is deleted, at a; it is not a lock but \
             other data, such as a list, at c"
        );
    }
}
