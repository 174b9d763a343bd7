//! A connection that blocks, beside the engine: for questions, and for bytes that were made before.
//!
//! The library has no way to read a server's own figures, because no lock needs them. This
//! connection knows TCP and Unix sockets; a node behind TLS cannot be spoken to.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use redbolt::Address;

use crate::quote::quoted;

/// How long a server may take to be connected, and to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The longest answer. `INFO commandstats` takes some 100 bytes for each command.
const LONGEST: u64 = 1 << 20;

/// Many replies are read at once.
const BUFFER: usize = 64 << 10;

trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

pub(crate) struct Plain {
    stream: BufReader<Box<dyn Stream>>,
}

impl Plain {
    /// Connects and logs in, or says why not.
    pub(crate) fn open(address: &Address) -> Result<Self, String> {
        if address.tls().is_some() {
            return Err("behind TLS, which only the engine speaks".to_owned());
        }
        let stream = connect(address).map_err(|error| error.to_string())?;
        let mut plain = Self { stream: BufReader::with_capacity(BUFFER, stream) };
        let login = address.login();
        if login.username.is_some() || login.password.is_some() {
            let user = login.username.as_deref().unwrap_or("default");
            let password = login.password.as_deref().unwrap_or_default();
            plain.ask(&["AUTH", user, password])?;
        }
        if login.database > 0 {
            plain.ask(&["SELECT", &login.database.to_string()])?;
        }
        Ok(plain)
    }

    /// Sends a command, and returns its answer: a line, or the text of a bulk string.
    pub(crate) fn ask(&mut self, words: &[&str]) -> Result<String, String> {
        let text = |error: io::Error| error.to_string();
        self.stream.get_mut().write_all(&command(words)).map_err(text)?;
        let mut line = String::new();
        self.stream.by_ref().take(LONGEST).read_line(&mut line).map_err(text)?;
        let line = line.trim_end();
        if let Some(error) = line.strip_prefix('-') {
            return Err(format!(
                "the server refuses {}: {}",
                words.first().unwrap_or(&""),
                quoted(error)
            ));
        }
        let Some(len) = line.strip_prefix('$') else { return Ok(line.to_owned()) };
        let len = len.parse().ok().filter(|&len: &u64| len <= LONGEST);
        let len = len.ok_or_else(|| format!("no length of an answer: {}", quoted(line)))?;
        let mut bytes = Vec::new();
        self.stream.by_ref().take(len + 2).read_to_end(&mut bytes).map_err(text)?;
        String::from_utf8(bytes).map_err(|_| "the answer is no text".to_owned())
    }
}

/// Prepared bytes.
impl Plain {
    /// Sends bytes that were made before.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.stream.get_mut().write_all(bytes).map_err(|error| error.to_string())
    }

    /// Reads exactly these bytes.
    pub(crate) fn receive(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            let found = self.stream.fill_buf().map_err(|error| error.to_string())?;
            let count = found.len().min(bytes.len());
            let (head, rest) = bytes.split_at(count);
            if count == 0 || found.get(..count) != Some(head) {
                let line = String::from_utf8_lossy(found);
                return Err(format!("not the expected reply: {}", quoted(line.trim_end())));
            }
            self.stream.consume(count);
            bytes = rest;
        }
        Ok(())
    }
}

fn connect(address: &Address) -> io::Result<Box<dyn Stream>> {
    if let Some(path) = address.path() {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        return Ok(Box::new(stream));
    }
    let place = (address.host().unwrap_or_default(), address.port().unwrap_or_default());
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in place.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                return Ok(Box::new(stream));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns a command as an array of bulk strings.
fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_an_array_of_bulk_strings() {
        assert_eq!(command(&["INFO", "cpu"]), b"*2\r\n$4\r\nINFO\r\n$3\r\ncpu\r\n");
    }
}
