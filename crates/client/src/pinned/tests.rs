//! Certificates from `openssl req -x509`, presented by a server.

use super::*;
use std::process::Command;
use std::time::Duration;
use tokio_rustls::rustls::pki_types::pem::PemObject;

const DAY: u64 = 86_400;

/// A self-signed certificate of an authority for this name, valid for a day from now on.
fn made(name: &str) -> CertificateDer<'static> {
    let folder = tempfile::TempDir::new().unwrap();
    let made = Command::new("openssl")
        .args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=server".split(' '))
        .args(["-addext", &format!("subjectAltName={name}"), "-out", "certificate.pem", "-keyout", "key.pem"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    CertificateDer::from_pem_file(folder.path().join("certificate.pem")).unwrap()
}

fn after(days: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(UnixTime::now().as_secs() + days * DAY))
}

/// The result for a client that trusts `trusted` and a server `name` that presents `shown`.
fn verified(
    trusted: &CertificateDer<'static>,
    shown: &CertificateDer<'_>,
    name: &str,
    now: UnixTime,
) -> Result<(), String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let verifier = PinnedVerifier::new(roots, vec![trusted.clone()]).unwrap();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let verified = verifier.verify_server_cert(shown, &[], &name, &[], now);
    verified.map(drop).map_err(|error| format!("{error:?}"))
}

#[test]
fn the_trusted_certificate_itself_is_accepted_with_its_name_within_its_dates_and_no_other() {
    let ours = made("DNS:packages.test");
    assert_eq!(verified(&ours, &ours, "packages.test", after(0)), Ok(()));
    let refused = |shown: &CertificateDer<'_>, name: &str, now| verified(&ours, shown, name, now).unwrap_err();
    let other_name = refused(&ours, "other.test", after(0));
    assert!(other_name.contains("NotValidForName"), "{other_name}");
    let expired = refused(&ours, "packages.test", after(2));
    assert!(expired.contains("Expired"), "{expired}");
    let early = refused(&ours, "packages.test", UnixTime::since_unix_epoch(Duration::ZERO));
    assert!(early.contains("NotValidYet"), "{early}");
    // Another certificate with the same names and another key.
    let other_key = refused(&made("DNS:packages.test"), "packages.test", after(0));
    assert!(other_key.contains("CaUsedAsEndEntity"), "{other_key}");
}
