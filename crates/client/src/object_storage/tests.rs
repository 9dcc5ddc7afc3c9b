//! Object storage over the connector, against a server that answers as each test has written it.

mod stand_in;

use super::ObjectConnector;
use crate::timeouts::Timeouts;
use bytes::Bytes;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{BackoffConfig, ObjectStoreExt, PutPayload, RetryConfig};
use stand_in::{StandIn, nobody};
use std::time::Duration;
use telemetry::{Clock, Recorder};

/// Short enough for a test, and longer than any answer of a stand-in takes.
const SHORT: Duration = Duration::from_millis(300);

fn connector(timeouts: Timeouts) -> ObjectConnector {
    ObjectConnector::with(Recorder::silent(Clock::default()), timeouts)
}

/// Object storage at this URL.
fn storage(url: &str, retries: usize, timeouts: Timeouts) -> AmazonS3 {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(1), max_backoff: Duration::from_millis(1), base: 2.0 };
    AmazonS3Builder::new()
        .with_bucket_name("packages")
        .with_endpoint(url)
        .with_allow_http(true)
        .with_access_key_id("lamp")
        .with_secret_access_key("open-sesame-1")
        .with_retry(RetryConfig { backoff, max_retries: retries, retry_timeout: Duration::from_secs(60) })
        .with_http_connector(connector(timeouts))
        .build()
        .unwrap()
}

fn with_short_waits() -> Timeouts {
    Timeouts { head: SHORT, idle: SHORT, ..Timeouts::default() }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

async fn read(storage: &AmazonS3, key: &str) -> object_store::Result<Bytes> {
    storage.get(&Path::from(key)).await?.bytes().await
}

/// An object in an answer: `object_store` wants its tag and its date.
fn object(body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nETag: \"1\"\r\nLast-Modified: Sun, 29 Nov 2026 00:00:00 GMT\r\n\r\n{body}"
    )
}

const STORED: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: \"1\"\r\n\r\n";

#[test]
fn calls_share_a_connection_and_are_signed() {
    let server = StandIn::answering(vec![object("lamp"), object("oil")]);
    let storage = storage(&server.url(), 0, Timeouts::default());
    run(async {
        assert_eq!(read(&storage, "blobs/1").await.unwrap(), "lamp");
        assert_eq!(read(&storage, "blobs/2").await.unwrap(), "oil");
    });
    assert_eq!(server.connections(), 1);
    let heads = server.heads();
    assert!(heads[0].starts_with("GET /packages/blobs/1 HTTP/1.1\r\n"), "{heads:?}");
    let host = server.url().replace("http://", "host: ");
    assert!(heads[1].contains(&host) && heads[1].contains("AWS4-HMAC-SHA256"), "{heads:?}");
}

#[test]
fn a_connection_that_the_server_closed_meanwhile_costs_no_try() {
    let server = StandIn::answering(vec![object("lamp") + StandIn::THEN_CLOSES, object("oil")]);
    let storage = storage(&server.url(), 0, Timeouts::default());
    run(async {
        assert_eq!(read(&storage, "blobs/1").await.unwrap(), "lamp");
        server.await_closed();
        assert_eq!(read(&storage, "blobs/2").await.unwrap(), "oil");
    });
    assert_eq!(server.connections(), 2);
}

#[test]
fn an_upload_of_several_parts_arrives_whole_and_with_its_length() {
    let server = StandIn::answering(vec![STORED.to_owned(); 2]);
    let storage = storage(&server.url(), 0, Timeouts::default());
    let parts: PutPayload =
        [Bytes::from(vec![b'a'; 100_000]), Bytes::new(), Bytes::from_static(b"b")].into_iter().collect();
    run(async {
        storage.put(&Path::from("blobs/1"), parts).await.unwrap();
        storage.put(&Path::from("blobs/2"), PutPayload::new()).await.unwrap();
    });
    let (heads, bodies) = (server.heads(), server.bodies());
    assert!(heads[0].to_ascii_lowercase().contains("content-length: 100001\r\n"), "{heads:?}");
    assert!(heads[1].to_ascii_lowercase().contains("content-length: 0\r\n"), "{heads:?}");
    assert_eq!(bodies[0], [vec![b'a'; 100_000], b"b".to_vec()].concat());
}

#[test]
fn a_server_that_is_away_or_breaks_off_is_asked_again() {
    let broken = "".to_owned() + StandIn::THEN_CLOSES;
    let server = StandIn::answering(vec![broken.clone(), broken, object("lamp")]);
    run(async {
        let storage = storage(&server.url(), 3, Timeouts::default());
        assert_eq!(read(&storage, "blobs/1").await.unwrap(), "lamp");
        let away = nobody();
        let error = read(&self::storage(&away, 2, Timeouts::default()), "blobs/1").await.unwrap_err().to_string();
        assert!(error.contains("after 2 retries") && error.contains("nothing listens on"), "{error}");
    });
}

#[test]
fn a_long_pause_that_the_server_asks_for_is_told_at_once() {
    let busy = "HTTP/1.1 503 Slow Down\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n".to_owned();
    let server = StandIn::answering(vec![busy, object("lamp")]);
    let storage = storage(&server.url(), 5, Timeouts::default());
    let error = run(read(&storage, "blobs/1")).unwrap_err().to_string();
    assert!(error.contains("requested a pause until"), "{error}");
    assert_eq!(server.heads().len(), 1, "no further call was made");
}

#[test]
fn a_short_pause_is_waited_for() {
    let busy = "HTTP/1.1 503 Slow Down\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n".to_owned();
    let server = StandIn::answering(vec![busy, object("lamp")]);
    // The retry comes a millisecond later. While a host is paused, a call that does not wait fails.
    let storage = storage(&server.url(), 1, Timeouts::default());
    assert_eq!(run(read(&storage, "blobs/1")).unwrap(), "lamp");
    assert_eq!(server.heads().len(), 2);
}

#[test]
fn a_server_that_hangs_holds_up_one_call_and_not_all() {
    let server = StandIn::answering(vec![StandIn::SILENCE.to_owned()]);
    let storage = storage(&server.url(), 5, with_short_waits());
    run(async {
        let error = read(&storage, "blobs/1").await.unwrap_err().to_string();
        assert!(error.contains("circuit") && error.contains("did not answer within 300 ms"), "{error}");
        let error = read(&storage, "blobs/2").await.unwrap_err().to_string();
        assert!(error.contains("circuit"), "{error}");
    });
    assert_eq!(server.heads().len(), 1, "the next calls were not made");
}

#[test]
fn a_download_that_stops_in_the_middle_is_an_error() {
    let half = object("lamp").replace("Content-Length: 4", "Content-Length: 9") + StandIn::SILENCE;
    let server = StandIn::answering(vec![half]);
    let storage = storage(&server.url(), 0, with_short_waits());
    let error = run(read(&storage, "blobs/1")).unwrap_err();
    let mut text = String::new();
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    while let Some(error) = cause {
        text += &error.to_string();
        cause = error.source();
    }
    assert!(text.contains("did not answer within 300 ms"), "{text}");
}

#[test]
fn without_tls_only_a_server_is_called_that_the_operator_named_so() {
    let server = StandIn::answering(vec![object("lamp")]);
    let builder = AmazonS3Builder::new().with_bucket_name("packages").with_endpoint(server.url());
    let builder = builder.with_access_key_id("lamp").with_secret_access_key("open-sesame-1");
    let storage = builder.with_http_connector(connector(Timeouts::default())).build().unwrap();
    let error = run(read(&storage, "blobs/1")).unwrap_err().to_string();
    assert!(error.contains("is not a URL of the form `https://host:port/path`"), "{error}");
    assert!(server.heads().is_empty());
}

#[test]
fn a_cloud_gives_the_machine_its_credentials() {
    let role = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nreader".to_owned();
    let token = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ntoken".to_owned();
    let keys = "{\"AccessKeyId\":\"ROLE\",\"SecretAccessKey\":\"S\",\"Token\":\"T\",\"Expiration\":\"2126-11-29T00:00:00Z\",\"Code\":\"Success\",\"LastUpdated\":\"2026-11-29T00:00:00Z\",\"Type\":\"AWS-HMAC\"}";
    let keys = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{keys}", keys.len());
    let (cloud, server) = (StandIn::answering(vec![token, role, keys]), StandIn::answering(vec![object("lamp")]));
    let storage = AmazonS3Builder::new()
        .with_bucket_name("packages")
        .with_endpoint(server.url())
        .with_allow_http(true)
        .with_metadata_endpoint(cloud.url())
        .with_http_connector(connector(Timeouts::default()))
        .build()
        .unwrap();
    assert_eq!(run(read(&storage, "blobs/1")).unwrap(), "lamp");
    assert!(server.heads()[0].contains("Credential=ROLE/"), "{:?}", server.heads());
}
