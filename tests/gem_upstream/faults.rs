//! The behaviour of Daylight if an upstream of gems misbehaves. `docs/gems-from-an-upstream.md` has it as a table,
//! which this test compares.

use super::shelf::good;
use super::stand_in::{GEM, INFO, State, line, package};
use crate::world::{Answer, Parts, Says, Upstream, World};
use format::gem::info::md5_hex;
use std::cell::Cell;
use std::fs;
use std::io;
use std::path::Path;

const INDEX: &str = "versions";

/// A fault: its name, the requested path, and the change of the upstream's answers.
struct Way(&'static str, &'static str, fn(&Upstream, &State));

fn versions(upstream: &Upstream, says: Says) {
    upstream.says("/versions", says);
}

fn info(upstream: &Upstream, says: Says) {
    upstream.says("/info/lamp", says);
}

/// An index with this line about the `/info` of `lamp`, whatever that file contains.
fn indexed(upstream: &Upstream, state: &State, line: &str) {
    let before = State::first().versions;
    versions(upstream, good(&format!("{before}lamp {line}\n")).parts(Parts::Right));
    info(upstream, good(&state.info));
}

const WAYS: &[Way] = &[
    Way("answers as it should", INDEX, |_, _| {}),
    Way("ignores `Range`", INDEX, |upstream, state| versions(upstream, good(&state.versions))),
    Way("a part that begins elsewhere than asked", INDEX, |upstream, state| {
        versions(upstream, good(&state.versions).parts(Parts::Shifted));
    }),
    Way("416 to every `Range`", INDEX, |upstream, state| {
        versions(upstream, good(&state.versions).parts(Parts::Refused));
    }),
    Way("an ETag that looks like an MD5 and is none", INDEX, |upstream, state| {
        let etag = "\"00112233445566778899aabbccddeeff\"";
        versions(upstream, Says::bytes(state.versions.as_str()).header("ETag", etag).parts(Parts::Right));
    }),
    Way("a weak ETag", INDEX, |upstream, state| {
        let etag = format!("W/\"{}\"", md5_hex(state.versions.as_bytes()));
        versions(upstream, Says::bytes(state.versions.as_str()).header("ETag", &etag).parts(Parts::Right));
    }),
    Way("an ETag that is a SHA-1", INDEX, |upstream, state| {
        versions(upstream, Says::file(state.versions.as_str()).parts(Parts::Right));
    }),
    Way("no ETag and no digest", INDEX, |upstream, state| {
        versions(upstream, Says::bytes(state.versions.as_str()).parts(Parts::Right));
    }),
    Way("gzip that was not asked for", INDEX, |upstream, state| {
        versions(upstream, good(&state.versions).header("Content-Encoding", "gzip"));
    }),
    Way("200 with a page for people", INDEX, |upstream, _| versions(upstream, Says::html())),
    Way("ends within a line", INDEX, |upstream, state| {
        versions(upstream, Says::bytes(&state.versions[..state.versions.len() - 20]));
    }),
    Way("ends too early, at the end of a line, with the digest of the whole", INDEX, |upstream, state| {
        let etag = format!("\"{}\"", md5_hex(state.versions.as_bytes()));
        versions(upstream, Says::bytes(State::first().versions).header("ETag", &etag));
    }),
    Way("ends too early, at the end of a line, and has no digest", INDEX, |upstream, _| {
        let text = State::first().versions;
        versions(upstream, Says::bytes(&text[..text.find("lamp").unwrap()]));
    }),
    Way("closes before the end", INDEX, |upstream, state| versions(upstream, good(&state.versions).cut_after(99))),
    Way("blank lines and lines that nobody can read", INDEX, |upstream, state| {
        let text = state.versions.replace("lamp 2.0.0", "\n\nbad line of no use\nlamp 2.0.0");
        versions(upstream, good(&text).parts(Parts::Right));
    }),
    Way("a line that has no MD5 yet", INDEX, |upstream, _| {
        versions(upstream, good(&format!("{}lamp 2.0.0 \n", State::first().versions)).parts(Parts::Right));
    }),
    Way("half of the names are gone", INDEX, |upstream, state| {
        let lines = state.versions.lines().filter(|line| !line.starts_with("oil") && !line.starts_with("wick"));
        versions(upstream, good(&lines.map(|line| format!("{line}\n")).collect::<String>()));
    }),
    Way("writes its file again, in one line for each gem", INDEX, |upstream, state| {
        let lines = state.versions.lines().filter(|line| !line.starts_with("lamp 1")).map(|line| format!("{line}\n"));
        versions(upstream, good(&lines.collect::<String>().replace("lamp 2.0.0", "lamp 1.0.0,2.0.0")));
    }),
    Way("404", INDEX, |upstream, _| upstream.forget("/versions")),
    Way("403", INDEX, |upstream, _| versions(upstream, Says::status(403))),
    Way("429, `Retry-After: 30`", INDEX, |upstream, _| {
        versions(upstream, Says::status(429).header("Retry-After", "30"));
    }),
    Way("503, `Retry-After: 30`", INDEX, |upstream, _| {
        versions(upstream, Says::status(503).header("Retry-After", "30"));
    }),
    Way("500", INDEX, |upstream, _| versions(upstream, Says::status(500))),
    Way("nobody listens", INDEX, |upstream, _| upstream.unplug()),
    Way("older than the index says", INFO, |upstream, _| info(upstream, good(&State::first().info))),
    Way("newer than the index says", INFO, |upstream, state| {
        info(upstream, good(&format!("{}{}", state.info, line("3.0.0", b"third"))));
    }),
    Way("the index says a wrong MD5", INFO, |upstream, state| indexed(upstream, state, &format!("2.0.0 {:032x}", 7))),
    Way("the index lists `0`", INFO, |upstream, state| {
        indexed(upstream, state, &format!("0 {}", md5_hex(state.info.as_bytes())));
    }),
    Way("an empty checksum", INFO, |upstream, state| {
        let text = state.info.replace("2.0.0 |", "2.0.0 |checksum:,ruby:>= 0\n2.1.0 |");
        let state = State { info: text, ..State::second() };
        indexed(upstream, &state, &format!("2.0.0,2.1.0 {}", md5_hex(state.info.as_bytes())));
    }),
    Way("a checksum that is too short", INFO, |upstream, state| {
        let text = format!("{}3.0.0 |checksum:0123\n", state.info);
        let state = State { info: text, ..State::second() };
        indexed(upstream, &state, &format!("2.0.0 {}", md5_hex(state.info.as_bytes())));
    }),
    Way("404 to a gem that is listed", INFO, |upstream, _| upstream.forget("/info/lamp")),
    Way("200 with a page for people", INFO, |upstream, _| info(upstream, Says::html())),
    Way("200 with a page for people, called text", INFO, |upstream, _| info(upstream, Says::bytes("<html>x"))),
    Way("ends within a line", INFO, |upstream, state| {
        info(upstream, Says::bytes(&state.info[..state.info.len() - 20]));
    }),
    Way("503, `Retry-After: 30`", INFO, |upstream, _| info(upstream, Says::status(503).header("Retry-After", "30"))),
    Way("500", INFO, |upstream, _| info(upstream, Says::status(500))),
    Way("other bytes than the index says", GEM, |upstream, _| {
        upstream.file("/gems/lamp-2.0.0.gem", "others");
    }),
    Way("replaced, and the index says so", GEM, |upstream, _| {
        upstream.file("/gems/lamp-2.0.0.gem", "others");
        let info = format!("---\n{}{}", line("1.0.0", &package("1.0.0")), line("2.0.0", b"others"));
        let versions = format!("{}lamp -2.0.0,2.0.0 {}\n", State::second().versions, md5_hex(info.as_bytes()));
        State { versions, info }.on(upstream);
        upstream.file("/gems/lamp-2.0.0.gem", "others");
    }),
    Way("404 to a gem that is listed", GEM, |upstream, _| upstream.forget("/gems/lamp-2.0.0.gem")),
    Way("500", GEM, |upstream, _| upstream.says("/gems/lamp-2.0.0.gem", Says::status(500))),
];

/// The observations for one fault.
struct Seen {
    way: &'static Way,
    /// With an empty cache.
    cold: String,
    /// With the file of a minute before in the cache.
    kept: String,
    /// The requests for the path that the upstream received in the second case.
    requests: usize,
    /// With a full cache, a minute after the upstream has recovered.
    after: String,
}

/// The server, with a clock that advances by a minute with each step.
struct Scene {
    world: World,
    minutes: Cell<u32>,
}

impl Scene {
    fn get(&self, repository: &str, path: &str) -> io::Result<Answer> {
        let anon = self.world.anon();
        anon.on(&mut anon.connect()?, "GET", &format!("/repository/{repository}/{path}"), &[], b"")
    }

    fn a_minute_later(&self) {
        self.minutes.set(self.minutes.get() + 2);
        let minutes = self.minutes.get();
        self.world.set_time(&format!("2026-11-02T{:02}:{:02}:00Z", 8 + minutes / 60, minutes % 60));
    }

    fn see(&self, number: usize, way: &'static Way) -> Seen {
        let Way(name, path, misbehave) = way;
        let (cold, kept) = (format!("cold-{number}"), format!("kept-{number}"));
        let upstream = Upstream::start();
        self.world.remote_of("gem", &cold, &upstream.url());
        State::second().on(&upstream);
        misbehave(&upstream, &State::second());
        let first = told(&self.get(&cold, path), path);
        drop(upstream);

        let upstream = Upstream::start();
        self.world.remote_of("gem", &kept, &upstream.url());
        let before = if *path == GEM { State::second() } else { State::first() };
        before.on(&upstream);
        for path in [INDEX, INFO, path] {
            self.get(&kept, path).unwrap().expect(200);
        }
        let asked = upstream.count(&format!("/{path}"));
        State::second().on(&upstream);
        misbehave(&upstream, &State::second());
        self.a_minute_later();
        let second = told(&self.get(&kept, path), path);
        let requests = upstream.count(&format!("/{path}")) - asked;
        upstream.plug();
        State::second().on(&upstream);
        self.a_minute_later();
        let after = told(&self.get(&kept, path), path);
        for told in [&first, &second, &after] {
            assert!(!told.starts_with("404") && !told.starts_with("403"), "{name}: {told}");
        }
        Seen { way, cold: first, kept: second, requests, after }
    }
}

/// What a client was told.
fn told(answer: &io::Result<Answer>, path: &str) -> String {
    let Ok(answer) = answer else { return "the connection breaks".to_owned() };
    let mut told = answer.status.to_string();
    if answer.status == 200 {
        let text = String::from_utf8_lossy(&answer.body);
        let (first, second) = (State::first(), State::second());
        told += match path {
            INDEX if text == second.versions => ", as the upstream",
            INDEX if text == first.versions => ", as before",
            INDEX if text.contains("lamp 2.0.0 ") || text.contains(",2.0.0 ") => ", the same in other lines",
            INFO if text == second.info => ", as the upstream",
            INFO if text == first.info => ", as before",
            INFO if text.contains("3.0.0 |checksum") => ", the newer one",
            INFO => ", what clients can read",
            _ if *answer.body == package("2.0.0") => ", the gem",
            _ if &*answer.body == b"others" => ", the new gem",
            _ => ", something else",
        };
    } else {
        assert!(!answer.text().contains("127.0.0.1"), "strangers are not told where the upstream is");
    }
    if answer.header("retry-after").is_some() {
        told += ", `Retry-After`";
    }
    if let Some(why) = answer.header("daylight-stale") {
        told += &format!(", `Daylight-Stale: {why}`");
    }
    told
}

fn table(seen: &[Seen]) -> String {
    let mut table = "| the upstream | of | with nothing kept | with a copy | requests | well again |\n\
                     |---|---|---|---|---|---|\n"
        .to_owned();
    for Seen { way: Way(name, path, _), cold, kept, requests, after } in seen {
        table += &format!("| {name} | `{path}` | {cold} | {kept} | {requests} | {after} |\n");
    }
    table
}

#[test]
fn the_table_in_the_docs_tells_what_daylight_makes_of_upstreams_of_gems_that_misbehave() {
    let scene = Scene { world: World::start_in_conformance(&[]), minutes: Cell::default() };
    let seen: Vec<Seen> = WAYS.iter().enumerate().map(|(number, way)| scene.see(number, way)).collect();
    let table = table(&seen);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gems-from-an-upstream.md");
    let docs = fs::read_to_string(file).unwrap_or_default();
    let (_, told) = docs.split_at(docs.find("| the upstream |").unwrap_or(docs.len()));
    assert!(told == table, "docs/gems-from-an-upstream.md says\n{told}\nand this was observed:\n{table}");
}
