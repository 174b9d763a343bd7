//! Certificates of a CA that only one test knows, in files.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustix::time::{ClockId, clock_gettime};

use crate::support::process::Folder;

/// A CA, and the folder with its certificate and with all that it has signed.
pub(crate) struct Authority {
    folder: Folder,
    issuer: Issuer<'static, KeyPair>,
}

/// What a certificate says.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    /// The names and addresses of the server.
    pub(crate) names: &'static [&'static str],
    /// The years of its validity: from the beginning of the first to that of the second.
    pub(crate) years: [i32; 2],
    /// In how many days the certificate ends, in the place of the second year.
    pub(crate) days: Option<u32>,
}

const DAY: Duration = Duration::from_secs(86_400);

/// What a server on this machine should have.
pub(crate) const LOCAL: Claim =
    Claim { names: &["localhost", "127.0.0.1"], years: [2020, 2200], days: None };

/// The files of a certificate and of its key.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) cert: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        let mut params = CertificateParams::new([]).expect("no name is a bad name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Two of one name would be told apart by their signatures only.
        let name = format!("the CA of {}", folder.path().display());
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("there is randomness");
        let certificate = params.self_signed(&key).expect("a certificate");
        let path = folder.path().join("ca.pem");
        fs::write(path, certificate.pem()).expect("the folder is ours");
        Self { folder, issuer: Issuer::new(params, key) }
    }

    /// Returns the file of the certificate of the CA.
    pub(crate) fn ca(&self) -> String {
        self.path("ca.pem").to_string_lossy().into_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Signs a certificate. Its files have this name, and what they had before is replaced.
    pub(crate) fn sign(&self, name: &str, claim: &Claim) -> Identity {
        let names: Vec<_> = claim.names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("the names are names");
        let [from, to] = claim.years.map(|year| date_time_ymd(year, 1, 1));
        (params.not_before, params.not_after) = (from, to);
        if let Some(days) = claim.days {
            params.not_after = date_time_ymd(1970, 1, 1) + today() + DAY * days;
        }
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("there is randomness");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let write = |kind: &str, text: String| {
            let path = self.path(&format!("{name}.{kind}"));
            fs::write(&path, text).expect("the folder is ours");
            path.to_string_lossy().into_owned()
        };
        Identity { cert: write("pem", certificate.pem()), key: write("key", key.serialize_pem()) }
    }
}

/// Returns the time since 1970.
#[expect(clippy::disallowed_methods, reason = "a certificate has a date")]
fn today() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Realtime)).expect("after 1970")
}
