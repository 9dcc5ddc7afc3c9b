//! Answers that explain themselves: the event of an answer, by its id, for programs and for people.

use super::{JAR, Scene};
use crate::as_of::last_change;
use crate::world::{Answer, World};
use serde_json::{Value, json};
use std::process::Output;

/// The event of an answer, from the API of the running server.
pub(crate) fn event(world: &World, answer: &Answer) -> Value {
    world.event(answer.header("daylight-event").unwrap())
}

/// The output of a command of the program for this server.
pub(crate) fn command(world: &World, arguments: &[&str]) -> Output {
    world.command(arguments).output().unwrap()
}

/// The members and their answers, in order.
pub(crate) fn said(record: &Value) -> Vec<(&str, &str)> {
    let text = |member: &Value, key: &str| member[key].as_str().unwrap().to_owned().leak() as &str;
    record["members"].as_array().unwrap().iter().map(|one| (text(one, "member"), text(one, "said"))).collect()
}

#[test]
fn an_answer_s_event_tells_who_was_asked_and_what_each_said_and_whose_fetch_it_waited_for() {
    let scene = Scene::new();
    scene.far.file(&format!("/{JAR}"), "far");
    let answer = scene.get(JAR).expect(200);
    let told = event(&scene.world, &answer);
    assert_eq!(told["id"], answer.header("daylight-event").unwrap());
    assert_eq!((&told["layer"], &told["outcome"], &told["status"]), (&json!("group"), &json!("answered"), &json!(200)));
    assert_eq!((&told["package"], &told["version"]), (&json!("org.example:lamp"), &json!("1.0")));
    assert_eq!(said(&told), [("ours", "not_found"), ("near", "not_found"), ("far", "hit")]);
    let fetch = scene.world.event(told["members"][2]["flight"].as_str().unwrap());
    assert_eq!(
        (&fetch["kind"], &fetch["method"], &fetch["repository"]),
        (&json!("job"), &json!("fetch"), &json!("far"))
    );
    assert!(fetch["ops"]["upstream.first_byte"]["ms"].as_f64().unwrap() > 0.0, "{fetch}");
    assert_eq!(fetch["upstream"]["followers"], json!([told["id"]]), "{fetch}");
    for (member, upstream, status) in [(1, &scene.near, 404), (2, &scene.far, 200)] {
        let used = &told["members"][member]["upstream"];
        let host = upstream.address().to_string();
        assert_eq!(
            (&used["host"], &used["status"], &used["calls"]),
            (&json!(host), &json!(status), &json!(1)),
            "{told}"
        );
    }
    assert_eq!(told["upstream"]["calls"], 2);
    let shown = command(&scene.world, &["explain", "--event", fetch["id"].as_str().unwrap()]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let host = scene.far.address();
    assert!(
        shown.contains(&format!("\nanswer   done, by: remote\nupstream {host} answered 200, 3 bytes came\n")),
        "{shown}"
    );
    // Nothing was known about the folder, and the fetch took over what its request had found.
    assert_eq!(
        (&told["ops"]["cache.read"]["count"], &told["ops"]["cache.read"]["vain"]),
        (&json!(1), &json!(1)),
        "{told}"
    );
    assert_eq!(fetch["ops"]["cache.read"]["vain"], Value::Null, "{fetch}");
    let again = event(&scene.world, &scene.get(JAR).expect(200));
    assert_eq!(again["ops"].get("cache.read"), None, "the facts about the folder are in memory: {again}");
}

#[test]
fn people_read_the_same_record_as_a_table_and_programs_as_json() {
    let scene = Scene::new();
    scene.near.unplug();
    let answer = scene.get(JAR).expect(502);
    let told = event(&scene.world, &answer);
    assert_eq!(said(&told), [("ours", "not_found"), ("near", "failed"), ("far", "not_found")]);
    let id = answer.header("daylight-event").unwrap();
    let json = command(&scene.world, &["explain", "--event", id, "--json"]);
    assert_eq!(serde_json::from_slice::<Value>(&json.stdout).unwrap(), told);
    let table = command(&scene.world, &["explain", "--event", id]);
    let table = String::from_utf8(table.stdout).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], format!("asked    GET /repository/all/{JAR}"));
    for (member, text) in [
        ("ours", "The repository has no file at this path"),
        ("near", "No connection to the upstream could be made"),
        ("far", "The repository has no file at this path"),
    ] {
        let line = lines.iter().find(|line| line.starts_with(member)).unwrap();
        assert!(line.contains(text), "{table}");
    }
    assert!(lines.iter().any(|line| line.starts_with("answer   502 failed, by: group")), "{table}");
    assert!(lines.iter().any(|line| line.starts_with("TIME SPENT ON")), "{table}");
}

#[test]
fn an_event_that_is_not_kept_and_an_id_that_is_none_are_told_apart() {
    let world = World::start();
    world.admin().get("/api/v1/events/0123456789abcdef").expect(404);
    world.admin().get("/api/v1/events/lamp").expect(400);
    let unknown = command(&world, &["explain", "--event", "0123456789abcdef"]);
    assert_eq!(unknown.status.code(), Some(1));
    let text = String::from_utf8(unknown.stderr).unwrap();
    assert!(text.starts_with("error: the server does not have the event `0123456789abcdef` (404)\nhint: "), "{text}");
}

/// The predicted answer, from the API.
pub(super) fn explained(world: &World, repository: &str, path: &str) -> Value {
    world.admin().get(&format!("/api/v1/explain?repository={repository}&path={path}")).expect(200).json()
}

#[test]
fn what_would_be_answered_is_told_and_no_upstream_is_asked_for_that() {
    let scene = Scene::new();
    scene.far.file(&format!("/{JAR}"), "far");
    let asked = || scene.near.asked().len() + scene.far.asked().len();
    let told = explained(&scene.world, "all", JAR);
    assert_eq!(
        (&told["status"], &told["outcome"], &told["reason"]),
        (&json!(0), &json!(null), &json!("upstream_unasked"))
    );
    assert_eq!(said(&told), [("ours", "not_found"), ("near", "unknown"), ("far", "unknown")]);
    assert!(told["detail"].as_str().unwrap().contains("`near`"), "{told}");
    assert_eq!(asked(), 0);
    // After one real request their answers are known.
    let event = event(&scene.world, &scene.get(JAR).expect(200));
    let before = asked();
    let told = explained(&scene.world, "all", JAR);
    assert_eq!((&told["status"], &told["outcome"], &told["layer"]), (&json!(200), &json!("answered"), &json!("group")));
    assert_eq!((&told["package"], &told["version"]), (&event["package"], &event["version"]));
    assert_eq!(said(&told).last(), Some(&("far", "hit")));
    assert_eq!(asked(), before);
    for (repository, status) in [("ours", 404), ("near", 404), ("far", 200)] {
        assert_eq!(explained(&scene.world, repository, JAR)["status"], status, "{repository}");
    }
    scene.world.admin().put("ours", JAR, b"ours").expect(201);
    assert_eq!(said(&explained(&scene.world, "all", JAR))[0], ("ours", "hit"));
    assert_eq!(asked(), before);
}

#[test]
fn people_are_told_what_would_be_answered_as_they_are_of_an_answer() {
    let scene = Scene::new();
    scene.get(JAR).expect(404);
    let table = command(&scene.world, &["explain", "all", JAR]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("\nanswer   404 not_found, by: group\n"), "{table}");
    let json = command(&scene.world, &["explain", "all", JAR, "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(said(&json), said(&explained(&scene.world, "all", JAR)));
    for (line, code) in [(&["explain", "all"][..], 2), (&["explain"], 2), (&["explain", "nobody", JAR], 1)] {
        assert_eq!(command(&scene.world, line).status.code(), Some(code), "{line:?}");
    }
}

#[test]
fn what_would_have_been_answered_is_told_as_of_a_moment() {
    let scene = Scene::new();
    let before = scene.world.admin().get("/api/v1/explain?repository=ours&path=a&as_of=2020-01-01");
    assert!((400..500).contains(&before.status), "{}", before.text());
    scene.world.admin().put("ours", JAR, b"ours").expect(201);
    let status = |as_of: &str| {
        let url = format!("/api/v1/explain?repository=ours&path={JAR}&as_of={as_of}");
        scene.world.admin().get(&url).expect(200).json()["status"].clone()
    };
    let now = jiff::Timestamp::now().to_string();
    assert_eq!(status(&now), 200);
    let day = command(&scene.world, &["explain", "ours", JAR, "--as-of", &now]);
    assert!(String::from_utf8(day.stdout).unwrap().contains("answer   200 answered, by: hosted"));
    assert_eq!(command(&scene.world, &["explain", "ours", JAR, "--as-of", "yesterday"]).status.code(), Some(1));
}

#[test]
fn a_repository_of_gems_tells_what_it_would_answer_too() {
    let world = World::start();
    let told = |path| explained(&world, "gems-private", path);
    assert_eq!((&told("names")["status"], &told("names")["layer"]), (&json!(200), &json!("hosted")));
    assert_eq!((&told("info/lamp")["status"], &told("info/lamp")["reason"]), (&json!(404), &json!("no_such_package")));
    // With a query, as a client sends it.
    let found = told("api%2Fv1%2Fsearch.json%3Fquery%3Dlamp");
    assert_eq!((&found["status"], &found["layer"]), (&json!(200), &json!("hosted")));
    assert_eq!(told("api%2Fv1%2Fsearch.json")["status"], 400);
    for odd in ["", "path=a", "repository=gems-private", "repository=gems-private&path=api%2Fv1%2Fapi_key"] {
        world.admin().get(&format!("/api/v1/explain?{odd}")).expect(400);
    }
    world.admin().get("/api/v1/explain?repository=nobody&path=a").expect(404);
}

#[test]
fn a_missing_file_that_is_remembered_says_until_when_and_is_forgotten_by_the_name_of_its_version() {
    let scene = Scene::new();
    scene.get(JAR).expect(404);
    let told = explained(&scene.world, "all", JAR);
    assert_eq!(said(&told)[1], ("near", "not_asked"));
    assert!(told["members"][1]["until"].is_string(), "{told}");
    let of_a_group = command(&scene.world, &["repo", "forget", "all", "org.example:lamp"]);
    let text = String::from_utf8(of_a_group.stderr).unwrap();
    assert!(text.contains("name one of its remote members: `near`, `far`"), "{text}");
    let forgotten = command(&scene.world, &["repo", "forget", "near", "org.example:lamp:1.0"]);
    let text = String::from_utf8(forgotten.stderr).unwrap();
    assert!(text.contains("forgot 1 ") || text.contains("forgot 2 "), "{text}");
    assert_eq!(said(&explained(&scene.world, "all", JAR))[1], ("near", "unknown"));
}

#[test]
fn an_explanation_is_asked_for_by_what_people_have_at_hand() {
    let scene = Scene::new();
    scene.world.admin().put("ours", JAR, b"ours").expect(201);
    let id = scene.get(JAR).expect(200).header("daylight-event").unwrap().to_owned();
    scene.world.event(&id);
    let url = format!("http://{}/repository/all/{JAR}", scene.world.address());
    let (path, now) = (format!("/repository/all/{JAR}"), format!("all@seq-{}", last_change(&scene.world)));
    let output = |arguments: &[&str]| command(&scene.world, &[&["explain"], arguments].concat());
    for good in [&[id.as_str()][..], &[&url], &[&path], &["all", &url], &[&now, JAR]] {
        let said = String::from_utf8(output(good).stdout).unwrap();
        assert!(said.contains("answer   200 answered"), "{good:?} {said}");
    }
    for (bad, code, wanted) in [
        (&[][..], 2, "`daylight explain REPOSITORY PATH`"),
        (&["lamp"], 2, "`lamp` alone names no file"),
        (&["ours", &path], 1, "this path is of the repository `all`, not of `ours`"),
    ] {
        let output = output(bad);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(code) && said.contains(wanted), "{bad:?} {said}");
    }
}
