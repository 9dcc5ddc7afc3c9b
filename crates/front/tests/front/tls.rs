//! The front with TLS, with certificates of its own.

use crate::running_front::{BIG, Front, TestHandler, options};
use front::{Limits, Tls};
use std::io::{Read, Write};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Op, Outcome, Reason};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A self-signed certificate for 127.0.0.1, and its key.
pub(crate) struct Certificate {
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        Self::of("IP:127.0.0.1")
    }

    /// One for this name, such as `DNS:a.example`.
    fn of(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("openssl")
            .args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=daylight".split(' '))
            .args(["-addext", &format!("subjectAltName={name}"), "-addext", "basicConstraints=critical,CA:FALSE"])
            .args(["-out", "certificate", "-keyout", "key"])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let read = |name| std::fs::read(folder.path().join(name)).unwrap();
        Self { certificate: read("certificate"), key: read("key") }
    }

    pub(crate) fn tls(&self) -> Arc<Tls> {
        Tls::new(&self.certificate, &self.key).unwrap()
    }
}

pub(crate) fn serve(tls: &Arc<Tls>, limits: Limits) -> Front {
    Front::of(options(limits), Some(tls.clone()), Arc::new(TestHandler))
}

pub(crate) type Secured = StreamOwned<ClientConnection, std::net::TcpStream>;

/// A client that trusts this certificate, and no other.
fn client(front: &Front, knows: &Certificate) -> Secured {
    encrypted(knows, front.client().stream)
}

/// The same over any connection.
pub(crate) fn encrypted(knows: &Certificate, stream: std::net::TcpStream) -> Secured {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&knows.certificate).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connection = ClientConnection::new(Arc::new(config), "127.0.0.1".try_into().unwrap()).unwrap();
    StreamOwned::new(connection, stream)
}

fn ask(client: &mut Secured, path: &str, more: &str) {
    client.write_all(format!("GET {path} HTTP/1.1\r\nhost: a\r\n{more}\r\n").as_bytes()).unwrap();
}

/// The whole reply of a connection that ends with the reply.
fn last(mut client: Secured, path: &str) -> String {
    ask(&mut client, path, "connection: close\r\n");
    let mut reply = Vec::new();
    client.read_to_end(&mut reply).unwrap();
    String::from_utf8(reply).unwrap()
}

fn until(client: &mut Secured, end: &str) {
    let mut read = Vec::new();
    while !read.ends_with(end.as_bytes()) {
        let mut byte = [0];
        client.read_exact(&mut byte).unwrap();
        read.push(byte[0]);
    }
}

#[test]
fn requests_through_tls_are_answered_to_the_last_byte_and_the_handshake_is_timed_once() {
    let certificate = Certificate::new();
    let front = serve(&certificate.tls(), Limits::default());
    let mut kept = client(&front, &certificate);
    for handshakes in [1, 0] {
        ask(&mut kept, "/a", "");
        until(&mut kept, "/a None");
        assert_eq!(front.event().tally(Op::TlsHandshake).count, handshakes);
    }
    for path in ["/big", "/file"] {
        let reply = last(client(&front, &certificate), path);
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(body.len() == BIG && body.bytes().all(|byte| byte == body.as_bytes()[0]), "{}", body.len());
        let event = front.event();
        assert_eq!((event.outcome, event.bytes_out), (Some(Outcome::Answered), BIG as u64));
    }
}

#[test]
fn another_certificate_is_shown_from_the_moment_it_is_there_and_open_connections_stay() {
    let (old, new) = (Certificate::new(), Certificate::new());
    let tls = old.tls();
    let front = serve(&tls, Limits::default());
    let mut kept = client(&front, &old);
    ask(&mut kept, "/before", "");
    until(&mut kept, "/before None");
    assert!(tls.replace(&new.certificate, &old.key).is_err(), "not a pair");
    assert!(tls.replace(b"", &new.key).is_err() && tls.replace(&new.certificate, b"").is_err());
    assert!(last(client(&front, &old), "/still").ends_with("/still None"));
    tls.replace(&new.certificate, &new.key).unwrap();
    assert!(last(client(&front, &new), "/new").ends_with("/new None"));
    assert!(last(kept, "/kept").ends_with("/kept None"));
    let mut stranger = client(&front, &old);
    assert!(stranger.write_all(b"GET").and_then(|()| stranger.read_exact(&mut [0])).is_err());
    // The events come from two cores, in any order.
    let mut events: Vec<_> = (0..5).map(|_| front.event()).map(|event| (event.path, event.reason)).collect();
    events.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(events[0], (String::new(), Some(Reason::TlsFailed)));
    assert_eq!(
        events[1..].iter().map(|event| event.0.as_str()).collect::<Vec<_>>(),
        ["/before", "/kept", "/new", "/still"]
    );
}

#[test]
fn what_does_not_come_to_tls_is_closed_and_counted_but_not_who_only_looks() {
    let certificate = Certificate::new();
    let front = serve(&certificate.tls(), Limits { head_time: Duration::from_millis(300), ..Limits::default() });
    drop(front.client());
    let mut plain = front.client();
    plain.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    plain.rest();
    let event = front.event();
    assert_eq!((event.outcome, event.reason), (Some(Outcome::TurnedAway), Some(Reason::TlsFailed)));
    let mut slow = front.client();
    slow.send([0x16, 3, 1]);
    slow.rest();
    assert_eq!(front.event().reason, Some(Reason::HeadTooSlow));
    assert_eq!(front.released(), 2);
}

#[test]
fn a_client_that_takes_nothing_through_tls_is_given_up() {
    let certificate = Certificate::new();
    let limits = Limits { write_stall: Duration::from_millis(300), ..Limits::default() };
    let front = serve(&certificate.tls(), limits);
    let mut client = client(&front, &certificate);
    ask(&mut client, "/big", "");
    until(&mut client, "\r\n\r\n");
    let event = front.event();
    assert_eq!((event.status, event.outcome), (200, Some(Outcome::ClientGone)));
}

/// The end of a handshake with a client that trusts this certificate alone, names this host and offers these protocols: the protocol that
/// was agreed on. `None`: the handshake failed.
fn agreed(front: &Front, knows: &Certificate, host: &'static str, offers: &[&str]) -> Option<String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&knows.certificate).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = offers.iter().map(|name| name.as_bytes().to_vec()).collect();
    let mut connection = ClientConnection::new(Arc::new(config), host.try_into().unwrap()).unwrap();
    let mut stream = front.client().stream;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).ok()?;
    }
    let agreed = String::from_utf8(connection.alpn_protocol().unwrap_or_default().to_vec()).unwrap();
    if agreed == "acme-tls/1" {
        let mut rest = Vec::new();
        StreamOwned::new(connection, stream).read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty(), "the connection ends with the handshake");
    }
    Some(agreed)
}

#[test]
fn an_authority_sees_the_certificate_for_its_name_and_clients_see_none_of_it() {
    let (usual, asked, other) =
        (Certificate::of("DNS:a.example"), Certificate::of("DNS:a.example"), Certificate::of("DNS:b.example"));
    let tls = usual.tls();
    let front = serve(&tls, Limits::default());
    let authority = |knows: &Certificate, host| agreed(&front, knows, host, &["acme-tls/1"]);
    assert_eq!(authority(&asked, "a.example"), None, "nothing is asked of an authority");

    tls.show_challenge("A.example", &asked.certificate, &asked.key).unwrap();
    tls.show_challenge("b.example", &other.certificate, &other.key).unwrap();
    assert_eq!(authority(&asked, "a.example").as_deref(), Some("acme-tls/1"));
    assert_eq!(authority(&other, "b.example").as_deref(), Some("acme-tls/1"));
    assert_eq!(authority(&usual, "c.example"), None);
    assert_eq!(tls.challenges_shown(), 2);
    for (offers, agrees) in [(&["h2"][..], "h2"), (&["http/1.1"], "http/1.1"), (&[], ""), (&["acme-tls/1", "h2"], "h2")]
    {
        assert_eq!(agreed(&front, &usual, "a.example", offers).as_deref(), Some(agrees), "{offers:?}");
        assert_eq!(agreed(&front, &asked, "a.example", offers), None, "{offers:?}");
    }

    tls.show_challenge("a.example", &other.certificate, &other.key).unwrap();
    assert_eq!(authority(&asked, "a.example"), None, "it was replaced");
    assert!(tls.show_challenge("a.example", b"nothing", &other.key).is_err());
    tls.hide_challenge("a.example");
    tls.hide_challenge("b.example");
    assert_eq!((authority(&other, "b.example"), tls.challenges_shown()), (None, 2));
    assert_eq!(agreed(&front, &usual, "a.example", &["h2"]).as_deref(), Some("h2"));
}
