//! Live events: over HTTP/1.1 and HTTP/2, for people and for programs.

mod command;

use crate::world::{FIRST, Gem, Person, World};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A stream of Server-Sent Events, with or without the framing of HTTP/1.1 around it.
pub(crate) struct Stream<R>(BufReader<R>);

impl<R: Read> Stream<R> {
    /// The next message: its name and its data; `None` at the end.
    pub(crate) fn message(&mut self) -> Option<(String, Value)> {
        let (mut name, mut data) = (String::new(), None);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(said) = line.strip_prefix("event: ") {
                name = said.trim_end().to_owned();
            } else if let Some(said) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str(said).unwrap());
            } else if line == "\n"
                && let Some(data) = data.take()
            {
                return Some((name, data));
            } else if line == "0\r\n" {
                // The last chunk.
                return None;
            }
        }
    }

    #[track_caller]
    fn event(&mut self) -> Value {
        let (name, data) = self.message().unwrap();
        assert_eq!(name, "", "{data}");
        data
    }
}

/// The path of a tail with this filter.
fn path(filter: &str) -> String {
    format!(
        "/api/v1/tail?where={}",
        filter.replace(' ', "+").replace('=', "%3D").replace('<', "%3C").replace('>', "%3E")
    )
}

/// Begins to listen over HTTP/1.1. Returns the head, too.
pub(crate) fn listen(person: &Person, filter: &str) -> (String, Stream<TcpStream>) {
    let mut connection = person.connect().unwrap();
    let (path, secret) = (path(filter), person.secret());
    connection.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: {secret}\r\n\r\n").as_bytes()).unwrap();
    let mut stream = BufReader::new(connection.stream().try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(stream.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let mut stream = Stream(stream);
    assert_eq!(stream.message().unwrap().0, "start", "{head}");
    (head, stream)
}

/// Begins to listen over HTTP/2.
fn listen_on_http2(world: &World, person: &Person, filter: &str) -> (Child, Stream<ChildStdout>) {
    let url = format!("http://{}{}", world.address(), path(filter));
    let mut curl = Command::new("curl")
        .args(["--silent", "--show-error", "--no-buffer", "--http2-prior-knowledge", "--fail", "--max-time", "120"])
        .args(["-H", &format!("Authorization: {}", person.secret()), &url])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stream = Stream(BufReader::new(curl.stdout.take().unwrap()));
    assert_eq!(stream.message().unwrap().0, "start");
    (curl, stream)
}

#[test]
fn an_event_reaches_those_who_chose_it_on_both_protocols_and_a_stop_ends_their_streams_well() {
    let mut world = World::start();
    let observer = world.person("observer", &["observe"], &[]);
    let (head, mut all) = listen(&observer, "");
    for header in [
        "content-type: text/event-stream",
        "cache-control: no-store",
        "x-accel-buffering: no",
        "transfer-encoding: chunked",
    ] {
        assert!(head.to_ascii_lowercase().contains(&format!("\r\n{header}\r\n")), "{head}");
    }
    let (_, mut missing) = listen(&observer, &format!("status = 404 and repository = {FIRST}"));
    let (mut curl, mut pushed) = listen_on_http2(&world, &observer, "file = push");
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let answer = world.anon().get(&format!("/repository/{FIRST}/info/oil")).expect(404);
    let id = answer.header("daylight-event").unwrap();

    let event = missing.event();
    assert_eq!(
        (event["id"].as_str(), &event["repository_kind"], &event["weight"]),
        (Some(id), &"hosted".into(), &1.into())
    );
    let event = pushed.event();
    assert_eq!((&event["package"], &event["status"], &event["format"]), (&"lamp".into(), &200.into(), &"gem".into()));
    // Events of two cores come in turns, among others.
    let mut awaited = vec![id.to_owned(), event["id"].as_str().unwrap().to_owned()];
    while !awaited.is_empty() {
        let event = all.event();
        awaited.retain(|id| event["id"] != id.as_str());
    }

    world.stop();
    while let Some((name, data)) = missing.message() {
        assert_eq!((name.as_str(), &data["sent"]), ("end", &1.into()));
    }
    let rest: Vec<String> = std::iter::from_fn(|| pushed.message()).map(|(name, _)| name).collect();
    assert_eq!(rest, ["end"]);
    assert!(curl.wait().unwrap().success(), "the stream has an end on HTTP/2, too");
}

#[test]
fn who_may_not_observe_or_asks_for_what_there_is_not_is_told_at_once() {
    let world = World::start();
    world.anon().get("/api/v1/tail").expect(401);
    world.person("reader", &["read"], &[]).get("/api/v1/tail").expect(403);
    let observer = world.person("observer", &["observe"], &[]);
    let refused = observer.get(&path("statsu = 200")).expect(400).json();
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("`where` cannot be read") && detail.contains("statsu"), "{refused}");
    observer.get("/api/v1/tail?all=perhaps").expect(400);
    // A reply to HEAD has no body, so nobody listens.
    for _ in 0..20 {
        observer.ask("HEAD", "/api/v1/tail", &[], b"").expect(200);
    }
    listen(&observer, "");
}

#[test]
fn a_place_is_free_again_when_its_listener_leaves() {
    let world = World::start_with(&[("DAYLIGHT_SERVER_MAX_TAILS", "1")]);
    let observer = world.person("observer", &["observe"], &[]);
    let (_, first) = listen(&observer, "");
    let refused = observer.get("/api/v1/tail").expect(503);
    assert!(refused.header("retry-after").is_some());
    assert!(refused.text().contains("server.max_tails"), "{}", refused.text());
    drop(first);
    // The server notices that the client has closed its connection.
    loop {
        let answer = observer.ask("HEAD", "/api/v1/tail", &[], b"");
        if answer.status == 200 {
            break;
        }
        answer.expect(503);
    }
    let (mut curl, _) = listen_on_http2(&world, &observer, "");
    observer.get("/api/v1/tail").expect(503);
    curl.kill().unwrap();
    curl.wait().unwrap();
    while observer.ask("HEAD", "/api/v1/tail", &[], b"").status == 503 {}
    listen(&observer, "");
}

#[test]
fn a_stream_goes_on_when_other_tokens_change_and_ends_when_its_own_is_revoked() {
    let world = World::start();
    let observer = world.person("observer", &["observe"], &[]);
    let (_, mut stream) = listen(&observer, "status = 404");
    world.person("other", &["observe"], &[]);
    world.anon().get("/nothing").expect(404);
    assert_eq!(stream.event()["path"], "/nothing");
    world.admin().ask("DELETE", "/api/v1/tokens/observer", &[], b"").expect(204);
    world.anon().get("/nothing-more").expect(404);
    while stream.message().is_some() {}
    observer.get("/api/v1/tail").expect(401);
}
