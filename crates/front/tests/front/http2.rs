//! HTTP/2, with h2 as a client.

use crate::growing::FileWriter;
use crate::running_front::{BIG, Front, HANGS, pattern};
use crate::tls::{Certificate, serve};
use front::Limits;
use h2::client::{Builder, SendRequest};
use h2::{Reason as Code, RecvStream};
use http::{Request, Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;
use telemetry::Outcome;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

type Sender = SendRequest<bytes::Bytes>;

pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    // Its thread waits for events while the connections continue.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(HANGS, work).await.expect("it hangs") })
}

pub(crate) async fn tcp(front: &Front) -> tokio::net::TcpStream {
    let stream = front.client().stream;
    stream.set_nonblocking(true).unwrap();
    tokio::net::TcpStream::from_std(stream).unwrap()
}

/// A connection whose streams may receive this many bytes before they are read.
pub(crate) async fn spoken(io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, window: u32) -> Sender {
    let (sender, connection) =
        Builder::new().initial_window_size(window).initial_connection_window_size(1 << 20).handshake(io).await.unwrap();
    tokio::spawn(connection);
    sender.ready().await.unwrap()
}

pub(crate) async fn ask(sender: &mut Sender, path: &str) -> Response<RecvStream> {
    let request = Request::get(format!("http://front{path}")).body(()).unwrap();
    sender.send_request(request, true).unwrap().0.await.unwrap()
}

async fn text(response: Response<RecvStream>) -> String {
    let mut body = response.into_body();
    let mut all = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece.unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        all.extend_from_slice(&piece);
    }
    String::from_utf8(all).unwrap()
}

#[test]
fn replies_leave_in_any_order_and_each_event_with_its_own() {
    let front = Front::new();
    run(async {
        let mut sender = spoken(tcp(&front).await, 100_000).await;
        let file = ask(&mut sender, "/file").await;
        let big = ask(&mut sender, "/big").await;
        assert_eq!(text(ask(&mut sender, "/quick?x").await).await, "/quick Some(\"x\")");
        let quick = front.event();
        assert_eq!((quick.path.as_str(), quick.outcome, quick.protocol), ("/quick", Some(Outcome::Answered), "HTTP/2"));
        assert_eq!(ask(&mut sender, "/nothing").await.status(), StatusCode::NO_CONTENT);
        assert_eq!(front.event().path, "/nothing");
        drop(big);
        let left = front.event();
        assert_eq!((left.path.as_str(), left.outcome), ("/big", Some(Outcome::ClientGone)));
        assert!(left.bytes_out < BIG as u64);
        assert_eq!(text(file).await.len(), BIG);
        let read = front.event();
        assert_eq!((read.path.as_str(), read.outcome, read.bytes_out), ("/file", Some(Outcome::Answered), BIG as u64));
        assert!(read.first_byte < read.duration);
    });
}

#[test]
fn a_handler_ends_where_it_waits_when_its_stream_is_reset_and_the_connection_goes_on() {
    let front = Front::new();
    run(async {
        let mut sender = spoken(tcp(&front).await, 100_000).await;
        let request = Request::get("http://front/never").body(()).unwrap();
        let (answer, mut stream) = sender.send_request(request, false).unwrap();
        assert_eq!(text(ask(&mut sender, "/who").await).await, "127.0.0.1");
        assert_eq!(front.event().path, "/who");
        stream.send_reset(Code::CANCEL);
        let left = front.event();
        assert_eq!((left.path.as_str(), left.outcome), ("/never", Some(Outcome::ClientGone)));
        drop(answer);
        assert_eq!(ask(&mut sender, "/panic").await.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(text(ask(&mut sender, "/who").await).await, "127.0.0.1");
    });
}

#[test]
fn a_body_that_breaks_resets_its_stream_and_no_other() {
    let front = Front::new();
    run(async {
        let mut sender = spoken(tcp(&front).await, 100_000).await;
        let mut broken = ask(&mut sender, "/short-file").await.into_body();
        let told = loop {
            match broken.data().await {
                Some(Ok(_)) => {}
                end => break end,
            }
        };
        assert_eq!(told.unwrap().unwrap_err().reason(), Some(Code::INTERNAL_ERROR));
        assert_eq!(front.event().outcome, Some(Outcome::Failed));
        assert_eq!(text(ask(&mut sender, "/who").await).await, "127.0.0.1");
    });
}

#[test]
fn what_is_still_being_written_is_sent_as_it_grows_and_ends_or_breaks_with_its_stream() {
    let front = Front::new();
    run(async {
        let mut sender = spoken(tcp(&front).await, 100_000).await;
        for announced in [Some(300_000), None] {
            for breaks in [false, true] {
                let mut writer = FileWriter::new(&format!("frames-{announced:?}-{breaks}"), announced);
                let answer = ask(&mut sender, writer.path()).await;
                let said = answer.headers().get("content-length").map(|len| len.to_str().unwrap().parse().unwrap());
                assert_eq!(said, announced);
                let mut body = answer.into_body();
                let mut all = Vec::new();
                for step in [1, 99_999, 200_000] {
                    writer.grow(step);
                    let due = all.len() + step;
                    while all.len() < due {
                        let piece = body.data().await.unwrap().unwrap();
                        body.flow_control().release_capacity(piece.len()).unwrap();
                        all.extend_from_slice(&piece);
                    }
                    if breaks {
                        break;
                    }
                }
                assert!(all == pattern(all.len()), "other bytes");
                let outcome = if breaks {
                    writer.breaks();
                    assert_eq!(body.data().await.unwrap().unwrap_err().reason(), Some(Code::INTERNAL_ERROR));
                    Outcome::Failed
                } else {
                    writer.whole();
                    assert!(body.data().await.is_none_or(|piece| piece.unwrap().is_empty()));
                    Outcome::Answered
                };
                let event = front.event();
                assert_eq!((event.outcome, event.bytes_out), (Some(outcome), all.len() as u64));
            }
        }
    });
}

#[test]
fn uploads_pass_whatever_the_windows_and_are_bounded_as_on_http_1() {
    let front =
        Front::limited(Limits { upload: 3 << 20, upload_idle: Duration::from_millis(200), ..Limits::default() });
    run(async {
        let mut sender = spoken(tcp(&front).await, 100_000).await;
        for (len, status) in [(0, 200), (1, 200), (3 << 20, 200), ((3 << 20) + 1, 413)] {
            let request = Request::post("http://front/upload").body(()).unwrap();
            let (answer, mut stream) = sender.send_request(request, len == 0).unwrap();
            if len > 0 {
                // More than the windows allow is queued here; the reply may arrive before all of it has been sent.
                let _ = stream.send_data(vec![7; len].into(), true);
            }
            let answer = answer.await.unwrap();
            assert_eq!(answer.status(), status, "{len}");
            if status == 200 {
                assert_eq!(text(answer).await, len.to_string());
            }
        }
        let request = Request::post("http://front/upload").body(()).unwrap();
        let (answer, _stops) = sender.send_request(request, false).unwrap();
        assert_eq!(answer.await.unwrap().status(), StatusCode::REQUEST_TIMEOUT);
    });
}

#[test]
fn a_client_that_waits_to_be_told_is_told_to_go_on_only_when_the_body_is_wanted() {
    let front = Front::new();
    run(async {
        let mut sender = spoken(tcp(&front).await, 100_000).await;
        let mut ask = async |path: &str| {
            let request =
                Request::post(format!("http://front{path}")).header("expect", "100-continue").body(()).unwrap();
            let (answer, stream) = sender.send_request(request, false).unwrap();
            (answer, stream)
        };
        let (mut answer, mut stream) = ask("/upload").await;
        let told = std::future::poll_fn(|cx| answer.poll_informational(cx)).await;
        assert_eq!(told.unwrap().unwrap().status(), StatusCode::CONTINUE);
        stream.send_data("ab".into(), true).unwrap();
        assert_eq!(text(answer.await.unwrap()).await, "2");
        // It waits for something other than the body.
        let (mut answer, _stream) = ask("/waits-and-refuses").await;
        assert!(std::future::poll_fn(|cx| answer.poll_informational(cx)).await.is_none());
        assert_eq!(answer.await.unwrap().status(), StatusCode::FORBIDDEN);
    });
}

#[test]
fn a_stop_lets_replies_end_and_says_goodbye() {
    let front = Front::new();
    run(async {
        let mut sender = spoken(tcp(&front).await, 100_000).await;
        let file = ask(&mut sender, "/file").await;
        front.stop.now();
        assert_eq!(text(file).await.len(), BIG);
        // Every request is refused now, by the GOAWAY or by the closed connection.
        while let Ok(ready) = sender.clone().ready().await {
            sender = ready;
            let request = Request::get("http://front/who").body(()).unwrap();
            let Ok((answer, _)) = sender.send_request(request, true) else { break };
            let _ = answer.await;
        }
    });
    assert!(front.refuses());
}

#[test]
fn through_tls_it_is_agreed_on_and_another_certificate_leaves_connections_as_they_are() {
    let (one, two) = (Certificate::new(), Certificate::new());
    let tls = one.tls();
    let front = serve(&tls, Limits::default());
    let connect = async |knows: &Certificate| {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&knows.certificate).unwrap()).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let stream =
            TlsConnector::from(Arc::new(config)).connect("127.0.0.1".try_into().unwrap(), tcp(&front).await).await?;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        Ok::<_, std::io::Error>(spoken(stream, 100_000).await)
    };
    run(async {
        let mut before = connect(&one).await.unwrap();
        assert_eq!(text(ask(&mut before, "/file").await).await.len(), BIG);
        tls.replace(&two.certificate, &two.key).unwrap();
        assert_eq!(text(ask(&mut before, "/who").await).await, "127.0.0.1");
        assert!(connect(&one).await.is_err(), "the old certificate is still sent");
        let mut after = connect(&two).await.unwrap();
        assert_eq!(text(ask(&mut after, "/who").await).await, "127.0.0.1");
    });
}
