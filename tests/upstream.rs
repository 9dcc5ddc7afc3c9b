//! Tests of the stand-in upstream itself.

use crate::world::{Answer, Connection, Says, Upstream};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

fn ask(upstream: &Upstream, method: &str, path: &str, headers: &[(&str, &str)]) -> io::Result<Answer> {
    Connection::open(upstream.address())?.call(method, path, headers, b"")
}

fn get(upstream: &Upstream, path: &str) -> io::Result<Answer> {
    ask(upstream, "GET", path, &[])
}

#[test]
fn it_says_what_it_was_told_and_remembers_what_it_was_asked() {
    let upstream = Upstream::start();
    assert_eq!(upstream.url(), format!("http://{}/", upstream.address()));
    get(&upstream, "/a").unwrap().expect(404);
    upstream.file("/a", "abc");
    let answer = get(&upstream, "/a").unwrap().expect(200);
    assert_eq!(answer.header("etag"), Some("\"a9993e364706816aba3e25717850c26c9cd0d89d\""));
    assert_eq!(answer.text(), "abc");
    let etag = answer.header("etag").unwrap();
    ask(&upstream, "GET", "/a", &[("If-None-Match", etag)]).unwrap().expect(304);
    ask(&upstream, "GET", "/a", &[("If-None-Match", "\"other\"")]).unwrap().expect(200);
    let head = ask(&upstream, "HEAD", "/a", &[]).unwrap().expect(200);
    assert_eq!((head.header("content-length"), head.body.len()), (Some("3"), 0));
    upstream.forget("/a");
    get(&upstream, "/a").unwrap().expect(404);
    assert_eq!(upstream.count("/a"), 6);
    let asked = upstream.asked();
    assert_eq!((asked[2].header("if-none-match"), asked[4].method.as_str()), (Some(etag), "HEAD"));

    upstream.says("/b", Says::status(429).header("Retry-After", "7"));
    assert_eq!(get(&upstream, "/b").unwrap().expect(429).header("retry-after"), Some("7"));
    upstream.says("/b", Says::redirect("/c"));
    assert_eq!(get(&upstream, "/b").unwrap().expect(302).header("location"), Some("/c"));
    upstream.says_otherwise(Says::html());
    assert_eq!(get(&upstream, "/c").unwrap().expect(200).header("content-type"), Some("text/html"));
    upstream.says("/c", Says::bytes("abc").chunked());
    assert_eq!(get(&upstream, "/c").unwrap().text(), "abc");
    upstream.says("/c", Says::bytes("abc").announces(2));
    assert_eq!(get(&upstream, "/c").unwrap().text(), "ab");
    upstream.says("/c", Says::bytes("abc").cut_after(1));
    assert_eq!(get(&upstream, "/c").unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn it_holds_until_it_is_released() {
    let upstream = Upstream::start();
    let both = [Says::bytes("abc").silent(), Says::bytes("abc").held_at(1)];
    for says in both {
        upstream.says("/a", says);
        let before = upstream.count("/a");
        thread::scope(|scope| {
            let answer = scope.spawn(|| get(&upstream, "/a").unwrap());
            upstream.await_count("/a", before + 1);
            assert!(!answer.is_finished());
            upstream.release("/a");
            assert_eq!(answer.join().unwrap().expect(200).text(), "abc");
        });
    }
    upstream.says("/a", Says::bytes("abc").drips(1, Duration::from_millis(20)));
    let began = Instant::now();
    assert_eq!(get(&upstream, "/a").unwrap().text(), "abc");
    assert!(began.elapsed() >= Duration::from_millis(40));
}

#[test]
fn nobody_listens_while_it_is_unplugged() {
    let upstream = Upstream::start();
    upstream.says("/a", Says::bytes("abc").held_at(1));
    thread::scope(|scope| {
        let cut = scope.spawn(|| get(&upstream, "/a"));
        upstream.await_count("/a", 1);
        upstream.unplug();
        assert!(cut.join().unwrap().is_err(), "it was cut in the middle");
    });
    assert_eq!(get(&upstream, "/a").unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    upstream.plug();
    upstream.file("/a", "abc");
    get(&upstream, "/a").unwrap().expect(200);
}
