//! Reads the validity of a certificate from its PEM text, and nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use telemetry::Millis;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";
/// Tags of DER (X.690 8.1.2): a sequence, the version of a certificate, and the two forms of a time.
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The first and the last moment at which a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// The first one.
    pub begins: Millis,
    /// The last one.
    pub ends: Millis,
}

impl Validity {
    /// The validity of the first certificate in a text. `None`: it cannot be read; TLS reports the mistake.
    pub fn read(pem: &[u8]) -> Option<Self> {
        read(pem)
    }
}

fn read(pem: &[u8]) -> Option<Validity> {
    let text = std::str::from_utf8(pem).ok()?;
    let (_, rest) = text.split_once(BEGIN)?;
    let (body, _) = rest.split_once(END)?;
    let der = STANDARD.decode(body.split_whitespace().collect::<String>()).ok()?;
    // RFC 5280 4.1: Certificate, TBSCertificate; then version, serial number, signature and issuer are before the validity.
    let (certificate, _) = of(SEQUENCE, &der)?;
    let (mut fields, _) = of(SEQUENCE, certificate)?;
    if fields.first() == Some(&VERSION) {
        fields = next(fields)?.2;
    }
    for _ in 0..3 {
        fields = next(fields)?.2;
    }
    let (validity, _) = of(SEQUENCE, fields)?;
    let (tag, begins, rest) = next(validity)?;
    let begins = moment(tag, begins)?;
    let (tag, ends, _) = next(rest)?;
    Some(Validity { begins, ends: moment(tag, ends)? })
}

/// The content of the first value, and the bytes after it, if the value has this tag.
fn of(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (found, inside, rest) = next(bytes)?;
    (found == tag).then_some((inside, rest))
}

/// The tag and the content of the first value, and the bytes after it.
fn next(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(*length) {
        short @ 0..0x80 => (short, rest),
        long => {
            let (digits, rest) = rest.split_at_checked(long & 0x7f).filter(|(digits, _)| digits.len() <= 4)?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
    };
    let (inside, rest) = rest.split_at_checked(length)?;
    Some((*tag, inside, rest))
}

/// Reads a time: `yyMMddHHmmssZ`, of 1950 to 2049, or `yyyyMMddHHmmssZ` (RFC 5280 4.1.2.5).
fn moment(tag: u8, text: &[u8]) -> Option<Millis> {
    let text = std::str::from_utf8(text).ok()?;
    let whole = match tag {
        UTC_TIME => format!("{}{text}", if text < "50" { "20" } else { "19" }),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let at = DateTime::strptime("%Y%m%d%H%M%SZ", whole).ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(Millis(at.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate of 90 days.
    const PEM: &str = "\
-----BEGIN CERTIFICATE-----
MIIBezCCASGgAwIBAgIUfhWW63bNb3zEVlp1SonDH+MQPeowCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIZGF5bGlnaHQwHhcNMjYxMTIyMTUxODMwWhcNMjcwMjIwMTUx
ODMwWjATMREwDwYDVQQDDAhkYXlsaWdodDBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABCxKyO7Nrfw7wGEh01lDtTzb0+ekh3R53D5FM/ebUtxzuOPewmdMkW/TE+Kv
Ux4htMCR1mqdoc1VT31/hcuVA2SjUzBRMB0GA1UdDgQWBBR3baic39XQT5mqHunP
uIyvlzjftzAfBgNVHSMEGDAWgBR3baic39XQT5mqHunPuIyvlzjftzAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIC4YWfrmv5n/KAeOFg4+af2mPhb6
OR3YtRyxC018pp0bAiEAkH4drrLMT7MI+RdmfpBP2GoLZpgf7ckw4qRPThVPIzw=
-----END CERTIFICATE-----";

    #[test]
    fn the_validity_is_read_and_broken_text_is_refused() {
        let Validity { begins, ends } = read(PEM.as_bytes()).unwrap();
        assert_eq!(ends.0 - begins.0, 90 * 86_400_000);
        assert_eq!(begins.to_string(), "2026-11-22T15:18:30.000Z");
        for broken in ["", "x", &format!("{BEGIN}\n{END}"), &format!("{BEGIN}\nMIIB\n{END}"), &PEM[..200]] {
            assert_eq!(read(broken.as_bytes()), None, "{broken}");
        }
        assert_eq!(moment(GENERALIZED_TIME, b"20500101000000Z"), Some(Millis(2_524_608_000_000)));
        assert_eq!(moment(UTC_TIME, b"991231235959Z").map(|at| at.0), Some(946_684_799_000));
    }

    #[test]
    fn no_truncated_certificate_is_read_beyond_its_end() {
        let body: String = PEM.lines().filter(|line| !line.starts_with('-')).collect();
        let der = STANDARD.decode(body).unwrap();
        for end in 0..der.len() {
            let cut = format!("{BEGIN}\n{}\n{END}", STANDARD.encode(&der[..end]));
            assert_eq!(read(cut.as_bytes()), None);
        }
    }
}
