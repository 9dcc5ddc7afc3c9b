//! The first `/versions` of an upstream: clients read it while it arrives, and get its end after the whole is verified.

use super::REMOTE;
use super::shelf::good;
use super::stand_in::State;
use crate::world::frames::{ALL, DATA, Ended, Frames, WINDOW_UPDATE};
use crate::world::{Client, Ruby, Says, Upstream, World};
use format::gem::info::md5_hex;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

crate::world::with_each_client!([bundler_takes_an_index_that_arrives_while_it_reads]);

/// The upstream sends this number of bytes of its index, and then waits.
const HELD_AT: usize = 150_000;

/// An index that is longer than the part that Daylight holds back.
fn long() -> State {
    let State { versions, info } = State::first();
    let line = |n: u32| format!("shade-{n} 1.0.0 {}\n", md5_hex(b"---\n1.0.0 |\n"));
    State { versions: versions + &(0..5_000).map(line).collect::<String>(), info }
}

fn before(upstream: &Upstream, says: Says) -> World {
    upstream.says("/versions", says.held_at(HELD_AT));
    let world = World::start();
    world.remote_of("gem", REMOTE, &upstream.url());
    world
}

/// A client that reads at its own pace.
struct Reader {
    stream: TcpStream,
    came: Vec<u8>,
}

impl Reader {
    fn ask(world: &World, headers: &str) -> Self {
        let mut stream = TcpStream::connect(world.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close";
        write!(stream, "GET /repository/{REMOTE}/versions {head}{headers}\r\n\r\n").unwrap();
        Self { stream, came: Vec::new() }
    }

    /// Reads until this number of bytes has arrived.
    fn read(mut self, bytes: usize) -> Self {
        let mut buffer = [0; 16 << 10];
        while self.came.len() < bytes {
            let len = self.stream.read(&mut buffer).unwrap();
            assert!(len > 0, "it ended: {}", String::from_utf8_lossy(&self.came));
            self.came.extend_from_slice(&buffer[..len]);
        }
        self
    }

    /// Reads until the connection ends. Returns the head, the body, and whether the body has its announced length.
    fn end(mut self) -> (String, String, bool) {
        let _ = self.stream.read_to_end(&mut self.came);
        let all = String::from_utf8(self.came).unwrap();
        let (head, body) = all.split_once("\r\n\r\n").unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        (head.to_owned(), body.to_owned(), length.parse() == Ok(body.len()))
    }
}

#[test]
fn the_first_index_reaches_all_who_ask_while_it_arrives_and_whoever_leaves_ends_nothing() {
    let (upstream, State { versions, .. }) = (Upstream::start(), long());
    let world = before(&upstream, good(&versions));
    let etag = format!("\"{}\"", md5_hex(versions.as_bytes()));
    // The first client leaves.
    drop(Reader::ask(&world, "").read(50_000));
    let some = Reader::ask(&world, "").read(100_000);
    let part = Reader::ask(&world, "\r\nRange: bytes=9-\r\nIf-None-Match: \"0\"").read(100_000);
    let path = format!("/repository/{REMOTE}/versions");
    let head = world.anon().ask("HEAD", &path, &[], b"").expect(200);
    assert_eq!(head.header("etag"), Some(etag.as_str()));
    world.anon().ask("GET", &path, &[("If-None-Match", &etag)], b"").expect(304);
    let ahead = String::from_utf8(some.came.clone()).unwrap();
    assert!(!ahead.contains("shade-4999 "), "its end is held back");
    upstream.release("/versions");
    for reader in [some, part] {
        let (head, body, whole) = reader.end();
        assert!(head.starts_with("HTTP/1.1 200") && head.contains(&format!("etag: {etag}")), "{head}");
        assert!(whole && body == versions);
    }
    assert_eq!(upstream.count("/versions"), 1);
    let answer = world.anon().get(&path).expect(200);
    assert!(answer.text() == versions && answer.header("etag") == Some(etag.as_str()));
    assert_eq!(upstream.count("/versions"), 1);
}

#[test]
fn who_asks_after_the_upstream_was_changed_does_not_get_the_index_of_the_one_before() {
    let (before_it, after_it) = (Upstream::start(), Upstream::start());
    let State { versions, .. } = long();
    let others = versions.replace("shade-", "glass-");
    let world = before(&before_it, good(&versions));
    let reader = Reader::ask(&world, "").read(50_000);
    after_it.says("/versions", good(&others));
    let remote = json!({ "remote": { "urls": [after_it.url()] }, "keep_cached": false });
    world.change(REMOTE, &remote);
    let other = Reader::ask(&world, "");
    world.admin().get(&format!("/api/v1/repositories/{REMOTE}")).expect(200);
    before_it.release("/versions");
    assert!(other.end().1 == others);
    assert!(reader.end().1 == versions, "the reader of the previous file has it whole");
}

#[test]
fn a_first_index_that_is_not_what_it_was_said_to_be_breaks_off() {
    let State { versions, .. } = long();
    let odd = versions.replace("shade-4500 ", "no line\nshade-4500 ");
    let another = format!("\"{}\"", md5_hex(b"another"));
    let ways = [
        ("it is cut", good(&versions).cut_after(200_000), None),
        ("it has another digest", Says::bytes(versions.as_str()).header("ETag", &another), Some(&versions)),
        ("it has a line that nobody can read", good(&odd), Some(&versions)),
    ];
    for (way, says, then) in ways {
        let upstream = Upstream::start();
        let world = before(&upstream, says);
        let path = format!("/repository/{REMOTE}/versions");
        let reader = Reader::ask(&world, "").read(80_000);
        let mut frames = Frames::open(world.address(), &[(4, ALL)]);
        frames.send(WINDOW_UPDATE, 0, 0, &(1_u32 << 20).to_be_bytes()).unwrap();
        let (stream, mut came) = (frames.get(&path).unwrap(), 0);
        while came < 80_000 {
            let frame = frames.frame().unwrap();
            came += if frame.kind == DATA { frame.payload.len() } else { 0 };
        }
        upstream.release("/versions");
        let (_, body, whole) = reader.end();
        assert!(!whole && body.len() < versions.len(), "{way}");
        let ended = frames.ended(stream);
        assert!(matches!(ended, Ended::Reset(_)), "{way}: {ended:?}");
        // Clients repeat the request.
        let then = then.unwrap_or_else(|| {
            let anon = world.anon();
            // A request that arrives before the end of the failed look gets its failure.
            let again = anon.on(&mut anon.connect().unwrap(), "GET", &path, &[], b"");
            assert!(!again.is_ok_and(|answer| answer.status != 502), "{way} again");
            upstream.says("/versions", good(&versions));
            &versions
        });
        // A request that arrives before the end of the failed look gets its failure.
        let mut answers = (0..10_000).map(|_| world.anon().get(&path));
        let answer = answers.find(|answer| answer.status != 502).unwrap();
        assert!(answer.expect(200).text() == *then, "{way}");
    }
}

fn bundler_takes_an_index_that_arrives_while_it_reads(client: Client) {
    let (upstream, state) = (Upstream::start(), long());
    state.on(&upstream);
    let world = before(&upstream, good(&state.versions));
    let machine = Ruby::with(client);
    let app = machine.app("app", &world.url(REMOTE), "gem 'lamp'");
    std::thread::scope(|scope| {
        let install = scope.spawn(|| app.bundle(&["install"]).good());
        // No other client makes a request, so this one waits for the rest of the file.
        upstream.await_count("/versions", 1);
        drop(Reader::ask(&world, "").read(100_000));
        upstream.release("/versions");
        install.join().unwrap();
    });
    assert_eq!(app.ruby("require 'lamp'; puts \"lamp #{Lamp::VERSION}\""), "lamp 1.0.0\n");
    let find = "Dir.glob(Dir.home + '/**/compact_index/**/versions', File::FNM_DOTMATCH)";
    let kept = machine.shell("", &format!("ruby -e \"print File.read({find}.first)\"")).good();
    assert!(kept == state.versions, "it keeps the index byte for byte, and asks for what comes behind it");
    assert_eq!((upstream.count("/versions"), upstream.count("/info/lamp")), (1, 1));
}
