//! `/metrics` is sent with gzip to clients that ask for it, and is the same page.

use crate::world::World;
use std::io::Read as _;

/// The names of the families of a page.
fn families(page: &str) -> Vec<&str> {
    page.lines().filter(|line| line.starts_with("# TYPE")).collect()
}

#[test]
fn metrics_are_compressed_for_clients_that_accept_it() {
    let world = World::start();
    let ask = |method: &str, accepts: &str| {
        let answer = world.anon().ask(method, "/metrics", &[("Accept-Encoding", accepts)], b"");
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("vary"), Some("accept-encoding"));
        assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        assert_eq!(answer.header("etag"), None, "it changes with each answer");
        answer
    };
    let plain = ask("GET", "identity");
    assert_eq!(plain.header("content-encoding"), None);
    // As Prometheus sends it.
    let zipped = ask("GET", "gzip");
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    assert!(zipped.body.len() < plain.body.len() / 4, "{} of {} bytes", zipped.body.len(), plain.body.len());
    let mut text = String::new();
    flate2::read::GzDecoder::new(&zipped.body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(families(&text), families(plain.text()));
    let head = ask("HEAD", "gzip");
    assert_eq!((head.header("content-encoding"), head.body.len()), (Some("gzip"), 0));
    assert!(head.header("content-length").unwrap().parse::<usize>().unwrap() > 1000);
    assert_eq!(ask("GET", "gzip;q=0").header("content-encoding"), None);
}
