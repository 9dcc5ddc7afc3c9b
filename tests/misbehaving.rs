//! The behaviour of Daylight if an upstream misbehaves: the answer to a client with and without a cached copy, the
//! changes of the cache, and the content of the event. `docs/upstreams.md` has it as a table, which this test compares.

use crate::pages::events;
use crate::world::{Answer, Says, Upstream, World, hex};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

const ARTIFACT: &str = "example/lamp/1.0/lamp-1.0.jar";
const METADATA: &str = "example/lamp/maven-metadata.xml";
const BODY: &[u8] = b"\x50\x4b\x03\x04 and so on, for long enough that it can be cut";
/// Large enough to be sent on while it arrives, when it breaks off in the middle too.
const LARGE: usize = 4 << 20;
const BROKEN: &[u8] = b"<metadata><versioning>";
const GOOD: &str = "<metadata><groupId>example</groupId><artifactId>lamp</artifactId><versioning><versions>\
    <version>1.0</version></versions></versioning></metadata>";

/// A fault: its name in the table, and the function that causes it at a path.
pub(crate) type Way = (&'static str, fn(&Upstream, &str));

pub(crate) const WAYS: [Way; 20] = [
    ("404", |upstream, path| upstream.says(path, Says::status(404))),
    ("410", |upstream, path| upstream.says(path, Says::status(410))),
    ("401", |upstream, path| upstream.says(path, Says::status(401).header("WWW-Authenticate", "Basic realm=\"x\""))),
    ("403", |upstream, path| upstream.says(path, Says::status(403))),
    ("429, `Retry-After: 30`", |upstream, path| upstream.says(path, Says::status(429).header("Retry-After", "30"))),
    ("500", |upstream, path| upstream.says(path, Says::status(500))),
    ("503, `Retry-After: 30`", |upstream, path| upstream.says(path, Says::status(503).header("Retry-After", "30"))),
    ("says nothing at all", |upstream, path| upstream.says(path, Says::bytes(BODY).silent())),
    ("says nothing after half of the body", |upstream, path| upstream.says(path, Says::bytes(BODY).held_at(20))),
    ("sends a byte now and then", |upstream, path| {
        upstream.says(path, Says::bytes(BODY).drips(1, Duration::from_millis(100)));
    }),
    ("closes after half of the body", |upstream, path| upstream.says(path, Says::bytes(BODY).cut_after(20))),
    ("closes after half of the body, of unknown length", |upstream, path| {
        upstream.says(path, Says::bytes(BODY).chunked().cut_after(20));
    }),
    ("other bytes than its `X-Checksum-SHA1`", |upstream, path| {
        upstream.says(path, Says::bytes(BODY).header("X-Checksum-SHA1", &hex(&Sha1::digest(b"others"))));
    }),
    ("other bytes than its `.sha1`", |upstream, path| {
        upstream.says(path, Says::bytes(BODY));
        upstream.says(&format!("{path}.sha1"), Says::bytes(hex(&Sha1::digest(b"others"))));
    }),
    ("closes after half of a large body", |upstream, path| {
        upstream.says(path, large(path).cut_after(LARGE / 2));
    }),
    ("other large bytes than its `X-Checksum-SHA1`", |upstream, path| {
        upstream.says(path, large(path).header("X-Checksum-SHA1", &hex(&Sha1::digest(b"others"))));
    }),
    ("200 with a page for people", |upstream, path| upstream.says(path, Says::html())),
    ("redirects in a circle", |upstream, path| upstream.says(path, Says::redirect(path))),
    ("broken XML", |upstream, path| upstream.says(path, Says::bytes(BROKEN))),
    ("nobody listens", |upstream, _| upstream.unplug()),
];

/// Of the artifact only a part comes before the reply to the client has begun.
fn large(path: &str) -> Says {
    let says = Says::bytes(vec![b'x'; LARGE]);
    if path.ends_with(ARTIFACT) { says.held_at(LARGE / 4) } else { says }
}

/// The observations for one fault.
struct Seen {
    name: &'static str,
    /// For an artifact that is not cached.
    artifact: String,
    /// For metadata with a cached copy whose TTL has ended.
    metadata: String,
    /// For the artifact, as soon as the upstream has recovered.
    after: String,
}

/// The answer to a client, without the parts that differ from run to run.
fn told(answer: &io::Result<Answer>) -> String {
    let Ok(answer) = answer else { return "the connection breaks".to_owned() };
    let mut told = answer.status.to_string();
    if let Some(seconds) = answer.header("retry-after") {
        let seconds: u64 = seconds.parse().unwrap();
        told += if (1..=30).contains(&seconds) { ", `Retry-After`" } else { ", a strange `Retry-After`" };
    }
    if let Some(why) = answer.header("daylight-stale") {
        told += &format!(", `Daylight-Stale: {why}`");
    }
    told
}

fn see(world: &World, number: usize, (name, misbehave): Way) -> Seen {
    let upstream = Upstream::start();
    let repository = standing_for(number);
    let remote = json!({ "urls": [upstream.url()], "fresh_s": 0 });
    world.make(&json!({ "name": repository, "format": "maven", "kind": "remote", "remote": remote }));
    let get = |path: &str| {
        let anon = world.anon();
        anon.on(&mut anon.connect()?, "GET", &format!("/repository/{repository}/{path}"), &[], b"")
    };
    let there = |path: &str| format!("/{path}");
    upstream.file(&there(METADATA), GOOD);
    assert_eq!(get(METADATA).unwrap().expect(200).text(), GOOD);

    misbehave(&upstream, &there(ARTIFACT));
    let first = released(world, &format!("/repository/{repository}/{ARTIFACT}"), &upstream);
    misbehave(&upstream, &there(METADATA));
    let aged = get(METADATA);
    upstream.plug();
    upstream.forget(&format!("/{ARTIFACT}.sha1"));
    upstream.file(&there(ARTIFACT), BODY);
    let after = get(ARTIFACT);
    for answer in [&first, &after].into_iter().flatten() {
        let sent = [BODY, BROKEN].contains(&&*answer.body);
        assert!(answer.status != 200 || sent, "{name}: what comes whole is what was sent");
        let named = String::from_utf8_lossy(&answer.body).contains(&upstream.address().to_string());
        assert!(!named, "{name}: strangers are not told where the upstream is");
    }
    Seen { name, artifact: told(&first), metadata: told(&aged), after: told(&after) }
}

/// The answer for the artifact. Once it begins, the upstream sends the rest, if it held that back.
fn released(world: &World, path: &str, upstream: &Upstream) -> io::Result<Answer> {
    let mut connection = world.anon().connect()?;
    connection.send(format!("GET {path} HTTP/1.1\r\nHost: daylight.test\r\n\r\n").as_bytes())?;
    connection.stream().peek(&mut [0])?;
    upstream.release(&format!("/{ARTIFACT}"));
    connection.answer(false)
}

/// The outcome and the reason of the first request for the artifact of an upstream.
fn outcome(events: &[Value], upstream: usize) -> String {
    let path = format!("/repository/{}/{ARTIFACT}", standing_for(upstream));
    let of_it = events.iter().filter(|event| event["path"] == path.as_str());
    let event = of_it.min_by_key(|event| event["at"].as_str().unwrap()).unwrap();
    let word = |key: &str| event[key].as_str().filter(|word| !word.is_empty()).map(|word| format!("`{word}`"));
    [word("outcome"), word("reason")].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn standing_for(upstream: usize) -> String {
    format!("there-{upstream}")
}

fn table(seen: &[Seen], events: &[Value]) -> String {
    let mut table = "| the upstream | artifact | metadata | well again | event |\n|---|---|---|---|---|\n".to_owned();
    for (number, Seen { name, artifact, metadata, after }) in seen.iter().enumerate() {
        let event = outcome(events, number);
        table += &format!("| {name} | {artifact} | {metadata} | {after} | {event} |\n");
    }
    table
}

#[test]
fn the_table_in_the_docs_tells_what_daylight_makes_of_upstreams_that_misbehave() {
    let mut world = World::start_with(&[
        ("DAYLIGHT_UPSTREAM_ANSWER_TIMEOUT_S", "1"),
        ("DAYLIGHT_UPSTREAM_IDLE_TIMEOUT_S", "1"),
        ("DAYLIGHT_UPSTREAM_SLOW_TIMEOUT_S", "2"),
    ]);
    let seen: Vec<Seen> = WAYS.into_iter().enumerate().map(|(number, way)| see(&world, number, way)).collect();
    world.stop();
    let table = table(&seen, &events(&world));

    for Seen { name, artifact, metadata, after, .. } in &seen {
        let proven = *name == "404" || *name == "410";
        assert_eq!(artifact.starts_with("404"), proven, "{name}: {artifact}");
        // The circuit is open for a while after a hang, and after a request for a pause.
        let paused = name.contains("Retry-After") || *name == "says nothing at all";
        // The content of an artifact is not checked.
        let good = artifact.starts_with("200");
        assert_eq!(good, *name == "broken XML", "{name}: {artifact}");
        let well = after.starts_with("200");
        assert_eq!(well, !proven && !paused, "{name}: only a proof, a pause and a time-out are remembered: {after}");
        assert!(proven || metadata.starts_with("200, `Daylight-Stale"), "{name}: {metadata}");
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/upstreams.md");
    let docs = fs::read_to_string(file).unwrap();
    let rows = docs.lines().skip_while(|line| !line.starts_with("| the upstream |"));
    let told: String = rows.take_while(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect();
    assert!(told == table, "docs/upstreams.md says\n{told}\nand this was observed:\n{table}");
}
