//! Servers with TLS: trusted and not, with and without client certificates.

use super::*;
use std::process::Command;
use tempfile::TempDir;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

/// A self-signed certificate, and its key.
pub(super) struct Certificate(TempDir);

impl Certificate {
    /// For a name such as `IP:127.0.0.1`.
    pub(super) fn of(name: &str) -> Self {
        Self::with(name, &["-addext", "basicConstraints=critical,CA:FALSE"])
    }

    /// The same as openssl makes it unless told otherwise: one of an authority.
    fn usual(name: &str) -> Self {
        Self::with(name, &[])
    }

    fn with(name: &str, more: &[&str]) -> Self {
        let certificate = Self(TempDir::new().unwrap());
        let made = Command::new("openssl")
            .args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=stand-in".split(' '))
            .args(["-addext", &format!("subjectAltName={name}")])
            .args(more)
            .args(["-out", "certificate.pem", "-keyout", "key.pem"])
            .current_dir(&certificate.0)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        certificate
    }

    fn read(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(file)).unwrap()
    }

    pub(super) fn pem(&self) -> Pem {
        self.read("certificate.pem").into()
    }

    /// With its key in the same file, as a client certificate needs it.
    fn with_key(&self) -> Pem {
        [self.read("key.pem"), self.read("certificate.pem")].concat().into()
    }

    fn chain(&self) -> Vec<CertificateDer<'static>> {
        CertificateDer::pem_slice_iter(&self.read("certificate.pem")).map(Result::unwrap).collect()
    }

    /// The settings of a server with this certificate, which asks for one of `clients` if given.
    pub(super) fn server(&self, clients: Option<&Certificate>) -> Arc<ServerConfig> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let builder = match clients {
            None => builder.unwrap().with_no_client_auth(),
            Some(clients) => {
                let mut roots = RootCertStore::empty();
                roots.add(clients.chain().remove(0)).unwrap();
                let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
                builder.unwrap().with_client_cert_verifier(verifier.unwrap())
            }
        };
        let key = PrivateKeyDer::from_pem_slice(&self.read("key.pem")).unwrap();
        Arc::new(builder.with_single_cert(self.chain(), key).unwrap())
    }
}

pub(super) fn trusting(certificate: &Certificate) -> UpstreamOptions {
    UpstreamOptions { trust: Some(certificate.pem()), ..UpstreamOptions::default() }
}

#[test]
fn a_server_is_trusted_whose_certificate_is_named_and_else_told_apart_from_one_that_is_down() {
    let certificate = Certificate::of("IP:127.0.0.1");
    let there = StandIn::with_tls(certificate.server(None), [("/a", ok("hello"))]);
    let world = World::new();
    let trusted = world.upstream_with(&[&there.url], trusting(&certificate));
    for _ in 0..2 {
        assert_eq!(world.get(&trusted, "a"), Ok((200, "hello".into())));
    }
    assert_eq!((there.connections(), trusted.states()[0].kept), (1, 1));

    // A connection of an upstream that trusts the server is not shared with others.
    let error = world.get_if(&world.upstream(&[&there.url]), "a", &Conditions::default()).unwrap_err();
    assert_eq!((error.label(), error.reason()), ("tls", telemetry::Reason::UpstreamTls));
    assert!(error.hint().unwrap().contains("--trust"), "{error}");
    assert_eq!(there.heads().len(), 2);
}

#[test]
fn the_usual_self_signed_certificate_is_trusted_where_it_is_named_and_another_one_of_that_name_is_not() {
    let (ours, theirs) = (Certificate::usual("IP:127.0.0.1"), Certificate::usual("IP:127.0.0.1"));
    let there = StandIn::with_tls(ours.server(None), [("/a", ok("hello"))]);
    let world = World::new();
    assert_eq!(world.get(&world.upstream_with(&[&there.url], trusting(&ours)), "a"), Ok((200, "hello".into())));
    assert_eq!(world.get(&world.upstream_with(&[&there.url], trusting(&theirs)), "a"), Err("tls"));
    // Its name is another, and its dates are right.
    let elsewhere = Certificate::usual("DNS:another.test");
    let there = StandIn::with_tls(elsewhere.server(None), [("/a", ok("hello"))]);
    let error = world.get_if(&world.upstream_with(&[&there.url], trusting(&elsewhere)), "a", &Conditions::default());
    let error = error.unwrap_err();
    assert!(error.hint().unwrap().contains("another name"), "{error}");
}

#[test]
fn a_certificate_for_another_name_and_a_port_without_tls_are_told_apart() {
    let certificate = Certificate::of("DNS:another.test");
    let there = StandIn::with_tls(certificate.server(None), [("/a", ok("hello"))]);
    let world = World::new();
    let hint = |url: &str| {
        let mut upstream = world.upstream_with(&[url], trusting(&certificate));
        upstream.timeouts.connect = Duration::from_millis(500);
        let error = world.get_if(&upstream, "a", &Conditions::default()).unwrap_err();
        (error.label(), error.hint().unwrap_or_default())
    };
    let (label, said) = hint(&there.url);
    assert!(label == "tls" && said.contains("another name"), "{label} {said}");
    let plain = StandIn::new([("/a", ok("hello"))]);
    // The server takes the request for a part of a handshake and waits for the rest, and the client waits for a response.
    let (label, _) = hint(&plain.url.replace("http:", "https:"));
    assert_eq!(label, "silent");
    // In the opposite case, a TLS server sends an alert, which is not HTTP.
    let (label, said) = hint(&there.url.replace("https:", "http:"));
    assert!(label == "not_http" && said.contains("`https`"), "{label} {said}");
}

#[test]
fn a_certificate_is_shown_to_the_upstream_s_own_hosts_only() {
    let (server, ours) = (Certificate::of("IP:127.0.0.1"), Certificate::of("DNS:us.test"));
    let store = StandIn::with_tls(server.server(Some(&ours)), [("/bytes", ok("bytes"))]);
    let location = format!("Location: {}/bytes\r\n", store.url);
    let there = StandIn::with_tls(server.server(Some(&ours)), [("/a", ok("hello")), ("/b", says(302, &location))]);
    let world = World::new();
    let without = world.upstream_with(&[&there.url], trusting(&server));
    let error = world.get_if(&without, "a", &Conditions::default()).unwrap_err();
    assert_eq!(error.label(), "tls", "{error:?}");
    assert!(error.hint().unwrap().contains("--certificate"), "{error}");

    let options = UpstreamOptions { certificate: Some(ours.with_key()), ..trusting(&server) };
    assert!(!format!("{options:?}").contains("112"), "{options:?}");
    let with = world.upstream_with(&[&there.url], options);
    let expires = crate::Validity::read(&ours.read("certificate.pem")).map(|validity| validity.ends);
    assert!(expires.is_some());
    assert_eq!([with.certificate_expires(), without.certificate_expires()], [expires, None]);
    assert_eq!(world.get(&with, "a"), Ok((200, "hello".into())));
    assert_eq!(world.get(&with, "b"), Err("tls"));
    assert!(store.heads().is_empty());
}

#[test]
fn a_body_that_is_cut_below_tls_is_cut() {
    let certificate = Certificate::of("IP:127.0.0.1");
    // Without a length the end of the connection is the end of the body, and TLS shows whether it was cut off.
    let body = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello";
    let there = StandIn::with_tls(certificate.server(None), [("/a", body.into())]);
    let world = World::new();
    assert_eq!(world.get(&world.upstream_with(&[&there.url], trusting(&certificate)), "a"), Err("cut"));
}

#[test]
fn pem_files_that_cannot_be_used_are_refused() {
    let (world, certificate) = (World::new(), Certificate::of("DNS:us.test"));
    let other = Certificate::of("DNS:other.test");
    let mixed = [other.read("key.pem"), certificate.read("certificate.pem")].concat();
    for (trust, shown) in
        [(Some(b"nothing".to_vec()), None), (None, Some(certificate.read("certificate.pem"))), (None, Some(mixed))]
    {
        let options = UpstreamOptions {
            urls: vec!["https://a.test/".into()],
            trust: trust.map(Pem::from),
            certificate: shown.map(Pem::from),
            ..UpstreamOptions::default()
        };
        assert_eq!(Upstream::new(options, world.hosts.clone()).unwrap_err().label(), "bad_pem");
    }
}
