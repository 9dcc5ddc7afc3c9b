//! A probe of the server by itself: one small request through its public socket, on the calling thread and without a runtime, because
//! it shows whether the runtimes work. `daylight health` asks in the same way, from another process.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use telemetry::Tick;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};

/// The longest answer that is read. That of a probe is shorter.
const ANSWER_MAX: usize = 4096;

/// What a probe was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The body, at most 4 KiB of it with the head.
    pub text: String,
}

/// How a server asks itself.
#[derive(Debug)]
pub struct Probe {
    address: SocketAddr,
    request: String,
    /// The line that precedes the request where the server expects the PROXY protocol: it names no client.
    announce: bool,
    /// `None`: the socket is plain.
    tls: Option<Arc<ClientConfig>>,
}

impl Probe {
    /// A probe of the socket that listens on `listening`; one that listens on all addresses is asked on loopback. `mark`: a further header of
    /// its requests. `tls`: the socket speaks TLS; its certificate is not checked, as it need not be valid for a loopback address. `announces`:
    /// whether a connection from this address must begin with a header of the PROXY protocol.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn new(
        listening: SocketAddr,
        path: &str,
        mark: Option<(&str, &str)>,
        tls: bool,
        announces: impl FnOnce(IpAddr) -> bool,
    ) -> io::Result<Self> {
        let mut address = listening;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        let mark = mark.map(|(name, value)| format!("{name}: {value}\r\n")).unwrap_or_default();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\n{mark}User-Agent: daylight-probe\r\nConnection: close\r\n\r\n"
        );
        // The kernel gives a connection to an own address this address.
        let announce = announces(address.ip());
        Ok(Self { address, request, announce, tls: if tls { Some(unchecked()?) } else { None } })
    }

    /// Asks once. Returns how long it took from the connection to the last byte of the answer. Blocks for `limit` at most for each step, of
    /// which there are few.
    ///
    /// # Errors
    /// If there is no answer within `limit`, or another than 200.
    pub fn ask(&self, limit: Duration) -> io::Result<Duration> {
        let began = Tick::now();
        let answer = self.exchanged(limit, began)?;
        match answer.starts_with(b"HTTP/1.1 200 ") {
            true => Ok(Duration::from_nanos(Tick::now().since(began))),
            false => Err(unexpected(&answer)),
        }
    }

    /// Asks once, and returns the answer, whatever its status. Blocks for as long as [`Probe::ask`].
    ///
    /// # Errors
    /// If there is no answer within `limit`, or one that is not HTTP.
    pub fn answer(&self, limit: Duration) -> io::Result<ProbeAnswer> {
        let answer = self.exchanged(limit, Tick::now())?;
        let text = String::from_utf8_lossy(&answer);
        let status = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        match (status, text.split_once("\r\n\r\n")) {
            (Some(status), Some((_, body))) => Ok(ProbeAnswer { status, text: body.to_owned() }),
            _ => Err(unexpected(&answer)),
        }
    }

    /// The address that is asked.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The bytes of the answer. `began`: when the time of `limit` begins.
    fn exchanged(&self, limit: Duration, began: Tick) -> io::Result<Vec<u8>> {
        let mut tcp = TcpStream::connect_timeout(&self.address, limit)?;
        tcp.set_nodelay(true)?;
        tcp.set_read_timeout(Some(limit))?;
        tcp.set_write_timeout(Some(limit))?;
        if self.announce {
            tcp.write_all(b"PROXY UNKNOWN\r\n")?;
        }
        let end = began.plus(limit);
        match &self.tls {
            None => exchange(&mut tcp, &self.request, end),
            Some(config) => {
                let name = ServerName::from(self.address.ip());
                let connection = ClientConnection::new(config.clone(), name).map_err(io::Error::other)?;
                exchange(&mut StreamOwned::new(connection, tcp), &self.request, end)
            }
        }
    }
}

/// Sends the request, and reads the answer to its end.
fn exchange(stream: &mut (impl Read + Write), request: &str, end: Tick) -> io::Result<Vec<u8>> {
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    let (mut answer, mut buffer) = (Vec::new(), [0; 1024]);
    loop {
        let read = match stream.read(&mut buffer) {
            Ok(0) => break,
            // A server of TLS may end the connection without saying so. The status decides.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            read => read?,
        };
        answer.extend_from_slice(&buffer[..read]);
        if Tick::now() > end {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if answer.len() > ANSWER_MAX {
            break;
        }
    }
    Ok(answer)
}

/// The error of an answer that is not the expected one.
fn unexpected(answer: &[u8]) -> io::Error {
    match answer.is_empty() {
        true => io::ErrorKind::UnexpectedEof.into(),
        false => io::Error::other(String::from_utf8_lossy(&answer[..answer.len().min(40)]).into_owned()),
    }
}

/// Accepts any certificate: nothing is sent that another server may not know, and the address is our own.
fn unchecked() -> io::Result<Arc<ClientConfig>> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let verifier = Arc::new(AnyCertificate(provider));
    Ok(Arc::new(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()))
}

#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a server of the test")]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Answers one connection with `answer`. Returns what it was asked.
    fn asked<T>(answer: &'static str, announces: bool, ask: fn(&Probe, Duration) -> T) -> (T, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), listener.local_addr().unwrap().port());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut got = Vec::new();
            while !got.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                got.push(byte[0]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(got).unwrap()
        });
        let probe = Probe::new(address, "/a", Some(("Mark", "1")), false, |_| announces).unwrap();
        (ask(&probe, Duration::from_secs(30)), server.join().unwrap())
    }

    #[test]
    fn a_probe_asks_on_loopback_and_only_200_is_an_answer() {
        let (answer, request) = asked("HTTP/1.1 200 OK\r\n\r\nalive\n", false, Probe::ask);
        assert!(answer.is_ok(), "{answer:?}");
        assert!(request.starts_with("GET /a HTTP/1.1\r\nHost: 127.0.0.1:") && request.contains("\r\nMark: 1\r\n"));
        let (answer, request) = asked("HTTP/1.1 503 No\r\n\r\n", true, Probe::ask);
        assert!(answer.unwrap_err().to_string().starts_with("HTTP/1.1 503"));
        assert!(request.starts_with("PROXY UNKNOWN\r\nGET "));
        assert_eq!(asked("", false, Probe::ask).0.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn the_answer_of_a_probe_has_its_status_and_its_body() {
        let of = |answer| asked(answer, false, Probe::answer).0;
        let not_ready = of("HTTP/1.1 503 No\r\nA: b\r\n\r\nnot ready: x\n").unwrap();
        assert_eq!((not_ready.status, &*not_ready.text), (503, "not ready: x\n"));
        for other in ["SSH-2.0-a\r\n\r\n", "HTTP/1.1 x\r\n\r\n", "HTTP/1.1 200 OK\r\n"] {
            assert!(of(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_server_that_accepts_and_says_nothing_does_not_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let probe = Probe::new(listener.local_addr().unwrap(), "/", Some(("Mark", "1")), false, |_| false).unwrap();
        let error = probe.ask(Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut), "{error}");
    }
}
