//! `daylight replay`: a recording is sent again, and compared with what was recorded.

use crate::world::{ADMIN, FIRST, Gem, Recorder, Says, Upstream, World, await_true, program};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What a replay of this file against a server says as JSON.
#[track_caller]
fn replay(file: &Path, against: &str, flags: &[&str]) -> Value {
    let done = program(&["replay", "--json", "--against", against])
        .args(flags)
        .arg(file)
        .env("DAYLIGHT_TOKEN", ADMIN)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    serde_json::from_slice(&done.stdout).unwrap()
}

/// What a replay that must fail says.
fn refused(file: &Path, against: &str) -> String {
    let done = program(&["replay", "--against", against]).arg(file).output().unwrap();
    assert!(!done.status.success() && done.stdout.is_empty(), "{done:?}");
    String::from_utf8(done.stderr).unwrap()
}

/// The line of a recorded request, with more keys.
fn line(at: &str, path: &str, more: &Value) -> String {
    let mut event =
        json!({ "at": at, "kind": "request", "method": "GET", "path": path, "status": 200, "duration_ms": 1.0 });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event.to_string()
}

fn recording(folder: &TempDir, lines: &[String]) -> PathBuf {
    let file = folder.path().join("events.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    file
}

const BEGUN: &str = "2026-11-02T12:00:00Z";
const MINUTES: usize = 5;
/// Three of four are for files that nobody has, so that 1000 of them need a place in a class.
const EACH: usize = 320;

/// A server with a group whose member has some files.
fn grouped() -> World {
    let world = World::start_in_conformance(&[]);
    world.set_time(BEGUN);
    world.tree("a", "raw");
    world.make(&json!({ "name": "all", "format": "raw", "kind": "group", "members": ["a"] }));
    for n in 0..8 {
        world.admin().put("a", &format!("files/{n}"), &vec![b'x'; 100 * n]).expect(201);
    }
    world
}

fn minute(minute: usize) -> String {
    format!("2026-11-02T12:{minute:02}:00Z")
}

/// The export of the baseline of a server.
fn baseline(world: &World, folder: &TempDir, name: &str) -> PathBuf {
    let file = folder.path().join(name);
    let done = world.command(&["baseline", "export", "--output"]).arg(&file).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    file
}

#[test]
fn a_replay_of_minutes_is_the_same_load_and_has_the_same_baseline() {
    let (folder, recorded) = (TempDir::new().unwrap(), grouped());
    let (changes, queries) = (3, 2);
    let file = folder.path().join("all.jsonl");
    // Each minute ends with a change of the clock.
    let events = MINUTES * (EACH + 1) + changes + queries;
    // The events of the uploads before may be on their way yet.
    let filter = "path starts_with /repository/ and not path starts_with /repository/a/files/";
    let recorder = Recorder::begin(&recorded, &file, filter, events);
    let person = recorded.anon();
    for at in 0..MINUTES {
        let mut open = person.connect().unwrap();
        for n in 0..EACH {
            let (path, status) = match n % 4 {
                0 => (format!("files/{}", n % 8), 200),
                _ => (format!("nothing/{at}/{n}"), 404),
            };
            person.on(&mut open, "GET", &format!("/repository/all/{path}"), &[], b"").unwrap().expect(status);
        }
        if at == 0 {
            (0..changes).for_each(|n| drop(recorded.admin().put("a", &format!("later/{n}"), b"x").expect(201)));
            let path = format!("/repository/{FIRST}/api/v1/dependencies?gems=lamp");
            (0..queries).for_each(|_| drop(person.get(&path).expect(200)));
        }
        recorded.set_time(&minute(at + 1));
    }
    let lines = recorder.lines();
    assert_eq!(lines.len(), events);

    // The clock of the other server stands still during a minute, too, so its minutes are replayed one by one.
    let (again, mut sent, mut left_out) = (grouped(), 0, BTreeMap::<String, u64>::new());
    for at in 0..MINUTES {
        let begin = minute(at);
        let of_minute = |line: &&String| line.contains(&format!("\"at\":\"{}", &begin[..17]));
        let file = recording(&folder, &lines.iter().filter(of_minute).cloned().collect::<Vec<String>>());
        let told = replay(&file, &again.root(), &["--speed", "1000", "--connections", "3"]);
        assert_eq!((&told["replayed"]["different"], &told["replayed"]["failed"]), (&0.into(), &0.into()), "{told:#}");
        assert_eq!(told["replayed"]["recorded_bytes"], told["replayed"]["replayed_bytes"], "{told:#}");
        assert!(told["connections"]["at_once"].as_u64().unwrap() <= 3, "{told:#}");
        // A change of the clock begins in one minute and ends in another.
        for (reason, count) in told["left_out"]["reasons"].as_object().unwrap() {
            *left_out.entry(reason.clone()).or_default() += count.as_u64().unwrap();
        }
        assert_eq!(told["complete"], true);
        sent += told["replayed"]["requests"].as_u64().unwrap();
        again.set_time(&minute(at + 1));
    }
    assert_eq!(sent, (MINUTES * EACH) as u64);
    assert_eq!((left_out.len(), left_out["query"]), (2, queries as u64), "{left_out:?}");
    assert!((changes..=changes + MINUTES).contains(&(left_out["change"] as usize)), "{left_out:?}");
    let [before, after] =
        [(&recorded, "before"), (&again, "after")].map(|(world, name)| baseline(world, &folder, name));
    let done = recorded.command(&["baseline", "compare"]).args([&before, &after]).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success() && said.starts_with("0 of ") && !said.starts_with("0 of 0 "), "{said}");
    let requests = |file: &Path| -> f64 {
        let export: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        export["classes"]["downloads"]["requests"].as_f64().unwrap()
    };
    let (before, after) = (requests(&before), requests(&after));
    assert!(before > 1000.0 && (before - after).abs() <= 0.05 * before, "{before} and {after}");
}

#[test]
fn statuses_that_need_a_token_a_condition_or_a_range_are_those_that_were_recorded() {
    let (world, folder) = (World::start(), TempDir::new().unwrap());
    world.repository("secret", true);
    let (admin, anon) = (world.admin(), world.anon());
    for repository in [FIRST, "secret"] {
        admin.push(repository, &Gem::new("lamp", "1.0.0")).expect(200);
    }
    let file = folder.path().join("events.jsonl");
    let recorder = Recorder::begin(&world, &file, "method = GET and path starts_with /repository/", 6);
    let info = format!("/repository/{FIRST}/info/lamp");
    let tag = anon.get(&info).expect(200).header("etag").unwrap().to_owned();
    anon.ask("GET", &info, &[("If-None-Match", &tag)], b"").expect(304);
    let gem = format!("/repository/{FIRST}/gems/lamp-1.0.0.gem");
    anon.ask("GET", &gem, &[("Range", "bytes=5-14")], b"").expect(206);
    anon.get("/repository/secret/info/lamp").expect(401);
    admin.get("/repository/secret/info/lamp").expect(200);
    anon.ask("GET", "/repository/secret/nothing", &[("User-Agent", "tester/1.0")], b"").expect(401);
    recorder.lines();

    let told = replay(&file, &world.root(), &[]);
    assert_eq!((&told["replayed"]["requests"], &told["replayed"]["different"]), (&6.into(), &0.into()), "{told:#}");
    assert_eq!(told["replayed"]["recorded_bytes"], told["replayed"]["replayed_bytes"], "{told:#}");
    let asked = admin.post_json("/api/v1/ask", &json!("count where client_product = tester")).expect(200).json();
    assert_eq!(asked["rows"][0]["count"], 2, "{asked}");

    // Without a token the request that had one cannot be sent.
    let done = program(&["replay", "--against", &world.root()]).arg(&file).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(
        said.starts_with("sent 5 of 6 recorded requests again, in ") && said.contains("left out: 1 (16.7 %)"),
        "{said}"
    );
    assert!(said.contains("1  with a token, while DAYLIGHT_TOKEN is empty"), "{said}");
    assert!(said.contains("5 answers have the recorded status, 0 have another, 0 requests failed"), "{said}");

    // What has changed is told by path.
    admin.yank(FIRST, "lamp", "1.0.0").expect(200);
    world.change("secret", &json!({ "private": false }));
    let told = replay(&file, &world.root(), &[]);
    let paths: Vec<(&str, u64, u64)> = told["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (one["path"].as_str().unwrap(), one["recorded"].as_u64().unwrap(), one["replayed"].as_u64().unwrap())
        })
        .collect();
    assert!(paths.contains(&("/repository/secret/info/lamp", 401, 200)), "{told:#}");
}

#[test]
fn a_request_whose_answer_is_late_delays_no_other_and_one_that_leads_elsewhere_is_not_sent() {
    let (folder, here, elsewhere) = (TempDir::new().unwrap(), Upstream::start(), Upstream::start());
    let (at, token) = ("2026-11-02T12:00:00Z", json!({ "token": "ci" }));
    here.says("/repository/m/held", Says::bytes("held").silent());
    here.file("/repository/m/quick", "quick");
    here.says("/repository/m/moved", Says::redirect(&format!("{}a", elsewhere.url())));
    let host = elsewhere.address();
    let file = recording(
        &folder,
        &[
            line(at, "/repository/m/held", &token),
            line("2026-11-02T12:00:00.010Z", "/repository/m/quick", &json!({})),
            line("2026-11-02T12:00:00.020Z", "/repository/m/moved", &json!({ "status": 302, "token": "ci" })),
            line(at, &format!("http://{host}/a"), &token),
            line(at, &format!("@{host}/a"), &token),
            line(at, &format!("//{host}/a"), &token),
            line(at, "/repository/m/a\r\nX: y", &json!({})),
            "neither an event".to_owned(),
        ],
    );
    let told = std::thread::scope(|scope| {
        let replayed = scope.spawn(|| replay(&file, &here.url(), &[]));
        await_true("the others are sent", || {
            here.count("/repository/m/quick") == 1 && here.count("/repository/m/moved") == 1
        });
        here.release("/repository/m/held");
        replayed.join().unwrap()
    });
    assert_eq!(told["left_out"]["reasons"], json!({ "odd": 3 }), "{told:#}");
    assert_eq!((&told["recorded"]["malformed_lines"], &told["recorded"]["malformed"]), (&1.into(), &json!([8])));
    assert_eq!((&told["replayed"]["requests"], elsewhere.total()), (&4.into(), 0), "{told:#}");
    let asked = here.asked();
    let sends = |path: &str| asked.iter().find(|asked| asked.path == path).unwrap().header("Authorization").is_some();
    assert!(sends("/repository/m/held") && !sends("/repository/m/quick"), "{asked:?}");
}

#[test]
fn a_recording_that_is_a_sample_or_has_no_request_is_refused_and_one_with_gaps_says_so() {
    let (folder, server) = (TempDir::new().unwrap(), Upstream::start());
    let (at, url) = ("2026-11-02T12:00:00Z", server.url());
    let weighted = line(at, "/repository/m/a", &json!({ "weight": 7 }));
    for lines in
        [vec![weighted], vec![line(at, "/a", &json!({})), r#"{"sampled":{"matched":9,"sent":1,"lost":0}}"#.into()]]
    {
        let said = refused(&recording(&folder, &lines), &url);
        assert!(said.contains("is a sample") && said.contains("\nhint: `daylight tail --all --out FILE`"), "{said}");
    }
    let said = refused(&recording(&folder, &[line(at, "/a", &json!({ "method": "PUT" })), "x".into()]), &url);
    assert!(said.contains("1 requests are left out, 0 events are jobs, 1 lines are no events"), "{said}");
    for wrong in ["ftp://a.test", "http://me:hush@a.test", "a.test"] {
        let said = refused(&recording(&folder, &[line(at, "/a", &json!({}))]), wrong);
        assert!(said.contains("is not the URL of a server") && !said.contains("hush"), "{said}");
    }
    assert!(refused(folder.path(), &url).contains("is not a file"));
    assert_eq!(server.total(), 0);

    let gaps = [r#"{"lost":{"matched":9,"sent":7,"lost":2}}"#, r#"{"broken":{"why":"x"}}"#].map(str::to_owned);
    let lines = [&[line(at, "/repository/m/a", &json!({ "status": 404 }))], &gaps[..]].concat();
    let done = program(&["replay", "--against", &url]).arg(recording(&folder, &lines)).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.contains("lacks 2 events") && said.contains("has 1 gaps"), "{said}");
    server.unplug();
    assert!(refused(&folder.path().join("events.jsonl"), &url).contains("answers no request"));
}
