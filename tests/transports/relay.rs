//! Servers that treat TLS badly: one that passes everything on byte by byte, and one that says
//! nothing.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// A server that passes on what clients say, and passes on what another server answers, byte by
/// byte. Its threads end with the test process.
pub(crate) struct Relay(String);

impl Relay {
    /// Starts a relay that pauses before each byte.
    pub(crate) fn start(server: &str, pause: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("it is bound").to_string();
        let server = server.to_owned();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if let Ok(server) = TcpStream::connect(&server) {
                    pass_on(&client, &server, pause).expect("descriptors are free");
                }
            }
        });
        Self(addr)
    }

    /// Starts a server that accepts and says nothing.
    pub(crate) fn mute() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("it is bound").to_string();
        thread::spawn(move || listener.incoming().collect::<Vec<_>>());
        Self(addr)
    }

    pub(crate) fn addr(&self) -> &str {
        &self.0
    }
}

fn pass_on(client: &TcpStream, server: &TcpStream, pause: Duration) -> io::Result<()> {
    client.set_nodelay(true)?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        _ = io::copy(&mut from, &mut to);
        _ = to.shutdown(Shutdown::Both);
    });
    let (mut from, mut to) = (server.try_clone()?, client.try_clone()?);
    thread::spawn(move || {
        _ = drip(&mut from, &mut to, pause);
        _ = to.shutdown(Shutdown::Both);
    });
    Ok(())
}

fn drip(from: &mut TcpStream, to: &mut TcpStream, pause: Duration) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        for byte in &buffer[..count] {
            if !pause.is_zero() {
                thread::park_timeout(pause);
            }
            to.write_all(&[*byte])?;
        }
    }
}
