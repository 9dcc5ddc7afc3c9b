//! Requests and replies are passed on right: methods, bodies, headers, hosts, sessions and timings.

use super::origin::{Origin, response};
use super::program::Front;
use super::rack::Rack;
use crate::filled::is_of_applications;
use sha2::{Digest, Sha256};
use std::io::Write as _;
use telemetry::BoundName;

#[test]
fn an_upload_arrives_whole_at_unicorn_and_at_puma_with_a_length_or_in_chunks() {
    let body: Vec<u8> = (0..3_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let digest = crate::world::hex(&Sha256::digest(&body));
    for rack in [Rack::unicorn(1), Rack::puma(2)] {
        let front = Front::to(&[&rack.url()]);
        let told = front.ask("POST", "/upload", &[("Content-Type", "application/octet-stream")], &body).expect(200);
        assert_eq!(told.text(), digest);
        let mut connection = front.connect();
        let head = "POST /upload HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/octet-stream\r\n";
        connection.send(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).unwrap();
        for piece in body.chunks(70_001) {
            connection.send(format!("{:x}\r\n", piece.len()).as_bytes()).unwrap();
            connection.send(piece).unwrap();
            connection.send(b"\r\n").unwrap();
        }
        connection.send(b"0\r\n\r\n").unwrap();
        assert_eq!(connection.answer(false).unwrap().expect(200).text(), digest);
    }
}

#[test]
fn each_method_arrives_with_its_target_its_body_and_the_host_as_it_was_sent() {
    let origin = Origin::saying(response("200 OK", &[], b"done"));
    let front = Front::to(&[&origin.url()]);
    let mut connection = front.connect();
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "M-SEARCH"] {
        let target = "/a%2Fb/./c;d=1?q=%20x&q=y";
        let body: &[u8] = if matches!(method, "GET" | "HEAD" | "OPTIONS") { b"" } else { b"a body" };
        if method == "HEAD" {
            continue;
        }
        connection.call(method, target, &[("Host", "Shop.example:8080")], body).unwrap().expect(200);
        let heard = origin.heard().pop().unwrap();
        assert_eq!((&*heard.method, &*heard.target, &*heard.body), (method, target, body));
        assert_eq!(heard.header("host").as_deref(), Some("Shop.example:8080"));
    }
}

#[test]
fn a_backend_hears_who_the_client_is_and_nothing_that_a_client_says_of_it() {
    let origin = Origin::saying(response("200 OK", &[], b"done"));
    let front = Front::to(&[&origin.url()]);
    let said = [
        ("Host", "shop.example"),
        ("X-Forwarded-For", "10.1.1.1"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-Host", "evil.example"),
        ("Forwarded", "for=10.1.1.1;host=evil.example"),
        ("X-Real-IP", "10.1.1.1"),
        ("X-Request-Start", "t=1"),
        ("Connection", "X-Secret-Hop, keep-alive"),
        ("X-Secret-Hop", "hop"),
        ("Keep-Alive", "timeout=5"),
        ("TE", "gzip"),
        ("X-Kept", "kept"),
    ];
    front.ask("GET", "/", &said, b"").expect(200);
    let heard = origin.heard().pop().unwrap();
    let header = |name: &str| heard.header(name).unwrap_or_default();
    assert_eq!(header("x-forwarded-for"), "127.0.0.1");
    assert_eq!(header("x-forwarded-proto"), "http");
    assert_eq!(header("x-forwarded-host"), "shop.example");
    assert_eq!(header("x-kept"), "kept");
    let start = header("x-request-start");
    assert!(start.starts_with("t=") && start.len() > 10, "{start}");
    for name in ["forwarded", "x-secret-hop", "keep-alive", "te"] {
        assert_eq!(heard.header(name), None, "{name}");
    }
    assert!(!heard.headers.iter().any(|(_, value)| value.contains("evil") || value.contains("10.1.1.1")), "{heard:?}");
}

#[test]
fn hop_headers_of_a_response_stay_here_and_the_others_reach_the_client() {
    let origin = Origin::start(|_, client| {
        let lines = [
            "Connection: X-Hop",
            "X-Hop: hop",
            "Keep-Alive: timeout=9",
            "X-Kept: one",
            "Set-Cookie: a=1",
            "Set-Cookie: b=2",
        ];
        client.write_all(&response("200 Fine", &lines, b"done")).map(|()| true)
    });
    let front = Front::to(&[&origin.url()]);
    let told = front.get("/").expect(200);
    assert_eq!((told.header("x-kept"), told.header("x-hop"), told.text()), (Some("one"), None, "done"));
    assert_ne!(told.header("keep-alive"), Some("timeout=9"));
    let cookies: Vec<&str> = told
        .headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
        .map(|(_, value)| &**value)
        .collect();
    assert_eq!(cookies, ["a=1", "b=2"]);
}

#[test]
fn trailers_and_early_hints_pass_through() {
    let origin = Origin::start(|_, client| {
        client.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </app.css>; rel=preload\r\n\r\n")?;
        client.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n4\r\ndone\r\n0\r\nX-Sum: 7\r\n\r\n")?;
        Ok(true)
    });
    let front = Front::to(&[&origin.url()]);
    let said = std::process::Command::new("curl")
        .args(["--silent", "--show-error", "--http2-prior-knowledge", "--dump-header", "-", "-H", "TE: trailers"])
        .arg(format!("http://{}/", front.address()))
        .output()
        .unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.starts_with("HTTP/2 103") && said.contains("link: </app.css>"), "{said}");
    assert!(said.contains("HTTP/2 200") && said.contains("x-sum: 7") && said.contains("done"), "{said}");
}

#[test]
fn a_session_is_kept_by_its_cookie_and_the_times_of_the_application_are_in_the_event() {
    let rack = Rack::puma(2);
    let front = Front::to(&[&rack.url()]);
    let told = front.get("/sign-in?user=ann").expect(302);
    let cookie = told.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(front.ask("GET", "/who", &[("Cookie", &cookie)], b"").expect(200).text(), "this is ann");
    assert_eq!(front.get("/who").expect(200).text(), "this is nobody");

    let timed = front.get("/timing").expect(200);
    assert_eq!(timed.text(), "timed");
    let event = front.event(&timed);
    assert!(event.to_string().contains("db;dur=12.5"), "{event}");
    assert_eq!(event["class"], "apps", "{event}");
}

#[test]
fn a_front_shows_every_bound_of_its_application_and_its_cache() {
    let config =
        "[[app]]\nto = \"http://127.0.0.1:9\"\n[app.pages]\nformat = \"hc1\"\nservers = \"memcached://127.0.0.1:9\"\n";
    let front = Front::configured(config);
    let figures = front.admin().get("/metrics").expect(200).text().to_owned();
    for bound in BoundName::ALL.iter().filter(|bound| is_of_applications(**bound)) {
        assert!(figures.contains(&format!("daylight_bound_info{{bound=\"{}\"", bound.as_str())), "{bound:?}");
    }
    assert!(figures.contains("daylight_cache_hits_total{cache=\"app.cache\"} 0"), "{figures}");
}
