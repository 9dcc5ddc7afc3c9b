//! Pages from the side of clients: compressed on request, replaced after a change, and shared by all queries without
//! effect.

use crate::accounts::sum;
use crate::world::{Answer, FIRST, Gem, Person, Ruby, World, hex};
use flate2::read::GzDecoder;
use md5::{Digest, Md5};
use serde_json::Value;
use std::io::Read;

const GZIP: &[(&str, &str)] = &[("Accept-Encoding", "gzip;q=1.0,deflate;q=0.6,identity;q=0.3")];

fn path(what: &str) -> String {
    format!("/repository/{FIRST}/{what}")
}

/// Repeats a request until the answer is compressed. That takes milliseconds and is not guaranteed.
fn compressed(person: &Person, path: &str) -> Answer {
    let connection = &mut person.connect().unwrap();
    let mut answers = (0..20_000).map(|_| person.on(connection, "GET", path, GZIP, b"").unwrap().expect(200));
    answers.find(|answer| answer.header("content-encoding") == Some("gzip")).unwrap()
}

fn unpacked(answer: &Answer) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(&answer.body[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

fn tag(body: &[u8]) -> String {
    format!("\"{}\"", hex(&Md5::digest(body)))
}

/// A gem with enough versions that compressing its index is worth it.
fn shelf() -> World {
    let world = World::start();
    for minor in 0..30 {
        world.admin().push(FIRST, &Gem::new("lamp", &format!("1.{minor}.0"))).expect(200);
    }
    world
}

/// Every event of a stopped server.
pub(crate) fn events(world: &World) -> Vec<Value> {
    let lines: String = world.event_lines().into_iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The event of the request with this answer.
fn event<'a>(events: &'a [Value], answer: &Answer) -> &'a Value {
    let id = answer.header("daylight-event").unwrap();
    events.iter().find(|event| event["id"] == id).unwrap()
}

/// The content of an answer, without its own id and date.
fn told(answer: &Answer) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let mut headers = answer.headers.clone();
    headers.retain(|(name, _)| name != "date" && name != "daylight-event");
    headers.sort();
    (answer.status, headers, answer.body.clone())
}

/// The content of an event, without its own id and times.
fn recorded(event: &Value) -> Value {
    let mut event = event.clone();
    let fields = event.as_object_mut().unwrap();
    // The one that took longer may show a fault best, and is then stored because of that.
    let differs = ["id", "at", "first_byte_ms", "duration_ms", "unaccounted_ms", "kept_because", "weight"];
    fields.retain(|name, _| !differs.contains(&name.as_str()));
    let ops: Vec<String> = fields["ops"].as_object().unwrap().keys().cloned().collect();
    fields.insert("ops".to_owned(), ops.into());
    event
}

#[test]
fn a_page_is_the_same_for_a_plain_question_and_for_one_that_goes_the_whole_way() {
    let mut world = shelf();
    let anon = world.anon();
    compressed(&anon, &path("info/lamp"));
    let agent = ("User-Agent", "tester https://me:secret@host/");
    let asked = [
        ("GET", "info/lamp", &[agent][..]),
        ("GET", "info/lamp?made=up", &[]),
        ("GET", "info/lamp", GZIP),
        ("HEAD", "info/lamp", GZIP),
        ("HEAD", "info/lamp", &[]),
        ("GET", "info/nothing", &[agent]),
        ("HEAD", "info/nothing", &[]),
        ("GET", "info/lamp", &[("If-None-Match", "*")]),
        ("GET", "info/lamp", &[("Range", "bytes=0-9")]),
    ];
    let mut pairs = Vec::new();
    for (method, what, headers) in asked {
        for _ in 0..2 {
            anon.ask("GET", &path(what), headers, b"");
        }
        let plain = anon.ask(method, &path(what), headers, b"");
        let whole = anon.ask(method, &path(what), &[headers, &[("Content-Length", "0")][..]].concat(), b"");
        assert_eq!(told(&plain), told(&whole), "{method} {what} {headers:?}");
        pairs.push((plain, whole));
    }
    world.stop();
    let events = events(&world);
    for (plain, whole) in &pairs {
        let (plain, whole) = (event(&events, plain), event(&events, whole));
        assert_eq!(plain["layer"], "page");
        assert_eq!(recorded(plain), recorded(whole));
    }
}

#[test]
fn a_large_page_is_sent_by_the_kernel_and_is_the_same_as_one_that_is_written() {
    let world = World::start();
    let bulky = |gem| (0..90).fold(gem, |gem: Gem, number| gem.needs(&format!("shade-of-a-kind-{number}"), ">= 1.0"));
    for minor in 0..16 {
        world.admin().push(FIRST, &bulky(Gem::new("lamp", &format!("1.{minor}.0")))).expect(200);
    }
    let copies = || {
        let metrics = world.admin().get("/metrics").expect(200);
        sum(metrics.text(), "daylight_bound_used{bound=\"pages.files\",which=\"\"}")
    };
    let path = path("info/lamp");
    let written = world.anon().ask("GET", &path, &[("Content-Length", "0")], b"").expect(200);
    assert!(written.body.len() > 24 << 10, "{}", written.body.len());
    assert_eq!(copies(), 0, "no request has come since it became a page");
    let connection = &mut world.anon().connect().unwrap();
    for _ in 0..6 {
        let sent = world.anon().on(connection, "GET", &path, &[], b"").unwrap().expect(200);
        assert_eq!(told(&sent), told(&written));
        let head = world.anon().on(connection, "HEAD", &path, &[], b"").unwrap().expect(200);
        assert_eq!((head.headers.len(), head.body.len()), (written.headers.len(), 0));
    }
    assert_eq!(copies(), 1);
    // A change removes the page and its compressed copy.
    world.admin().push(FIRST, &Gem::new("lamp", "2.0")).expect(200);
    assert!(world.anon().get(&path).expect(200).body.len() > written.body.len());
    assert_eq!(copies(), 0);
}

#[test]
fn a_compressed_index_has_the_tag_and_the_digest_of_what_it_decodes_to() {
    let world = shelf();
    let anon = world.anon();
    let plain = anon.get(&path("info/lamp")).expect(200);
    assert_eq!(plain.header("vary"), Some("accept-encoding"), "also where it is not compressed");
    let packed = compressed(&anon, &path("info/lamp"));
    assert!(packed.body.len() < plain.body.len());
    assert_eq!(unpacked(&packed), plain.body);
    let whole = tag(&plain.body);
    assert_eq!(packed.header("etag"), Some(&*format!("W/{whole}")));
    for name in ["repr-digest", "vary", "content-type"] {
        assert_eq!(packed.header(name), plain.header(name), "{name}");
    }
    let held = [GZIP, &[("If-None-Match", &whole)]].concat();
    let unchanged = anon.ask("GET", &path("info/lamp"), &held, b"").expect(304);
    assert_eq!((unchanged.header("vary"), unchanged.header("content-encoding")), (plain.header("vary"), None));
    let head = anon.ask("HEAD", &path("info/lamp"), GZIP, b"").expect(200);
    assert_eq!(head.header("content-length"), packed.header("content-length"));
    let beginning = tag(&plain.body[..21]);
    let part = [GZIP, &[("Range", "bytes=20-"), ("If-None-Match", &beginning)]].concat();
    let part = anon.ask("GET", &path("info/lamp"), &part, b"").expect(206);
    assert_eq!((part.body.as_slice(), part.header("content-encoding")), (&plain.body[20..], None));
}

#[test]
fn bundler_takes_compressed_indexes_and_finds_them_unchanged_and_grown() {
    let mut world = shelf();
    let (admin, anon) = (world.admin(), world.anon());
    let size = |what| anon.get(&path(what)).expect(200).body.len();
    let sizes = ["versions", "info/lamp"].map(size);
    compressed(&anon, &path("versions"));
    compressed(&anon, &path("info/lamp"));
    let desk = Ruby::new();
    let app = desk.app("app", &world.url(FIRST), "gem 'lamp'");
    app.bundle(&["install"]).good();
    assert!(app.lock().contains("lamp (1.29.0)"), "{}", app.lock());
    app.bundle(&["update"]).good();
    admin.push(FIRST, &Gem::new("lamp", "2.0.0")).expect(200);
    app.bundle(&["update"]).good();
    assert!(app.lock().contains("lamp (2.0.0)"), "{}", app.lock());

    world.stop();
    let asked: Vec<_> = events(&world)
        .iter()
        .filter(|event| event["agent"].as_str().is_some_and(|agent| agent.starts_with("bundler/")))
        .map(|event| {
            let what = event["path"].as_str().unwrap().replace(&path(""), "");
            (what, event["status"].as_u64().unwrap(), event["bytes_out"].as_u64().unwrap() as usize)
        })
        .filter(|(what, ..)| !what.starts_with("gems/"))
        .collect();
    let wanted = [("versions", 200), ("info/lamp", 200), ("versions", 304), ("versions", 206), ("info/lamp", 206)];
    let got: Vec<_> = asked.iter().map(|(what, status, _)| (what.as_str(), *status)).collect();
    assert_eq!(got, wanted);
    for (size, (what, _, sent)) in sizes.iter().zip(&asked) {
        assert!(sent < size, "{what} of {size} bytes was compressed: {sent} were sent");
    }
}

#[test]
fn a_missing_name_is_a_page_until_it_is_published() {
    let mut world = World::start();
    let anon = world.anon();
    let path = path("info/lamp");
    anon.get(&path).expect(404);
    let kept = anon.get(&path).expect(404);
    let hit = anon.get(&path).expect(404);
    assert_eq!(hit.body, kept.body);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    anon.get(&path).expect(200);
    world.stop();
    let events = events(&world);
    for (answer, layer) in [(&kept, "hosted"), (&hit, "page")] {
        let event = event(&events, answer);
        assert_eq!(event["layer"], layer);
        let told = ["outcome", "reason", "repository", "package", "file"].map(|field| event[field].as_str().unwrap());
        assert_eq!(told, ["not_found", "no_such_package", FIRST, "lamp", "info"]);
    }
}

#[test]
fn a_page_of_a_private_repository_holds_until_any_token_changes() {
    let mut world = World::start();
    world.repository("vault", true);
    world.admin().push("vault", &Gem::new("lamp", "1.0.0")).expect(200);
    let reader = world.person("reader", &["read"], &["vault"]);
    let path = "/repository/vault/info/lamp";
    reader.get(path).expect(200);
    let hit = reader.get(path).expect(200);
    // Another client makes the server read the table of tokens, so that the front knows this token.
    world.person("other", &["read"], &["vault"]).get(path).expect(200);
    let made_again = reader.get(path).expect(200);
    world.stop();
    let events = events(&world);
    let layers = [&hit, &made_again].map(|answer| event(&events, answer)["layer"].as_str().unwrap());
    assert_eq!(layers, ["page", "hosted"]);
}

#[test]
fn a_query_that_means_nothing_finds_the_page_without_it() {
    let mut world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let anon = world.anon();
    let plain = anon.get(&path("info/lamp")).expect(200);
    let answers = ["?a", "?b", "?c=d&e"].map(|query| anon.get(&(path("info/lamp") + query)).expect(200));
    world.stop();
    let events = events(&world);
    let layers = answers.each_ref().map(|answer| event(&events, answer)["layer"].as_str().unwrap());
    assert_eq!(layers, ["page"; 3]);
    assert!(answers.iter().all(|answer| answer.body == plain.body));
}
