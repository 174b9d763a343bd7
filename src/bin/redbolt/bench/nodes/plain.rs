//! A connection that blocks, beside the engine: for questions, and for bytes that were made before.
//!
//! The library has no way to read a server's own figures, because no lock needs them. This
//! connection knows TCP and Unix sockets; a node behind TLS cannot be spoken to.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Address, Clock};

use crate::duration::written;
use crate::quote::quoted;

/// How long a server may take to be connected, and to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a server may take for all the replies to prepared bytes: a hundred thousand locks take
/// slow servers several seconds.
const PREPARED_PATIENCE: Duration = Duration::from_secs(10);

/// The longest answer. `INFO commandstats` takes some 100 bytes for each command.
const LONGEST: usize = 1 << 20;

/// Many replies are read at once.
const BUFFER: usize = 64 << 10;

trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

pub(crate) struct Plain {
    /// The address, without a login.
    node: String,
    stream: BufReader<Box<dyn Stream>>,
}

impl Plain {
    /// Connects and logs in, or says why not.
    pub(crate) fn open(address: &Address) -> Result<Self, String> {
        if address.tls().is_some() {
            return Err("behind TLS, which only the engine speaks".to_owned());
        }
        let stream = connect(address).map_err(|error| error.to_string())?;
        let mut plain =
            Self { node: address.to_string(), stream: BufReader::with_capacity(BUFFER, stream) };
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
        let late = || format!("no answer within {}", written(PATIENCE));
        self.stream.get_mut().write_all(&command(words)).map_err(|error| told(&error, late))?;
        // A server that sends a byte now and then never lets a read time out.
        let deadline = Clock::now() + PATIENCE;
        let line = self.line(deadline).map_err(|error| told(&error, late))?;
        let line = String::from_utf8_lossy(line.trim_ascii_end());
        if let Some(error) = line.strip_prefix('-') {
            let name = words.first().copied().unwrap_or_default();
            return Err(format!("the server refuses {name}: {}", refusal(name, error)));
        }
        let Some(len) = line.strip_prefix('$') else { return Ok(line.into_owned()) };
        let len = len.parse().ok().filter(|&len: &usize| len <= LONGEST);
        let len = len.ok_or_else(|| format!("no length of an answer: {}", quoted(&line)))?;
        let bytes = self.bytes(len + 2, deadline).map_err(|error| told(&error, late))?;
        String::from_utf8(bytes).map_err(|_| "the answer is no text".to_owned())
    }

    /// Reads a line with its end.
    fn line(&mut self, deadline: Instant) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            let piece = self.piece(deadline)?;
            let count = piece.iter().position(|&byte| byte == b'\n').map_or(piece.len(), |n| n + 1);
            line.extend(piece.get(..count).unwrap_or_default());
            self.stream.consume(count);
            if line.len() > LONGEST {
                return Err(io::Error::other("the answer has a line without an end"));
            }
        }
        Ok(line)
    }

    /// Reads so many bytes.
    fn bytes(&mut self, len: usize, deadline: Instant) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let piece = self.piece(deadline)?;
            let count = piece.len().min(len - bytes.len());
            bytes.extend(piece.get(..count).unwrap_or_default());
            self.stream.consume(count);
        }
        Ok(bytes)
    }

    /// Returns the bytes that have come, at least one, unless the time is up.
    fn piece(&mut self, deadline: Instant) -> io::Result<&[u8]> {
        if Clock::now() >= deadline {
            return Err(ErrorKind::TimedOut.into());
        }
        match self.stream.fill_buf()? {
            [] => Err(io::Error::other("the server has closed the connection")),
            piece => Ok(piece),
        }
    }
}

/// Prepared bytes. Errors name the node, because many nodes are sent the same.
impl Plain {
    /// Sends bytes that were made before.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let late = || format!("no bytes were taken for {}", written(PATIENCE));
        let sent = self.stream.get_mut().write_all(bytes);
        sent.map_err(|error| format!("{}: {}", self.node, told(&error, late)))
    }

    /// Reads exactly these bytes.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.exactly(bytes).map_err(|error| format!("{}: {error}", self.node))
    }

    fn exactly(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        let deadline = Clock::now() + PREPARED_PATIENCE;
        let late = || "the replies have not come in time".to_owned();
        while !bytes.is_empty() {
            let found = self.piece(deadline).map_err(|error| told(&error, late))?;
            let count = found.len().min(bytes.len());
            let (head, rest) = bytes.split_at(count);
            if found.get(..count) != Some(head) {
                let line = String::from_utf8_lossy(found);
                return Err(format!("not the expected reply: {}", quoted(line.trim_end())));
            }
            self.stream.consume(count);
            bytes = rest;
        }
        Ok(())
    }
}

/// Returns why nothing could be read or written, in `late` words where the time was up.
fn told(error: &io::Error, late: impl Fn() -> String) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => late(),
        _ => error.to_string(),
    }
}

/// Returns how a message shows the refusal of a command. Of a refused login only the first word is
/// shown, such as `WRONGPASS`: servers repeat what they were sent, and so the password.
fn refusal(command: &str, error: &str) -> String {
    match (command, error.split_once(' ')) {
        ("AUTH", Some((code, _))) if is_code(code) => quoted(&format!("{code} …")),
        ("AUTH", None) if is_code(error) => quoted(error),
        ("AUTH", _) => "\"…\"".to_owned(),
        _ => quoted(error),
    }
}

/// Whether an error begins with this word at a server. No list of words would say so of a password.
fn is_code(word: &str) -> bool {
    ["ERR", "WRONGPASS", "NOPERM", "NOAUTH", "LOADING", "DENIED"].contains(&word)
}

fn connect(address: &Address) -> io::Result<Box<dyn Stream>> {
    if let Some(path) = address.path() {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        return Ok(Box::new(stream));
    }
    let place = (address.host().unwrap_or_default(), address.port().unwrap_or_default());
    let mut last = io::Error::from(ErrorKind::NotFound);
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
    fn a_refused_login_shows_nothing_that_may_be_the_password() {
        let rows = [
            ("AUTH", "WRONGPASS invalid username-password pair", "\"WRONGPASS …\""),
            ("AUTH", "ERR unknown command 'AUTH', with args secret", "\"ERR …\""),
            ("AUTH", "SECRET is wrong", "\"…\""),
            ("AUTH", "SECRET", "\"…\""),
            ("AUTH", "ERR", "\"ERR\""),
            ("INFO", "NOPERM no permissions", "\"NOPERM no permissions\""),
        ];
        for (command, error, expected) in rows {
            assert_eq!(refusal(command, error), expected, "{error}");
        }
    }

    #[test]
    fn a_command_is_an_array_of_bulk_strings() {
        assert_eq!(command(&["INFO", "cpu"]), b"*2\r\n$4\r\nINFO\r\n$3\r\ncpu\r\n");
    }
}
