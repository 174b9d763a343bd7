//! Until when a certificate is valid.
//!
//! Only to warn an operator: whether a certificate is good is decided by rustls. What cannot be
//! read is no date.

use core::time::Duration;

use x509_cert::Certificate;
use x509_cert::der::{DateTime, Decode};

/// Returns the end of the validity of a certificate, in seconds since 1970.
pub(super) fn end(certificate: &[u8]) -> Option<u64> {
    let certificate = Certificate::from_der(certificate).ok()?;
    Some(certificate.tbs_certificate.validity.not_after.to_unix_duration().as_secs())
}

/// Returns the day of a time in seconds since 1970, as `2026-11-22`. No certificate can name a day
/// after the year 9999.
pub(super) fn date(seconds: u64) -> String {
    let time = DateTime::from_unix_duration(Duration::from_secs(seconds));
    let time = time.unwrap_or(DateTime::INFINITY);
    format!("{:04}-{:02}-{:02}", time.year(), time.month(), time.day())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    /// Certificates have two forms of a time: up to 2049, the year has two digits.
    #[test]
    fn the_end_of_a_certificate_is_read() {
        let key = KeyPair::generate().expect("there is randomness");
        let day = Duration::from_secs(86_400);
        let rows = [
            (date_time_ymd(1970, 1, 1), 0),
            (date_time_ymd(2000, 3, 1) - Duration::from_secs(1), 951_868_799),
            (date_time_ymd(2026, 11, 22) + day * 37 / 48, 1_795_372_200),
            (date_time_ymd(2049, 12, 31), 2_524_521_600),
            (date_time_ymd(2050, 1, 1), 2_524_608_000),
            (date_time_ymd(9999, 12, 31) + (day - Duration::from_secs(1)), 253_402_300_799),
        ];
        for (not_after, expected) in rows {
            let mut params = CertificateParams::new([]).expect("no name is a bad name");
            params.not_after = not_after;
            let certificate = params.self_signed(&key).expect("a certificate");
            assert_eq!(end(certificate.der()), Some(expected), "{not_after}");
        }
    }

    #[test]
    fn days_are_written_as_people_write_them() {
        let rows = [
            (0, "1970-01-01"),
            (951_868_799, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_795_372_200, "2026-11-22"),
            (253_402_300_799, "9999-12-31"),
            (u64::MAX, "9999-12-31"),
        ];
        for (seconds, expected) in rows {
            assert_eq!(date(seconds), expected);
        }
    }

    #[test]
    fn what_is_no_certificate_has_no_end() {
        let certificate = rcgen::generate_simple_self_signed(["h".to_owned()]).expect("a name");
        let der = certificate.cert.der();
        // rcgen makes certificates that end in the year 4096.
        assert_eq!(end(der).map(date).as_deref(), Some("4096-01-01"));
        for len in 0..der.len() {
            assert_eq!(end(&der[..len]), None, "{len} bytes");
        }
        for index in 0..der.len() {
            let mut broken = der.to_vec();
            broken[index] ^= 0x81;
            end(&broken);
        }
    }
}
