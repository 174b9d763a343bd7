//! [`Setup`]: what a TLS handshake needs, read from files.

use std::env;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustls::client::Resumption;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_native_certs::CertificateResult;

use super::validity;
use crate::net::address::{Address, Tls};
use crate::net::transport::failure::Failure;
use crate::redlock::{TlsError, TlsFileError};

/// What is wanted is not in the file, in PEM.
const NO_PEM: TlsFileError = TlsFileError::Io(ErrorKind::InvalidData);

/// Whom to trust, who we are, and for which name the certificate of the server must be.
#[derive(Clone)]
pub(in crate::net) struct Setup {
    pub(super) config: Arc<ClientConfig>,
    pub(super) name: ServerName<'static>,
    /// The end of the validity of our certificate, in seconds since 1970.
    pub(super) ends: Option<u64>,
}

impl Setup {
    /// Reads what the address names; `None` for a node without TLS. May block as files do.
    pub(in crate::net) fn read(address: &Address) -> Result<Option<Self>, Failure> {
        let (Some(tls), Some(host)) = (address.tls(), address.host()) else { return Ok(None) };
        let provider = Arc::new(default_provider());
        let versions =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = versions.map_err(|_| TlsError::Protocol)?.with_root_certificates(roots(tls)?);
        let (mut config, ends) = match (&tls.cert, &tls.key) {
            (Some(cert), Some(key)) => {
                let chain = certificates(cert, TlsError::CertFile)?;
                let ends = chain.iter().filter_map(|one| validity::end(one)).min();
                let unfit = |error| failure(TlsError::OwnCertificate, cert, &error);
                let key = private_key(key)?;
                (builder.with_client_auth_cert(chain, key).map_err(unfit)?, ends)
            }
            _ => (builder.with_no_client_auth(), None),
        };
        // A server is verified anew for each connection.
        config.resumption = Resumption::disabled();
        let name = ServerName::try_from(tls.name_at(host).to_owned());
        let name = name.map_err(|_| Failure::from(TlsError::WrongName))?;
        Ok(Some(Self { config: Arc::new(config), name, ends }))
    }
}

/// Returns whom to trust: those of the file, or else those of the system.
fn roots(tls: &Tls) -> Result<RootCertStore, Failure> {
    let mut roots = RootCertStore::empty();
    let Some(path) = &tls.ca else {
        let found = system_roots()?;
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let detail = found.errors.first().map(ToString::to_string).unwrap_or_default();
            return Err(Failure { detail, ..TlsError::NoSystemRoots.into() });
        }
        return Ok(roots);
    };
    for certificate in certificates(path, TlsError::CaFile)? {
        let unfit = |error| failure(TlsError::CaFile(NO_PEM), path, &error);
        roots.add(certificate).map_err(unfit)?;
    }
    Ok(roots)
}

/// Returns the certificates that the system trusts. What `SSL_CERT_FILE` names is opened only if
/// that is fit to be read (see [`read`]): the library would wait for a pipe, and read a device
/// without end. The folders of `SSL_CERT_DIR` do without.
fn system_roots() -> Result<CertificateResult, Failure> {
    let file = env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let found = file.as_ref().and_then(|file| fs::metadata(file).ok());
    let (Some(file), Some(Err(unfit))) = (file, found.as_ref().map(check)) else {
        return Ok(rustls_native_certs::load_native_certs());
    };
    let folders = env::var_os("SSL_CERT_DIR").filter(|folders| !folders.is_empty());
    let Some(folders) = folders else {
        return Err(failure(TlsError::CaFile(unfit), &file, "from SSL_CERT_FILE"));
    };
    let mut all = CertificateResult::default();
    for folder in env::split_paths(&folders) {
        let CertificateResult { certs, errors, .. } =
            rustls_native_certs::load_certs_from_paths(None, Some(&folder));
        all.certs.extend(certs);
        all.errors.extend(errors);
    }
    Ok(all)
}

fn certificates(
    path: &Path,
    error: fn(TlsFileError) -> TlsError,
) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let bytes = read(path).map_err(|failed| failure(error(failed), path, ""))?;
    let found = CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>();
    let unfit = |what: &dyn ToString| failure(error(NO_PEM), path, what);
    match found {
        Ok(found) if found.is_empty() => Err(unfit(&"no certificate in PEM")),
        Ok(found) => Ok(found),
        Err(error) => Err(unfit(&words(&error))),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Failure> {
    let bytes = read(path);
    let bytes = bytes.map_err(|error| failure(TlsError::KeyFile(error), path, ""))?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| {
        let is_locked = memchr::memmem::find(&bytes, b"ENCRYPTED").is_some();
        let what = match error {
            _ if is_locked => "the key is encrypted: one without a passphrase is needed",
            pem::Error::NoItemsFound => "no key in PEM",
            ref error => words(error),
        };
        failure(TlsError::KeyFile(NO_PEM), path, what)
    })
}

/// Says what is wrong with a file without any byte of the file, which may be a secret one.
fn words(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::MissingSectionEnd { .. } => "a section in PEM has no end",
        pem::Error::IllegalSectionStart { .. } => "a line that begins no section in PEM",
        pem::Error::Base64Decode(_) => "a section in PEM that is not base64",
        _ => "not in PEM",
    }
}

/// Reads a regular file of bounded length. Nothing else is opened: the read would wait for whoever
/// writes into a pipe, and for ever.
fn read(path: &Path) -> Result<Vec<u8>, TlsFileError> {
    let failed = |error: io::Error| TlsFileError::Io(error.kind());
    check(&fs::metadata(path).map_err(failed)?)?;
    // A pipe can take the place of the file just now.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty());
    let file = File::from(file.map_err(|error| failed(error.into()))?);
    check(&file.metadata().map_err(failed)?)?;
    let mut bytes = Vec::new();
    file.take(TlsFileError::MAX_LEN + 1).read_to_end(&mut bytes).map_err(failed)?;
    // A file can grow, and those of some file systems do not know their length.
    check_len(bytes.len() as u64)?;
    Ok(bytes)
}

fn check(found: &Metadata) -> Result<(), TlsFileError> {
    if found.is_file() { check_len(found.len()) } else { Err(TlsFileError::NotAFile) }
}

fn check_len(len: u64) -> Result<(), TlsFileError> {
    if len > TlsFileError::MAX_LEN { Err(TlsFileError::TooLong { len }) } else { Ok(()) }
}

fn failure(error: TlsError, path: &Path, what: &(impl ToString + ?Sized)) -> Failure {
    let (path, what) = (path.display(), what.to_string());
    let colon = if what.is_empty() { "" } else { ": " };
    Failure { detail: format!("{path}{colon}{what}"), ..error.into() }
}
