//! Two users, whose requests alternate at random: a stored response is the answer only where a naive reading of RFC 9111 allows it, and
//! no byte of a user's session reaches the other one.

use crate::cache::caching;
use crate::origin::{Origin, Received, with};
use crate::running_apps::RunningApps;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::Millis;

const NOW: Millis = Millis(1_793_534_400_000);
const USERS: [&str; 2] = ["alice", "bob"];

/// How the application answers a path from now on.
const POLICIES: [&str; 12] = [
    "cache-control: max-age=60\r\n",
    "cache-control: max-age=60, private\r\n",
    "cache-control: max-age=60, no-store\r\n",
    "cache-control: max-age=60\r\nset-cookie: session=USER\r\n",
    "cache-control: max-age=60\r\nvary: cookie\r\n",
    "cache-control: max-age=60, public\r\nvary: authorization\r\n",
    "cache-control: max-age=60\r\nvary: x, accept-language\r\netag: \"6\"\r\n",
    "cache-control: max-age=60, must-revalidate\r\netag: \"7\"\r\n",
    "cache-control: no-cache\r\netag: \"8\"\r\n",
    "cdn-cache-control: private\r\ncache-control: max-age=60\r\n",
    "vary: *\r\ncache-control: max-age=60\r\n",
    "last-modified: Sun, 01 Nov 2020 00:00:00 GMT\r\n",
];

/// Policies whose responses are about one user.
const PERSONAL: [usize; 6] = [1, 2, 3, 4, 9, 10];

#[derive(Debug, Clone)]
enum Step {
    /// A request: user, path, and the choices of its headers.
    Get { user: usize, path: usize, cookie: bool, authorization: bool, language: usize, no_store: bool },
    /// The application answers a path so from now on.
    Policy { path: usize, policy: usize },
    /// A change of a path.
    Post { path: usize },
    /// So many seconds pass.
    Pass { seconds: u64 },
    /// A purge of a path.
    Purge { path: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let path = 0..3_usize;
    prop_oneof![
        12 => (0..2_usize, path.clone(), any::<bool>(), prop::bool::weighted(0.2), 0..2_usize, prop::bool::weighted(0.1)).prop_map(
            |(user, path, cookie, authorization, language, no_store)| Step::Get { user, path, cookie, authorization, language, no_store }
        ),
        3 => (path.clone(), 0..POLICIES.len()).prop_map(|(path, policy)| Step::Policy { path, policy }),
        1 => path.clone().prop_map(|path| Step::Post { path }),
        1 => (1..50_u64).prop_map(|seconds| Step::Pass { seconds }),
        1 => path.prop_map(|path| Step::Purge { path }),
    ]
}

/// A response of the application, and the request for it.
#[derive(Debug, Clone)]
struct Made {
    request: Received,
    lines: String,
    at: Millis,
    /// The changes and purges of its path before it.
    changes: usize,
}

#[derive(Debug, Default)]
struct Application {
    policies: [usize; 3],
    changes: [usize; 3],
    now: Option<Millis>,
    made: Vec<Made>,
    /// The path and the headers of the responses that a validation confirmed, and when.
    confirmed: Vec<(String, Millis)>,
}

impl Application {
    fn answer(&mut self, request: &Received) -> String {
        let path: usize = request.path()[1..].parse().unwrap();
        if request.line.starts_with("POST") {
            return with("", "");
        }
        let policy = self.policies[path];
        let user = USERS.into_iter().find(|user| request.headers.iter().any(|(_, value)| value.contains(user)));
        let lines = POLICIES[policy].replace("USER", user.unwrap_or("nobody"));
        let at = self.now.unwrap();
        if request.header("if-none-match").is_some_and(|tag| lines.contains(&format!("etag: {tag}\r\n"))) {
            self.confirmed.push((request.path().to_owned() + &lines, at));
            return format!("HTTP/1.1 304 Not Modified\r\n{lines}\r\n");
        }
        let number = self.made.len();
        self.made.push(Made { request: request.clone(), lines: lines.clone(), at, changes: self.changes[path] });
        let secret = match user.filter(|_| PERSONAL.contains(&policy)) {
            Some(user) => format!("session-of-{user}"),
            None => "no session".to_owned(),
        };
        with(&lines, &format!("{number} {secret}"))
    }
}

/// Whether a naive reading of RFC 9111 lets this response answer a request with these headers.
fn may_answer(made: &Made, lines: &str, application: &Application, path: usize, now: Millis) -> bool {
    let header = |name: &str| made.request.header(name).map(str::to_owned);
    let asked = |name: &str| {
        let mut all = lines.lines().filter_map(|line| line.split_once(':'));
        all.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    let says = |text: &str| made.lines.contains(text);
    let authorized = header("authorization").is_none() || says("public") || says("must-revalidate") || says("s-maxage");
    let selected = ["cookie", "authorization", "x", "accept-language"].iter().all(|name| {
        let varies = made
            .lines
            .lines()
            .filter_map(|line| line.strip_prefix("vary: "))
            .any(|names| names.split(", ").any(|one| one == *name));
        !varies || header(name) == asked(name)
    });
    let stored = !(says("private") || says("no-store") || says("set-cookie") || says("vary: *"))
        && header("cache-control").is_none_or(|control| !control.contains("no-store"));
    let this = format!("/{path}{}", made.lines);
    let confirmed = application.confirmed.iter().filter(|(of, _)| *of == this).map(|(_, at)| at.0).max();
    let since = made.at.0.max(confirmed.unwrap_or(0));
    let age = (now.0 - since) / 1000;
    let fresh =
        (says("max-age=60") && age < 60 && made.changes == application.changes[path]) || confirmed == Some(now.0);
    let unasked = asked("cache-control").is_none_or(|control| !control.contains("no-store"));
    authorized && selected && stored && fresh && unasked
}

fn run(steps: &[Step]) -> (usize, usize) {
    let application = Arc::<Mutex<Application>>::default();
    let origin = {
        let application = application.clone();
        Origin::replying(move |request| application.lock().unwrap().answer(request))
    };
    let apps = RunningApps::of(vec![caching(&origin)]);
    let mut clients = [apps.client(), apps.client()];
    let (mut now, mut hits, mut all) = (NOW, 0, 0);
    let set = |now: Millis| {
        apps.recorder.clock().set(Some(now));
        application.lock().unwrap().now = Some(now);
    };
    set(now);
    for step in steps {
        match *step {
            Step::Policy { path, policy } => application.lock().unwrap().policies[path] = policy,
            Step::Pass { seconds } => {
                now = now.plus(Duration::from_secs(seconds));
                set(now);
            }
            Step::Purge { path } => {
                apps.apps.purge("shop", &[format!("/{path}")], &[]);
                application.lock().unwrap().changes[path] += 1;
            }
            Step::Post { path } => {
                let request = format!("POST /{path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
                assert_eq!(clients[0].ask(&request).status, 200);
                application.lock().unwrap().changes[path] += 1;
            }
            Step::Get { user, path, cookie, authorization, language, no_store } => {
                let name = USERS[user];
                let mut lines = format!("Accept-Language: {}\r\n", ["de", "en"][language]);
                for (with, line) in [
                    (cookie, format!("Cookie: session={name}\r\n")),
                    (authorization, format!("Authorization: Bearer {name}\r\n")),
                    (no_store, "Cache-Control: no-store\r\n".to_owned()),
                ] {
                    lines.push_str(if with { &line } else { "" });
                }
                let before = application.lock().unwrap().made.len();
                let answer = clients[user].ask(&format!("GET /{path} HTTP/1.1\r\nHost: a\r\n{lines}\r\n"));
                let text = answer.text();
                let other = format!("session-of-{}", USERS[1 - user]);
                assert!(
                    !text.contains(&other) && !answer.head.contains(&format!("session={}", USERS[1 - user])),
                    "{step:?}: {answer:?}"
                );
                let number: usize = text.split(' ').next().unwrap().parse().unwrap();
                let application = application.lock().unwrap();
                all += 1;
                if number < before {
                    hits += 1;
                    let made = &application.made[number];
                    assert!(may_answer(made, &lines, &application, path, now), "{step:?} got {made:?} at {now}");
                }
            }
        }
    }
    (hits, all)
}

#[test]
fn no_user_gets_the_session_of_another_and_no_response_is_reused_against_the_standard() {
    let (hits, all) = (Cell::new(0), Cell::new(0));
    let config = Config { cases: 12, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&proptest::collection::vec(step(), 120..200), |steps| {
            let (some, of) = run(&steps);
            hits.set(hits.get() + some);
            all.set(all.get() + of);
            Ok(())
        })
        .unwrap();
    // The responses that may be reused are reused.
    assert!(hits.get() * 10 > all.get(), "{hits:?} of {all:?}");
}
