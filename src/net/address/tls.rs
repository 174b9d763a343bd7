//! [`Tls`]: how to speak TLS with a node.

use std::path::PathBuf;

/// How to speak TLS with a node: whom to trust, and who we are.
///
/// The certificate of the server is always verified: its chain, its dates and its name. All files
/// are in PEM, are regular, and have at most 8 MiB each. They are read again for each new
/// connection, so that certificates can be rotated while the process runs. A connection that is up
/// stays up. There is no early data and no resumption. TLS 1.2 and 1.3 are spoken.
///
/// TLS needs the feature `tls`.
///
/// ```
/// use redbolt::{Address, Tls};
///
/// let tls = Tls::new().with_ca("/etc/ssl/redis-ca.pem").with_server_name("redis.internal");
/// # #[cfg(feature = "tls")] {
/// let made = Address::new("10.0.0.1", 6380)?.with_tls(tls)?;
/// let text = "rediss://10.0.0.1:6380?ca=/etc/ssl/redis-ca.pem&server_name=redis.internal";
/// assert_eq!(text.parse(), Ok(made));
/// # }
/// # Ok::<(), redbolt::AddressError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Tls {
    /// The file of the CA certificates that may have signed that of the server. With `None`, these
    /// are the ones that the system trusts: those of `SSL_CERT_FILE` or `SSL_CERT_DIR`, or those of
    /// the distribution.
    pub ca: Option<PathBuf>,
    /// The file of our certificate, and of those between it and its CA.
    pub cert: Option<PathBuf>,
    /// The file of the key of our certificate.
    pub key: Option<PathBuf>,
    /// The name for which the certificate of the server must be, which the server is told as well;
    /// `None` for the host of the address.
    pub server_name: Option<String>,
}

impl Tls {
    /// Creates TLS that trusts what the system trusts, without a certificate of ours.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the file of the CA certificates, and trusts no others.
    #[must_use]
    pub fn with_ca(self, file: impl Into<PathBuf>) -> Self {
        Self { ca: Some(file.into()), ..self }
    }

    /// Sets the files of our certificate and of its key.
    #[must_use]
    pub fn with_certificate(self, cert: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self { cert: Some(cert.into()), key: Some(key.into()), ..self }
    }

    /// Sets the name for which the certificate of the server must be.
    #[must_use]
    pub fn with_server_name(self, name: impl Into<String>) -> Self {
        Self { server_name: Some(name.into()), ..self }
    }

    /// Returns the name for which the certificate of a server at this host must be. The zone of a
    /// link-local address is no part of a name.
    pub(crate) fn name_at<'a>(&'a self, host: &'a str) -> &'a str {
        let host = host.split_once('%').map_or(host, |(address, _)| address);
        self.server_name.as_deref().unwrap_or(host)
    }
}
