//! The TLS of a server that lies: whose certificates are not what they should be, and whose records
//! are broken, doubled, cut or followed by others.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arbitrary::{Result, Unstructured};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, version};

use super::wire::{Wire, read_all};

/// The name in the certificates that clients accept.
const NAME: &str = "127.0.0.1";

/// Records that nobody has sealed: alerts, warnings, an empty record, a handshake that begins anew,
/// a length that none has, and no TLS at all.
const RECORDS: [&[u8]; 10] = [
    b"\x15\x03\x03\x00\x02\x02\x28",
    b"\x15\x03\x03\x00\x02\x01\x00",
    b"\x15\x03\x03\x00\x02\x01\x5a",
    b"\x17\x03\x03\x00\x00",
    b"\x14\x03\x03\x00\x01\x01",
    b"\x16\x03\x03\x00\x04\x00\x00\x00\x00",
    b"\x16\x03\x03\x00\x04\x0b\xff\xff\xff",
    b"\x17\x03\x03\xff\xff",
    b"-ERR unknown command\r\n",
    b"+OK\r\n",
];

/// How many certificates there are that clients do not accept.
const BAD: usize = 4;

/// What all servers of this process have: made once.
struct Shop {
    /// The file of the CA that clients trust, without a name in any folder.
    ca: File,
    /// With certificates that clients accept, by each version of TLS.
    good: [Arc<ServerConfig>; 2],
    /// With certificates of another CA, for another name, that have expired, or are none of a CA.
    bad: [Arc<ServerConfig>; BAD],
}

impl Shop {
    fn get() -> &'static Self {
        static SHOP: OnceLock<Shop> = OnceLock::new();
        SHOP.get_or_init(Self::make)
    }

    fn make() -> Self {
        let (params, issuer) = authority("the CA");
        let (_, other) = authority("another CA");
        let ca = memfd_create("ca.pem", MemfdFlags::CLOEXEC).expect("memory is a file");
        let mut ca = File::from(ca);
        let certificate = params.self_signed(issuer.key()).expect("a certificate");
        ca.write_all(certificate.pem().as_bytes()).expect("the file is ours");
        let new = [&version::TLS13];
        let old = [&version::TLS12];
        Self {
            good: [config(&issuer, NAME, 2200, &new), config(&issuer, NAME, 2200, &old)],
            bad: [
                config(&other, NAME, 2200, &new),
                config(&issuer, "10.0.0.1", 2200, &new),
                config(&issuer, NAME, 2001, &new),
                config(&other, "h", 2001, &old),
            ],
            ca,
        }
    }
}

fn authority(name: &str) -> (CertificateParams, Issuer<'static, KeyPair>) {
    let mut params = CertificateParams::new([]).expect("no name is a bad name");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().expect("there is randomness");
    (params.clone(), Issuer::new(params, key))
}

fn config(
    issuer: &Issuer<'static, KeyPair>,
    name: &str,
    until: i32,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Arc<ServerConfig> {
    let mut params = CertificateParams::new([name.to_owned()]).expect("the name is a name");
    (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(until, 1, 1));
    let key = KeyPair::generate().expect("there is randomness");
    let chain = vec![params.signed_by(&key, issuer).expect("a certificate").der().clone()];
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(versions)
        .expect("ring knows all versions")
        .with_no_client_auth()
        .with_single_cert(chain, key);
    Arc::new(config.expect("the key is that of the certificate"))
}

/// Returns the path of the CA that clients trust.
pub(super) fn ca() -> PathBuf {
    format!("/proc/self/fd/{}", Shop::get().ca.as_raw_fd()).into()
}

/// Which certificate a server shows.
#[derive(Clone, Copy)]
pub(super) enum Face {
    Good {
        is_old: bool,
    },
    Bad(usize),
    /// None: what stands at the port speaks no TLS.
    Plain,
}

impl Face {
    pub(super) fn choose(script: &mut Unstructured<'_>) -> Result<Self> {
        Ok(match script.int_in_range(0..=BAD + 4)? {
            number @ 0..BAD => Self::Bad(number),
            BAD => Self::Plain,
            number => Self::Good { is_old: number % 2 == 0 },
        })
    }
}

/// What a server does to its records.
#[derive(Clone, Copy)]
pub(super) enum Harm {
    /// A bit of what leaves next is another one.
    Flip(u16),
    /// The beginning of what leaves next leaves twice.
    Double(u16),
    /// The end of what leaves next does not.
    Cut(u16),
    /// A record that nobody has sealed.
    Record(usize),
    /// The end of the session, and the socket stays.
    CloseNotify,
    /// New keys.
    Refresh,
    /// Nothing more leaves.
    Hang,
    /// As many bytes leave in a turn.
    Drip(usize),
}

impl Harm {
    pub(super) fn choose(script: &mut Unstructured<'_>) -> Result<Self> {
        Ok(match script.int_in_range(0..=7)? {
            0 => Self::Flip(script.arbitrary()?),
            1 => Self::Double(script.arbitrary()?),
            2 => Self::Cut(script.arbitrary()?),
            3 => Self::Record(script.int_in_range(0..=RECORDS.len() - 1)?),
            4 => Self::CloseNotify,
            5 => Self::Refresh,
            6 => Self::Hang,
            _ => Self::Drip(script.int_in_range(1..=200)?),
        })
    }
}

/// The accepting end of a session.
pub(super) struct Secure {
    stream: TcpStream,
    tls: ServerConnection,
    is_good: bool,
    /// What is sealed, and has not left.
    sealed: Vec<u8>,
    /// What happens to the records that are sealed next.
    harm: Option<Harm>,
    /// How many bytes leave in a turn.
    pace: usize,
}

impl Secure {
    /// Returns the wire of a server that shows this.
    pub(super) fn accept(stream: TcpStream, face: Face) -> Wire {
        let shop = Shop::get();
        let config = match face {
            Face::Good { is_old } => &shop.good[usize::from(is_old)],
            Face::Bad(number) => &shop.bad[number],
            Face::Plain => return Wire::Other(stream),
        };
        let tls = ServerConnection::new(config.clone()).expect("the configuration is whole");
        let is_good = matches!(face, Face::Good { .. });
        let (sealed, pace) = (Vec::new(), usize::MAX);
        Wire::Tls(Box::new(Self { stream, tls, is_good, sealed, harm: None, pace }))
    }

    pub(super) fn harm(&mut self, harm: Harm) {
        match harm {
            Harm::Record(which) => self.sealed.extend_from_slice(RECORDS[which]),
            Harm::CloseNotify => self.tls.send_close_notify(),
            // Before the end of the handshake there are no keys.
            Harm::Refresh => drop(self.tls.refresh_traffic_keys()),
            Harm::Hang => self.pace = 0,
            Harm::Drip(pace) => self.pace = pace,
            Harm::Flip(_) | Harm::Double(_) | Harm::Cut(_) => self.harm = Some(harm),
        }
        self.send();
    }

    pub(super) fn read(&mut self, input: &mut Vec<u8>) -> bool {
        let (tls, before) = (&mut self.tls, input.len());
        let mut is_whole = true;
        let is_open = read_all(&mut self.stream, |mut bytes| {
            while is_whole && !bytes.is_empty() {
                // The client may break off, and has told why.
                is_whole = tls.read_tls(&mut bytes).is_ok_and(|count| count > 0)
                    && tls.process_new_packets().is_ok();
                // The end of the data is no error here.
                let _ = tls.reader().read_to_end(input);
            }
        });
        assert!(self.is_good || input.len() == before, "a server whom nobody knows is told things");
        self.send();
        is_open && is_whole
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = if self.tls.is_handshaking() { 0 } else { self.tls.writer().write(bytes)? };
        self.send();
        Ok(count)
    }

    /// Lets leave what is sealed, with the harm that is done to it.
    fn send(&mut self) {
        let from = self.sealed.len();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.sealed).expect("memory takes all");
        }
        let fresh = self.sealed.len() - from;
        if fresh > 0 {
            let place = |at: u16| from + usize::from(at) % fresh;
            match self.harm.take() {
                Some(Harm::Flip(at)) => self.sealed[place(at)] ^= 1 << (at % 8),
                Some(Harm::Double(at)) => {
                    let again = self.sealed[from..=place(at)].to_vec();
                    self.sealed.extend(again);
                }
                Some(Harm::Cut(at)) => self.sealed.truncate(place(at)),
                _ => {}
            }
        }
        let length = self.sealed.len().min(self.pace);
        // What cannot leave now is tried again in the next turn.
        if let Ok(length) = self.stream.write(&self.sealed[..length]) {
            self.sealed.drain(..length);
        }
    }
}
