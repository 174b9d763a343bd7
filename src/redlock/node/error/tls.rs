//! What can be wrong with the TLS of a node. A driver tells; nothing here speaks TLS.

use core::fmt;
use std::io::ErrorKind;

/// The reason why there is no TLS with a node.
///
/// The text of each reason that lies in a certificate has the word "certificate" in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TlsError {
    /// The file of the CA certificates cannot be read.
    CaFile(TlsFileError),
    /// The file of our certificate cannot be read.
    CertFile(TlsFileError),
    /// The file of the key of our certificate cannot be read.
    KeyFile(TlsFileError),
    /// No CA certificates were given, and the system has none.
    NoSystemRoots,
    /// Our certificate and our key do not go together, or are of an unknown kind.
    OwnCertificate,
    /// The certificate of the server has expired.
    Expired,
    /// The certificate of the server is not valid yet.
    NotYetValid,
    /// The certificate of the server is for another name.
    WrongName,
    /// The certificate of the server is signed by nobody whom we trust.
    UnknownCa,
    /// Something else is wrong with the certificate of the server.
    BadCertificate,
    /// The server wants a certificate of ours, and none was given.
    CertificateWanted,
    /// The server does not accept our certificate.
    CertificateRefused,
    /// The server answered with something else than TLS.
    NotTls,
    /// The server answered with TLS, but the address asks for none.
    TlsWanted,
    /// The server did not complete the handshake within `connect_timeout`.
    HandshakeTimeout,
    /// The server ended TLS with this alert, by its number.
    Alert(u8),
    /// The server broke the rules of TLS, or has no version and no cipher in common with us.
    Protocol,
}

/// The reason why a file of TLS cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TlsFileError {
    /// The system cannot open or read the file, or the file does not have in PEM what is wanted
    /// ([`InvalidData`](ErrorKind::InvalidData)).
    Io(ErrorKind),
    /// The path leads to a folder, a pipe, a socket or a device. Some of them block, and others
    /// have no end, so that none is opened.
    NotAFile,
    /// The file is longer than [`MAX_LEN`](Self::MAX_LEN).
    TooLong {
        /// The length of the file in bytes, or more than that is there.
        len: u64,
    },
}

impl TlsFileError {
    /// The largest length of a file of TLS in bytes, 8 MiB: many times what all CA certificates of
    /// a system have.
    pub const MAX_LEN: u64 = 8 << 20;
}

impl fmt::Display for TlsFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(kind) => kind.fmt(f),
            Self::NotAFile => f.write_str("not a regular file"),
            Self::TooLong { len } => {
                write!(f, "the file has {len} bytes, at most {} are possible", Self::MAX_LEN)
            }
        }
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CaFile(error) => return write!(f, "the CA certificates cannot be read: {error}"),
            Self::CertFile(error) => return write!(f, "our certificate cannot be read: {error}"),
            Self::KeyFile(error) => {
                return write!(f, "the key of our certificate cannot be read: {error}");
            }
            Self::NoSystemRoots => "the system has no CA certificates: ca=FILE is needed",
            Self::OwnCertificate => "our certificate and its key cannot be used together",
            Self::Expired => "the certificate of the server has expired",
            Self::NotYetValid => "the certificate of the server is not valid yet",
            Self::WrongName => "the certificate of the server is for another name",
            Self::UnknownCa => "the certificate of the server is signed by an unknown CA",
            Self::BadCertificate => "the certificate of the server is not acceptable",
            Self::CertificateWanted => "the server wants a certificate of ours: cert and key",
            Self::CertificateRefused => "the server refused our certificate",
            Self::NotTls => "the server does not speak TLS",
            Self::TlsWanted => "the server speaks TLS: rediss:// is needed",
            Self::HandshakeTimeout => "no answer to the TLS handshake",
            Self::Alert(number) => match alert(*number) {
                Some(name) => return write!(f, "the server ended TLS: {name}"),
                None => return write!(f, "the server ended TLS: alert {number}"),
            },
            Self::Protocol => "TLS failed",
        })
    }
}

impl core::error::Error for TlsFileError {}

impl core::error::Error for TlsError {}

/// Returns the name of an alert that says something to an operator.
fn alert(number: u8) -> Option<&'static str> {
    Some(match number {
        20 => "bad record",
        40 => "no common parameters, such as ciphers",
        47 => "illegal parameter",
        50 => "decode error",
        51 => "decrypt error",
        70 => "no common version of TLS",
        71 => "insufficient security",
        80 => "internal error",
        112 => "unknown server name",
        _ => return None,
    })
}
