//! Secrets that clients and upstreams send where none belong stand in no byte on disk, in no log and in no answer.

mod forms;

use crate::world::frames::{END_STREAM, Frames};
use crate::world::{Connection, FIRST, Person, Says, Upstream, World};
use forms::{coded, forms, needles};
use serde_json::json;

const SETTINGS: &[(&str, &str)] = &[
    ("DAYLIGHT_TELEMETRY_JSON_LINES", "on"),
    ("DAYLIGHT_TELEMETRY_ACCESS_LOG", "text"),
    ("DAYLIGHT_TELEMETRY_LOG_LEVEL", "debug"),
];

/// A server with a repository of each kind.
struct Stage {
    world: World,
    upstream: Upstream,
    valid: String,
    revoked: String,
}

/// The repositories, and two that do not exist.
const REPOSITORIES: [&str; 6] = [FIRST, "files", "hosted", "remote", "all", "no-such"];

impl Stage {
    fn new() -> Self {
        let (world, upstream) = (World::start_with(SETTINGS), Upstream::start());
        world.tree("files", "raw");
        world.tree("hosted", "maven");
        world.remote("remote", &upstream.url());
        world.make(&json!({ "name": "all", "format": "maven", "kind": "group", "members": ["hosted", "remote"] }));
        let valid = world.person("valid", &["read"], &[]).secret().to_owned();
        let revoked = world.person("revoked", &["read"], &[]).secret().to_owned();
        world.admin().ask("DELETE", "/api/v1/tokens/revoked", &[], b"").expect(204);
        Self { world, upstream, valid, revoked }
    }

    fn tokens(&self) -> [&str; 2] {
        [&self.valid, &self.revoked]
    }

    fn anon(&self) -> Person {
        self.world.anon()
    }

    /// Asserts that no secret was written or is told to others. `events` are the ids of events.
    fn assert_kept_nowhere(mut self, events: &[String]) {
        let needles = needles(&self.tokens());
        let mut leaks = Vec::new();
        let mut clean = |place: &str, bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            let found = needles.iter().filter_map(|needle| text.find(needle.as_str()));
            let near =
                |at: usize| text.chars().skip(text[..at].chars().count().saturating_sub(100)).take(200).collect();
            leaks.extend(found.map(|at| -> (String, String) { (place.to_owned(), near(at)) }));
        };
        for event in events {
            clean("an event", self.world.event(event).to_string().as_bytes());
        }
        let (admin, anon) = (self.world.admin(), self.anon());
        for path in [
            "/metrics",
            "/",
            "/api/v1/repositories",
            "/api/v1/tokens",
            "/api/v1/journal",
            "/api/v1/upstreams",
            "/api/v1/repositories/remote",
            "/api/v1/repositories/remote/not-found",
            "/api/v1/repositories/remote/contents",
            "/api/v1/explain?repository=remote&path=org/x/y0-0/1.0/y0-0-1.0.jar",
            "/api/v1/explain?repository=all&path=org/x/y1-0/maven-metadata.xml",
            "/api/v1/explain?repository=gems-5&path=names",
            "/repository/gems-private/",
        ] {
            clean(path, &admin.get(path).body);
            clean(path, &anon.get(path).body);
        }
        clean("the log", self.world.log().as_bytes());
        clean("the standard output", self.world.said().join("\n").as_bytes());
        self.world.stop();
        let events = self.world.data().join("events/events.jsonl");
        assert!(std::fs::read_to_string(events).unwrap().contains("***"), "the events were written");
        for file in self.world.files() {
            clean(&file.display().to_string(), &std::fs::read(&file).unwrap());
        }
        assert!(leaks.is_empty(), "{leaks:#?}");
    }
}

/// Headers of requests, besides `User-Agent` and `Authorization`.
const HEADERS: [&str; 12] = [
    "Referer",
    "Cookie",
    "traceparent",
    "tracestate",
    "X-Request-Start",
    "Range",
    "If-None-Match",
    "Origin",
    "Accept",
    "X-Forwarded-For",
    "Forwarded",
    "OTP",
];

/// A form as part of a URL: encoded if it has characters that a URL cannot have.
fn of_url(form: &str) -> String {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/=&@;,+%".contains(&byte);
    if form.bytes().all(allowed) { form.to_owned() } else { coded(form) }
}

/// Paths that contain a form.
fn paths(form: &str) -> Vec<String> {
    let (raw, one) = (of_url(form), coded(form));
    let below = REPOSITORIES.iter().flat_map(|name| {
        [format!("/repository/{name}/{raw}"), format!("/repository/{name}/org/x/{one}/1.0/x-1.0.jar")]
    });
    let others = [
        format!("/repository/{FIRST}/info/{one}"),
        format!("/repository/{FIRST}/gems/{one}-1.0.gem"),
        format!("/repository/{FIRST}/versions?{raw}"),
        format!("/repository/{one}/x"),
        format!("/api/v1/{one}?x=1&{raw}"),
        format!("/{raw}"),
    ];
    below.chain(others).collect()
}

#[test]
fn secrets_in_requests_are_kept_nowhere() {
    let stage = Stage::new();
    let address = stage.world.address();
    let (mut events, mut http2) = (Vec::new(), Frames::open(address, &[]));
    let ask = |path: &str, headers: &[(&str, &str)], body: &[u8], events: &mut Vec<String>| {
        let method = if body.is_empty() { "GET" } else { "POST" };
        let mut connection = Connection::open(address).unwrap();
        let answer = connection.call(method, path, headers, body).unwrap();
        assert!(answer.status < 500, "{path}: {answer:?}");
        events.extend(answer.header("daylight-event").map(str::to_owned));
    };
    for (number, form) in forms("OfARequest", &stage.tokens()).into_iter().enumerate() {
        for (at, path) in paths(&form).iter().enumerate() {
            // A request without other headers takes the fast path.
            ask(path, &[("User-Agent", &format!("curl/8 {form}"))], b"", &mut events);
            if at == number % 8 {
                let mut headers: Vec<_> = HEADERS.iter().map(|name| (*name, form.as_str())).collect();
                headers.extend([("User-Agent", &*form), ("Authorization", &*form)]);
                ask(path, &headers, b"", &mut events);
                headers.push(("Content-Type", "application/x-www-form-urlencoded"));
                ask(path, &headers, format!("name=x&{form}").as_bytes(), &mut events);
                ask(path, &[("Host", &form)], b"", &mut events);
            }
            let stream = http2.ask("GET", path, &[("user-agent", &form), ("cookie", &form)], END_STREAM).unwrap();
            assert!(http2.ended(stream).status() < 500, "{path}");
        }
    }
    // A token as the name of a user, and valid credentials.
    for token in stage.tokens() {
        for pair in [format!("{token}:x"), format!("me:{token}")] {
            let basic = format!("Basic {}", coded_pair(&pair));
            ask("/repository/hosted/x/y/1/z.jar", &[("Authorization", &basic)], b"", &mut events);
            ask("/api/v1/repositories", &[("Authorization", &basic)], b"", &mut events);
        }
    }
    let some: Vec<String> = events.into_iter().rev().step_by(7).collect();
    stage.assert_kept_nowhere(&some);
}

fn coded_pair(pair: &str) -> String {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    BASE64_STANDARD.encode(pair)
}

#[test]
fn secrets_in_what_upstreams_say_are_kept_nowhere() {
    let stage = Stage::new();
    let mut events = Vec::new();
    for (number, form) in forms("OfAnUpstream", &stage.tokens()).iter().enumerate() {
        let text = |status| Says::saying(status, format!("no: {form} is wrong")).header("Content-Type", "text/plain");
        let line: String = form.replace(' ', "+");
        let says = [
            text(500),
            text(403),
            text(404),
            Says::redirect(&format!("http://me:{0}OfARedirect@127.0.0.1:1/x?token={0}", forms::MARK)),
            Says::redirect(&format!("{}/x?{line}", stage.upstream.url())),
            Says::bytes(format!("<metadata>{form}</metadata")),
        ];
        for (at, says) in says.into_iter().enumerate() {
            let artifact = format!("org/x/y{number}-{at}/1.0/y{number}-{at}-1.0.jar");
            let metadata = format!("org/x/y{number}-{at}/maven-metadata.xml");
            for path in [&artifact, &metadata] {
                stage.upstream.says(&format!("/{path}"), says.clone());
                stage.upstream.says(&format!("/{path}.sha1"), Says::bytes(form.clone()));
                for repository in ["remote", "all"] {
                    let answer = stage.anon().get(&format!("/repository/{repository}/{path}"));
                    events.extend(answer.header("daylight-event").map(str::to_owned));
                }
            }
        }
    }
    for (number, form) in forms("OfAGemIndex", &stage.tokens()).iter().enumerate().step_by(5) {
        let (name, folder) = (format!("gems-{number}"), format!("/gems-{number}"));
        for file in ["versions", "names", "specs.4.8.gz", "info/lamp"] {
            stage.upstream.says(&format!("{folder}/{file}"), Says::bytes(format!("created_at: {form}\n---\n{form}\n")));
        }
        stage.world.remote_of("gem", &name, &(stage.upstream.url() + &folder));
        for path in ["names", "versions", "info/lamp"] {
            let answer = stage.anon().get(&format!("/repository/{name}/{path}"));
            events.extend(answer.header("daylight-event").map(str::to_owned));
        }
    }
    let some: Vec<String> = events.into_iter().rev().step_by(5).collect();
    stage.assert_kept_nowhere(&some);
}

#[test]
fn secrets_in_settings_that_may_not_have_them_are_kept_nowhere() {
    let stage = Stage::new();
    let admin = stage.world.admin();
    let mut events = Vec::new();
    for (number, form) in forms("OfASetting", &stage.tokens()).iter().enumerate() {
        let url = format!("http://me:{}OfASetting@127.0.0.1:1/x", forms::MARK);
        let queried = format!("http://127.0.0.1:1/x?{}", of_url(form));
        for wanted in [
            json!({ "name": format!("r{number}"), "format": "maven", "kind": "remote", "remote": { "urls": [url] } }),
            json!({ "name": format!("r{number}"), "format": "maven", "kind": "remote", "remote": { "urls": [queried] } }),
            json!({ "name": form, "format": "maven", "kind": "hosted" }),
            json!({ "name": format!("r{number}"), "format": form, "kind": "hosted" }),
            json!({ "name": format!("r{number}"), "format": "maven", "kind": "group", "members": [form] }),
        ] {
            let answer = admin.post_json("/api/v1/repositories", &wanted);
            assert!(matches!(answer.status, 400..=499), "{wanted}: {answer:?}");
            events.extend(answer.header("daylight-event").map(str::to_owned));
        }
    }
    stage.anon().get(&format!("/repository/no-such/token={}", forms::MARK));
    stage.assert_kept_nowhere(&events);
}
