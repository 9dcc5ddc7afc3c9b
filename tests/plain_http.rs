//! Plain HTTP beside TLS (`server.http_listen`) without an authority: readers are sent to `https`, and everything else is refused.

use crate::tls::{Certificate, curl};
use crate::world::{Connection, FIRST, World, await_true};
use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::process::Command;

/// A server with TLS, and its certificate.
struct Served {
    certificate: Certificate,
    world: World,
}

impl Served {
    /// With this address for plain HTTP, and these further settings of its server.
    fn start(http_listen: &str, more: &str) -> Self {
        let certificate = Certificate::new();
        let world = World::start_with_file(&settings(&certificate, http_listen, more));
        Self { certificate, world }
    }

    /// The address of plain HTTP.
    fn http(&self) -> SocketAddr {
        let line = self.world.said().iter().rev().find_map(|line| line.strip_prefix("plain HTTP on http://"));
        line.unwrap().parse().unwrap()
    }

    fn plain(&self) -> Connection {
        Connection::open(self.http()).unwrap()
    }

    /// The body that a client with TLS gets.
    fn secure(&self, path: &str) -> String {
        String::from_utf8(curl(&self.world, &self.certificate.file(), path, &[]).stdout).unwrap()
    }
}

fn settings(certificate: &Certificate, http_listen: &str, more: &str) -> String {
    let http = if http_listen.is_empty() { String::new() } else { format!("http_listen = \"{http_listen}\"\n") };
    certificate.settings() + &http + more
}

#[test]
fn every_get_and_head_is_sent_to_the_same_path_with_https_and_clients_follow() {
    let served = Served::start("127.0.0.1:0", "");
    let secure = format!("https://{}", served.world.address());
    let mut plain = served.plain();
    for path in ["/", "/repository/gems/versions?a=b%20c", "/health/live", "/metrics", "/no/such?x", "/a%2Fb"] {
        for method in ["GET", "HEAD"] {
            let sent = plain.call(method, path, &[], b"").unwrap().expect(308);
            assert_eq!(sent.header("location"), Some(&*format!("{secure}{path}")));
            assert_eq!(sent.header("cache-control"), Some("no-store"));
            assert!(sent.header("daylight-event").is_some());
        }
    }
    let other = plain.call("GET", "/a", &[("Host", "Gems.Example")], b"").unwrap().expect(308);
    assert_eq!(other.header("location"), Some("https://gems.example/a"), "its ports are published as 80 and 443");
    plain.call("GET", "/a", &[("Host", "a b")], b"").unwrap().expect(400);

    let url = format!("http://{}/health/live", served.http());
    for (more, version) in [("--http1.1", "1.1"), ("--http2-prior-knowledge", "2")] {
        let followed = Command::new("curl")
            .args([
                "--silent",
                "--location",
                "--max-time",
                "60",
                more,
                "--write-out",
                " %{http_version} %{url_effective}",
            ])
            .arg("--cacert")
            .arg(served.certificate.file())
            .arg(&url)
            .output()
            .unwrap();
        let told = String::from_utf8(followed.stdout).unwrap();
        assert_eq!(told, format!("alive\n {version} {secure}/health/live"), "HTTP/2 over TLS is as without plain HTTP");
    }
}

#[test]
fn the_public_url_is_that_of_redirects() {
    let served = Served::start("127.0.0.1:0", "public_url = \"https://gems.example:8443\"\n");
    let sent = served.plain().call("GET", "/a?b", &[], b"").unwrap().expect(308);
    assert_eq!(sent.header("location"), Some("https://gems.example:8443/a?b"));
}

#[test]
fn other_methods_are_refused_before_their_body_and_a_token_in_the_clear_is_told_once() {
    let served = Served::start("127.0.0.1:0", "");
    let (path, secure) = (format!("/repository/{FIRST}/api/v1/gems"), served.world.address());
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let refused = served.plain().call(method, &path, &[], b"").unwrap().expect(405);
        assert_eq!(refused.header("allow"), Some("GET, HEAD"));
        assert_eq!(refused.phrase, "plain HTTP takes no changes; use https");
        let hint = format!("hint: use `https://{secure}{path}`\n");
        assert!(refused.text().ends_with(&hint), "{}", refused.text());
    }
    assert!(!served.world.log().contains("credentials over plain HTTP"));

    let secret = served.world.admin().secret().to_owned();
    for _ in 0..2 {
        let mut plain = served.plain();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {secure}\r\nAuthorization: {secret}\r\nUser-Agent: RubyGems/3.5.22\r\n\
             Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n"
        );
        plain.send(head.as_bytes()).unwrap();
        let mut reply = String::new();
        // No byte of the body was sent, so the server does not wait for one, and ends the connection.
        plain.stream().read_to_string(&mut reply).unwrap();
        assert!(
            reply.starts_with("HTTP/1.1 405 plain HTTP takes no changes; use https and a new token\r\n"),
            "{reply}"
        );
        assert!(reply.contains("remove it and make a new one (`daylight token`)"), "{reply}");
    }
    // The log is written behind the replies.
    served.world.await_log("a client sent credentials over plain HTTP");
    let log = served.world.log();
    assert_eq!(log.matches("a client sent credentials over plain HTTP").count(), 1, "{log}");
    assert!(log.contains("RubyGems/3.5.22") && !log.contains(&secret), "{log}");
    // A redirect does not take a token back either.
    let sent = served.plain().call("GET", &path, &[("Authorization", &secret)], b"").unwrap().expect(308);
    assert!(!sent.header("location").unwrap().contains(&secret));
}

#[test]
fn without_an_order_no_token_of_an_authority_is_answered_or_redirected() {
    let served = Served::start("127.0.0.1:0", "");
    let mut plain = served.plain();
    for method in ["GET", "HEAD"] {
        let none = plain.call(method, "/.well-known/acme-challenge/abc-DEF_1", &[], b"").unwrap().expect(404);
        assert_eq!(none.header("location"), None);
        assert_eq!(none.header("cache-control"), Some("no-store"));
    }
    plain.call("POST", "/.well-known/acme-challenge/abc", &[], b"").unwrap().expect(405);
    for path in
        ["/.well-known/acme-challenge/", "/.well-known/acme-challenge/..%2Fkey", "/.well-known/acme-challenge/a/b"]
    {
        plain.call("GET", path, &[], b"").unwrap().expect(308);
    }
    assert!(served.secure("/health/live") == "alive\n");
}

#[test]
fn plain_http_has_the_limits_of_the_server_and_an_authority_gets_through() {
    let served = Served::start("127.0.0.1:0", "max_connections = 1\n");
    let long = format!("/{}", "a".repeat(9000));
    served.plain().call("GET", &long, &[], b"").unwrap().expect(414);
    let header = "a".repeat(40_000);
    let mut plain = served.plain();
    plain.call("GET", "/", &[("X-Long", &header)], b"").unwrap().expect(431);
    drop(plain);
    let mut odd = served.plain();
    odd.send(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").unwrap();
    odd.answer(false).unwrap().expect(400);
    drop(odd);
    let mut first = served.plain();
    await_true("the connections before have ended", || {
        first.call("GET", "/", &[], b"").is_ok_and(|told| {
            let open = told.status == 308;
            if !open {
                first = served.plain();
            }
            open
        })
    });
    served.plain().call("GET", "/", &[], b"").unwrap().expect(503);
    served.plain().call("GET", "/.well-known/acme-challenge/abc", &[], b"").unwrap().expect(404);
}

#[test]
fn a_restart_in_place_keeps_both_sockets_and_follows_the_settings() {
    let mut served = Served::start("127.0.0.1:0", "");
    let before = served.http();
    let mut waiting = served.plain();
    waiting.call("GET", "/", &[], b"").unwrap().expect(308);
    served.world.restart();
    assert_eq!(served.http(), before);
    served.plain().call("GET", "/", &[], b"").unwrap().expect(308);
    assert_eq!(served.secure("/health/live"), "alive\n");

    // An address that cannot be bound ends no server.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    served.world.configure(&settings(&served.certificate, &taken.local_addr().unwrap().to_string(), ""));
    served.world.reload("`server.http_listen` has changed: restart the server");
    served.world.restart_in_vain();
    assert!(
        served.world.log().contains("`server.http_listen` has changed: cannot listen on"),
        "{}",
        served.world.log()
    );
    served.plain().call("GET", "/", &[], b"").unwrap().expect(308);

    let free = taken.local_addr().unwrap();
    drop(taken);
    served.world.restart();
    assert_eq!(served.http(), free);
    served.plain().call("GET", "/", &[], b"").unwrap().expect(308);
    assert!(Connection::open(before).is_err(), "the former address is closed");

    served.world.configure(&settings(&served.certificate, "", ""));
    served.world.restart();
    assert!(Connection::open(free).is_err(), "the settings have no plain HTTP");
    assert_eq!(served.secure("/health/live"), "alive\n");
    served.world.stop();
}

#[test]
fn plain_http_without_a_certificate_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let refused = crate::world::program(&["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()])
        .env("DAYLIGHT_SERVER_HTTP_LISTEN", "127.0.0.1:0")
        .output()
        .unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("`server.http_listen` redirects to `https`"), "{said}");
    assert!(!data.exists());
}
