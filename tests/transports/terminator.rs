//! The TLS of a server that harms its records: an end of TLS in front of a real server.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use super::certificates::Identity;

/// What is done to the records.
#[derive(Clone, Copy)]
pub(crate) enum Harm {
    /// Nothing.
    None,
    /// Each has a few bytes of data only.
    Tiny,
    /// New keys before each piece of an answer, which the client has to have as well.
    Refresh,
    /// The session ends after the handshake, and the socket stays.
    CloseNotify,
    /// The session ends behind half of the first answer, in the same segment, and the socket stays.
    LastWords,
    /// These bytes come behind the handshake, and again and again.
    Bytes(&'static [u8]),
    /// The socket ends amid the first answer, and the session does not.
    Vanish,
}

/// An end of TLS. Its threads end with the test process.
pub(crate) struct Terminator {
    addr: String,
    gate: Arc<Gate>,
}

/// Whether an end reads what clients say.
#[derive(Default)]
struct Gate {
    is_shut: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn set(&self, is_shut: bool) {
        *self.is_shut.lock().unwrap_or_else(PoisonError::into_inner) = is_shut;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let is_shut = self.is_shut.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(is_shut, |is_shut| *is_shut));
    }
}

/// So little that what a client writes soon stays with the client.
const RECEIVED: usize = 4096;

impl Terminator {
    /// Starts an end with this certificate, in front of a server without TLS.
    pub(crate) fn start(server: &str, identity: &Identity, harm: Harm) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("it is bound").to_string();
        sockopt::set_socket_recv_buffer_size(&listener, RECEIVED).expect("a size can be set");
        let (server, config) = (server.to_owned(), config(identity, harm));
        let gate = Arc::new(Gate::default());
        let all = gate.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (server, config) = (server.clone(), config.clone());
                let gate = all.clone();
                let session = move || Session::new(client, &server, config)?.run(harm, &gate);
                // An error means that the client has gone, or the server.
                thread::spawn(session);
            }
        });
        Self { addr, gate }
    }

    pub(crate) fn addr(&self) -> &str {
        &self.addr
    }

    /// Leaves with the kernel what clients say from now on.
    pub(crate) fn stop_reading(&self) {
        self.gate.set(true);
    }

    pub(crate) fn go_on(&self) {
        self.gate.set(false);
    }
}

fn config(identity: &Identity, harm: Harm) -> Arc<ServerConfig> {
    let chain = CertificateDer::pem_file_iter(&identity.cert).expect("the folder is ours");
    let chain = chain.collect::<Result<_, _>>().expect("it is in PEM");
    let key = PrivateKeyDer::from_pem_file(&identity.key).expect("the folder is ours");
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring knows all versions")
        .with_no_client_auth()
        .with_single_cert(chain, key);
    let mut config = config.expect("the key is that of the certificate");
    if let Harm::Tiny = harm {
        // The smallest that can be had: what is around the data counts.
        config.max_fragment_size = Some(32);
    }
    Arc::new(config)
}

struct Session {
    client: TcpStream,
    server: TcpStream,
    tls: ServerConnection,
}

impl Session {
    fn new(client: TcpStream, server: &str, config: Arc<ServerConfig>) -> io::Result<Self> {
        let server = TcpStream::connect(server)?;
        client.set_nodelay(true)?;
        let tls = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Self { client, server, tls })
    }

    fn run(mut self, harm: Harm, gate: &Gate) -> io::Result<()> {
        while self.tls.is_handshaking() {
            self.tls.complete_io(&mut self.client)?;
        }
        match harm {
            Harm::CloseNotify => {
                self.tls.send_close_notify();
                self.flush()?;
                // Until the client hangs up.
                return io::copy(&mut self.client, &mut io::sink()).map(drop);
            }
            Harm::Bytes(bytes) => loop {
                self.client.write_all(bytes)?;
            },
            // The first commands came with the last message of the handshake.
            Harm::None | Harm::Tiny | Harm::Refresh | Harm::LastWords | Harm::Vanish => {
                self.pass_on()?;
            }
        }
        loop {
            let [from_client, from_server] = self.wait()?;
            gate.pass();
            if from_client && !self.hear_client()? {
                return Ok(());
            }
            if from_server && !self.hear_server(harm)? {
                return Ok(());
            }
        }
    }

    /// Waits for either side, and returns which one has something.
    fn wait(&self) -> io::Result<[bool; 2]> {
        let mut both = [&self.client, &self.server].map(|end| PollFd::new(end, PollFlags::IN));
        match poll(&mut both, None) {
            Ok(_) => Ok(both.map(|end| !end.revents().is_empty())),
            Err(Errno::INTR) => Ok([false; 2]),
            Err(error) => Err(error.into()),
        }
    }

    fn hear_client(&mut self) -> io::Result<bool> {
        if self.tls.read_tls(&mut self.client)? == 0 {
            return Ok(false);
        }
        self.tls.process_new_packets().map_err(io::Error::other)?;
        self.pass_on()?;
        Ok(true)
    }

    /// Passes on what is decrypted.
    fn pass_on(&mut self) -> io::Result<()> {
        let mut data = Vec::new();
        match self.tls.reader().read_to_end(&mut data) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            _ => self.server.write_all(&data)?,
        }
        self.flush()
    }

    fn hear_server(&mut self, harm: Harm) -> io::Result<bool> {
        let mut answer = [0; 4096];
        let count = self.server.read(&mut answer)?;
        let mut answer = &answer[..count];
        if let Harm::Vanish | Harm::LastWords = harm {
            answer = &answer[..count / 2];
        }
        if let Harm::Refresh = harm {
            self.tls.refresh_traffic_keys().map_err(io::Error::other)?;
        }
        self.tls.writer().write_all(answer)?;
        if let Harm::LastWords = harm {
            self.tls.send_close_notify();
            self.flush()?;
            return io::copy(&mut self.client, &mut io::sink()).map(|_| false);
        }
        self.flush()?;
        if let Harm::Vanish = harm {
            self.client.shutdown(Shutdown::Write)?;
            return io::copy(&mut self.client, &mut io::sink()).map(|_| false);
        }
        Ok(count > 0)
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.client)?;
        }
        Ok(())
    }
}
