//! What a client counted is what `/metrics` tells: requests, outcomes and bytes of each repository, where there are 500 of them.

use super::Samples;
use super::families::faultless;
use crate::accounts::settled;
use crate::world::{Answer, Connection, FIRST, Gem, Person, Says, Upstream, World};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Read as _;

/// The turns of the generator: two requests each.
const REQUESTS: usize = 300;
/// Answers from memory in sequence.
const HITS: usize = 2000;
/// Larger than all buffers between the server and a client that stops reading.
const LARGE: usize = 32 << 20;

/// What a client saw of a repository.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) requests: f64,
    pub(crate) received_bytes: f64,
    pub(crate) sent_bytes: f64,
    pub(crate) outcomes: BTreeMap<&'static str, f64>,
}

/// The generator's own log, by repository. The server counts a request for a repository if it passes access control.
#[derive(Default)]
pub(crate) struct Log(pub(crate) BTreeMap<String, Seen>);

impl Log {
    fn add(&mut self, repository: &str, outcome: &'static str, received: usize, sent: usize) {
        let seen = self.0.entry(repository.to_owned()).or_default();
        seen.requests += 1.0;
        seen.received_bytes += received as f64;
        seen.sent_bytes += sent as f64;
        *seen.outcomes.entry(outcome).or_default() += 1.0;
    }
}

fn outcome(answer: &Answer) -> Option<&'static str> {
    Some(match answer.status {
        200..=299 => "answered",
        304 => "not_modified",
        300..=399 => "redirected",
        401 | 403 => return None,
        404 | 410 => "not_found",
        400..=499 => "refused",
        503 if answer.header("retry-after").is_some() => "shed",
        _ => "failed",
    })
}

/// Callers with a persistent connection each: an administrator, and one without a token.
pub(crate) struct Callers {
    all: [(Person, Connection); 2],
    pub(crate) log: Log,
}

impl Callers {
    pub(crate) fn of(world: &World) -> Self {
        let all = [world.admin(), world.anon()].map(|person| {
            let connection = person.connect().unwrap();
            (person, connection)
        });
        Self { all, log: Log::default() }
    }

    pub(crate) fn send(
        &mut self,
        who: usize,
        repository: &str,
        request: (&str, &str),
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> u16 {
        let ((method, path), (person, connection)) = (request, &mut self.all[who]);
        let answer = person.on(connection, method, &format!("/repository/{repository}/{path}"), headers, body).unwrap();
        if answer.header("connection") == Some("close") {
            *connection = person.connect().unwrap();
        }
        if let Some(outcome) = outcome(&answer) {
            self.log.add(repository, outcome, body.len(), answer.body.len());
        }
        answer.status
    }
}

/// Numbers that are the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Repositories of all formats and kinds, with content.
pub(crate) fn fill(world: &World, upstream: &Upstream) {
    upstream.file("/org/example/far/1.0/far-1.0.jar", vec![b'f'; 70_000]);
    upstream.file("/org/example/far/1.0/far-1.0.pom", "<project/>");
    upstream.says("/org/example/broken/1.0/broken-1.0.jar", Says::status(500));
    ["libs", "big"].iter().for_each(|name| world.tree(name, "maven"));
    world.tree("files", "raw");
    world.repository("vault", true);
    world.remote("far", &upstream.url());
    world.make(&json!({ "name": "jars", "format": "maven", "kind": "group", "members": ["libs", "far"] }));
    world.make(&json!({ "name": "all", "format": "gem", "kind": "group", "members": [FIRST] }));
}

/// Sends two requests in each turn, of every kind in the end.
pub(crate) fn mixed(callers: &mut Callers, random: &mut Random, turns: usize) {
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    let jar = |name: &str| format!("org/example/{name}/1.0/{name}-1.0.jar");
    let mut send = |who: usize, repository: &str, request: (&str, &str), headers: &[(&str, &str)], body: &[u8]| {
        let status = callers.send(who, repository, request, headers, body);
        *statuses.entry(status).or_default() += 1;
    };
    for number in 0..turns {
        let (new, old) = (format!("lamp{number}"), format!("lamp{}", random.below(number + 1)));
        let (range, any) = ([("Range", "bytes=1-20")], [("If-None-Match", "*")]);
        let (who, bytes) = (random.below(2), vec![b'x'; 10 + 997 * random.below(100)]);
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        // Every file and gem gets its turn to be published, and is requested before and after that.
        send(0, "files", ("PUT", &new), &[], &bytes);
        match number % 20 {
            0 => send(who, "files", ("GET", &old), &range, b""),
            1 => send(who, "files", ("GET", &old), &any, b""),
            2 => send(who, "files", ("HEAD", &old), &[], b""),
            3 => send(who, "files", ("GET", &old), &[], b""),
            4 => send(0, "files", ("DELETE", &old), &[], b""),
            5 => send(0, "libs", ("PUT", &jar(&new)), &[], &bytes),
            6 => send(who, "libs", ("GET", &jar(&old)), &[], b""),
            7 => send(who, "jars", ("GET", &jar(&old)), &range, b""),
            8 => send(who, "jars", ("GET", &jar("far")), &[], b""),
            9 => send(who, "far", ("GET", &jar("far")), &any, b""),
            10 => send(who, "far", ("GET", &jar("broken")), &[], b""),
            11 => send(who, "jars", ("HEAD", "org/example/far/1.0/far-1.0.pom"), &[], b""),
            12 => {
                send(0, FIRST, ("POST", "api/v1/gems"), &[], &Gem::new("lamp", &format!("1.{}", number % 80)).bytes())
            }
            13 => send(0, "vault", ("POST", "api/v1/gems"), &[], &Gem::new(&new, "1.0.0").bytes()),
            14 => send(who, FIRST, ("GET", "info/lamp"), &any, b""),
            15 => send(who, "all", ("GET", "versions"), &range, b""),
            16 => send(who, "vault", ("GET", "names"), &[], b""),
            17 => send(0, FIRST, ("DELETE", "api/v1/gems/yank"), &form, b"gem_name=lamp&version=1.12"),
            18 => send(1, FIRST, ("POST", "api/v1/gems"), &[], b""),
            _ => send(who, "nowhere", ("GET", &old), &[], b""),
        }
    }
    for status in [200, 201, 206, 304, 404, 401, 502] {
        assert!(statuses.contains_key(&status), "{statuses:?}");
    }
}

/// Downloads that their clients break off: the bytes that the client saw, and those of the whole files.
fn broken_off(world: &World, log: &mut Log) -> (f64, f64) {
    let path = "org/example/big/1.0/big-1.0.jar";
    world.admin().put("big", path, &vec![b'b'; LARGE]).expect(201);
    log.add("big", "answered", LARGE, 0);
    let mut seen = 0.0;
    for _ in 0..3 {
        let mut connection = world.anon().connect().unwrap();
        connection
            .send(format!("GET /repository/big/{path} HTTP/1.1\r\nHost: {}\r\n\r\n", world.address()).as_bytes())
            .unwrap();
        let mut some = [0; 5000];
        let mut stream = connection.stream();
        stream.read_exact(&mut some).unwrap();
        seen += (some.len() - some.windows(4).position(|four| four == b"\r\n\r\n").unwrap() - 4) as f64;
        log.add("big", "client_gone", 0, 0);
    }
    (seen, 3.0 * LARGE as f64)
}

/// What `/metrics` tells of a repository.
pub(crate) fn told(page: &Samples, name: &str) -> Seen {
    let of = |figure: &str| page.repository(&format!("repository_{figure}_total"), name).unwrap_or(-1.0);
    let outcomes = ["answered", "not_modified", "redirected", "not_found", "refused", "failed", "client_gone", "shed"];
    let outcome = |outcome: &'static str| {
        let series = format!("daylight_repository_outcomes_total{{repository=\"{name}\",outcome=\"{outcome}\"}}");
        Some((outcome, page.find(&series)?))
    };
    Seen {
        requests: of("requests"),
        received_bytes: of("received_bytes"),
        sent_bytes: of("sent_bytes"),
        outcomes: outcomes.into_iter().filter_map(outcome).collect(),
    }
}

#[test]
fn what_clients_counted_by_repository_is_what_metrics_tell_at_the_most_sparing_sampling() {
    let upstream = Upstream::start();
    let world = World::start();
    fill(&world, &upstream);
    let present =
        world.admin().get("/api/v1/repositories").expect(200).json()["repositories"].as_array().unwrap().len();
    (present..500).for_each(|number| world.tree(&format!("idle{number}"), "raw"));
    let (mut callers, mut random) = (Callers::of(&world), Random(0x9e37_79b9_7f4a_7c15));
    mixed(&mut callers, &mut random, REQUESTS);
    // So many that few of their events are kept.
    for _ in 0..HITS {
        callers.send(1, "far", ("GET", "org/example/far/1.0/far-1.0.pom"), &[], b"");
    }
    let mut log = callers.log;
    let (least, most) = broken_off(&world, &mut log);
    settled(&world);
    let answer = world.admin().get("/metrics").expect(200);
    faultless(answer.text());
    let page = Samples::of(answer.text());
    let nowhere = log.0.remove("nowhere").unwrap();
    assert!(nowhere.requests > 0.0 && page.repository("repository_requests_total", "nowhere").is_none());
    for (name, seen) in &log.0 {
        let mut told = told(&page, name);
        if name == "big" {
            assert!((least..most).contains(&told.sent_bytes), "{told:?}");
            told.sent_bytes = seen.sent_bytes;
        }
        assert_eq!(told, *seen, "{name}");
    }
    assert_eq!(page.repository("repository_requests_total", "(other)"), Some(0.0), "480 others were not requested");
    let left_out = page.find("daylight_metrics_left_out_series");
    assert_eq!(left_out, Some(0.0));

    // A caller who may not observe sees the private repository among the others.
    let page = world.anon().get("/metrics").expect(200);
    assert_eq!(told(&Samples::of(page.text()), "(other)"), log.0.remove("vault").unwrap());
}
