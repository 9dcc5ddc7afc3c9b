//! Certificates that this server signs itself: the placeholder until the authority has given one, and certificates that answer a challenge.

use crate::serve::certificate::PemFiles;
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, DnType, Error, KeyPair};
use std::net::IpAddr;

/// Bytes of the digest in the certificate of a challenge (RFC 8737 3).
pub(super) const DIGEST_BYTES: usize = 32;

/// A certificate for these names that no client trusts. Handshakes succeed with it, so people see the reason and not a broken connection.
pub(super) fn placeholder(names: &[String]) -> Result<PemFiles, Error> {
    let mut parameters = CertificateParams::new(names.to_vec())?;
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, "Daylight placeholder: no certificate yet");
    signed(&parameters)
}

/// The certificate that answers a challenge for this name (RFC 8737 3).
pub(super) fn of_challenge(name: &str, digest: &[u8; DIGEST_BYTES]) -> Result<PemFiles, Error> {
    let mut parameters = CertificateParams::new(vec![name.to_owned()])?;
    parameters.distinguished_name = DistinguishedName::new();
    parameters.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    signed(&parameters)
}

/// A key and the request for a certificate for these names, in PEM and in DER.
pub(super) fn request(names: &[String]) -> Result<(String, Vec<u8>), Error> {
    let mut parameters = CertificateParams::new(names.to_vec())?;
    // Authorities take the names from the alternative ones, and a common name has at most 64 characters.
    parameters.distinguished_name = DistinguishedName::new();
    let key = KeyPair::generate()?;
    let request = parameters.serialize_request(&key)?;
    Ok((key.serialize_pem(), request.der().to_vec()))
}

/// The name in the handshake of a challenge: of an IP address its name in the reverse DNS, since no address stands there (RFC 8738 6).
pub(super) fn name_in_handshake(name: &str) -> String {
    match name.parse() {
        Ok(IpAddr::V4(address)) => {
            let [a, b, c, d] = address.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        Ok(IpAddr::V6(address)) => {
            let digits = address.octets().into_iter().rev().flat_map(|byte| [byte & 0xf, byte >> 4]);
            digits.map(|digit| format!("{digit:x}.")).collect::<String>() + "ip6.arpa"
        }
        Err(_) => name.to_owned(),
    }
}

fn signed(parameters: &CertificateParams) -> Result<PemFiles, Error> {
    let key = KeyPair::generate()?;
    let certificate = parameters.self_signed(&key)?;
    Ok(PemFiles { certificate: certificate.pem().into_bytes(), key: key.serialize_pem().into_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_for_its_names_and_no_other() {
        let names = ["packages.example".to_owned(), "192.0.2.1".to_owned()];
        let made = placeholder(&names).unwrap();
        for name in &names {
            assert!(client::is_for(&made.certificate, name), "{name}");
        }
        assert!(!client::is_for(&made.certificate, "other.example"));
        assert!(!client::is_for(b"nothing", "packages.example"));
    }

    #[test]
    fn the_certificate_of_a_challenge_has_the_digest_in_its_critical_extension() {
        use base64::Engine as _;
        let made = of_challenge("packages.example", &[0xab; DIGEST_BYTES]).unwrap();
        let text = String::from_utf8(made.certificate).unwrap();
        let body: String = text.lines().filter(|line| !line.starts_with('-')).collect();
        let der = base64::engine::general_purpose::STANDARD.decode(body).unwrap();
        // id-pe-acmeIdentifier, 1.3.6.1.5.5.7.1.31; critical; an octet string with an octet string of 32 bytes.
        let mut extension = vec![0x06, 0x08, 0x2b, 6, 1, 5, 5, 7, 1, 31, 0x01, 0x01, 0xff, 0x04, 0x22, 0x04, 0x20];
        extension.extend([0xab; DIGEST_BYTES]);
        assert!(der.windows(extension.len()).any(|window| window == extension));
        // webpki reads no certificate with a critical extension that it does not know.
        assert!(der.windows(16).any(|window| window == b"packages.example"));
    }

    #[test]
    fn an_address_is_named_by_its_reverse_name_in_a_handshake() {
        assert_eq!(name_in_handshake("packages.example"), "packages.example");
        assert_eq!(name_in_handshake("192.0.2.1"), "1.2.0.192.in-addr.arpa");
        let expected = "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa";
        assert_eq!(name_in_handshake("2001:db8::1"), expected);
    }
}
