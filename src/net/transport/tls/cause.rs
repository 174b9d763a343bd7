//! What went wrong with TLS, in the words of a node.

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

use super::validity;
use crate::net::transport::failure::Failure;
use crate::redlock::TlsError;

/// Returns the cause of an error, with what an operator cannot guess.
pub(super) fn of(error: &Error) -> Failure {
    let with = |error: TlsError, detail: String| Failure { detail, ..error.into() };
    match error {
        Error::InvalidCertificate(error) => of_certificate(error),
        Error::NoCertificatesPresented => TlsError::BadCertificate.into(),
        Error::AlertReceived(alert) => of_alert(*alert).into(),
        Error::InvalidMessage(
            InvalidMessage::HandshakePayloadTooLarge | InvalidMessage::CertificatePayloadTooLarge,
        ) => {
            let detail = "a message is longer than 64 KiB: the server has too many certificates";
            with(TlsError::Protocol, detail.to_owned())
        }
        Error::InvalidMessage(_) => TlsError::NotTls.into(),
        error => with(TlsError::Protocol, error.to_string()),
    }
}

fn of_certificate(error: &CertificateError) -> Failure {
    use CertificateError as Bad;
    let with = |error: TlsError, detail: String| Failure { detail, ..error.into() };
    match error {
        Bad::Expired => TlsError::Expired.into(),
        Bad::ExpiredContext { not_after, .. } => {
            with(TlsError::Expired, format!("on {}", validity::date(not_after.as_secs())))
        }
        Bad::NotValidYet => TlsError::NotYetValid.into(),
        Bad::NotValidYetContext { not_before, .. } => {
            let date = validity::date(not_before.as_secs());
            with(TlsError::NotYetValid, format!("but from {date} on"))
        }
        Bad::NotValidForName => TlsError::WrongName.into(),
        Bad::NotValidForNameContext { expected, presented } => {
            let names = match &presented[..] {
                [] => "no name".to_owned(),
                names => names.iter().map(|name| bare(name)).collect::<Vec<_>>().join(", "),
            };
            with(TlsError::WrongName, format!("not {}, but {names}", expected.to_str()))
        }
        Bad::UnknownIssuer => TlsError::UnknownCa.into(),
        // Another CA of the same name.
        Bad::BadSignature => with(TlsError::UnknownCa, "the signature is not of our CA".to_owned()),
        error => with(TlsError::BadCertificate, error.to_string()),
    }
}

/// Returns a name of a certificate without its type, which rustls writes around the name.
fn bare(name: &str) -> &str {
    let host = name.strip_prefix("DnsName(\"").and_then(|rest| rest.strip_suffix("\")"));
    let address = || name.strip_prefix("IpAddress(")?.strip_suffix(')');
    host.or_else(address).unwrap_or(name)
}

fn of_alert(alert: AlertDescription) -> TlsError {
    use AlertDescription as Alert;
    match alert {
        Alert::CertificateRequired => TlsError::CertificateWanted,
        Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::AccessDenied => TlsError::CertificateRefused,
        alert => TlsError::Alert(alert.into()),
    }
}
