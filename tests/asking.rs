//! Questions about events: through the API and the command line, with answers that equal what clients did.

mod builds;
mod many;
mod sampled;
mod slow_member;

use crate::world::{FIRST, Gem, World, eventually};
use serde_json::{Value, json};
use std::process::Output;

/// The path of questions in the API.
const ASK: &str = "/api/v1/ask";

/// The answer to a question.
#[track_caller]
fn ask(world: &World, question: Value) -> Value {
    let answer = world.admin().post_json(ASK, &question).expect(200).json();
    assert_eq!((&answer["complete"], &answer["left_out"]), (&json!(1.0), &json!(0)), "{answer}");
    answer
}

/// The answer for which this holds: the last byte of a response may arrive before the server has recorded it.
#[track_caller]
pub(crate) fn ask_until(world: &World, question: &Value, holds: impl Fn(&Value) -> bool) -> Value {
    eventually(|| {
        let answer = ask(world, question.clone());
        if holds(&answer) { Ok(answer) } else { Err(answer.to_string()) }
    })
}

/// The sum of the counts of all rows.
fn total(answer: &Value) -> i64 {
    answer["rows"].as_array().unwrap().iter().map(|row| row["count"].as_i64().unwrap()).sum()
}

/// The status of the answer to a question that has none, with its words.
#[track_caller]
fn refused(world: &World, question: &str, status: u16) -> String {
    let answer = world.admin().ask("POST", ASK, &[], question.as_bytes()).expect(status).json();
    format!("{} {}", answer["detail"].as_str().unwrap(), answer["hint"].as_str().unwrap_or_default())
}

fn daylight(world: &World, arguments: &[&str]) -> Output {
    world.command(arguments).output().unwrap()
}

/// A server that has answered eight requests for files, six with 200 and two with 404, and has recorded them.
fn asked() -> World {
    let world = World::start();
    world.admin().push(FIRST, &Gem::new("acme-lamp", "1.0.0")).expect(200);
    world.admin().put("maven-releases", "org/example/lamp/1.0/lamp-1.0.jar", &[7; 3000]).expect(201);
    for _ in 0..4 {
        world.anon().file("maven-releases", "org/example/lamp/1.0/lamp-1.0.jar").expect(200);
    }
    (0..2).for_each(|_| drop(world.anon().file(FIRST, "info/acme-lamp").expect(200)));
    for version in ["2.0", "3.0"] {
        world.anon().file("maven-releases", &format!("org/example/lamp/{version}/lamp-{version}.jar")).expect(404);
    }
    ask_until(&world, &json!("where method = GET and repository != ''"), |answer| total(answer) == 8);
    world
}

#[test]
fn counts_bytes_and_outcomes_by_repository_are_what_clients_did() {
    let world = asked();
    let answer =
        ask(&world, json!("count, sum(bytes_out) by repository, status where method = GET and repository != ''"));
    assert_eq!(answer["exact"], true);
    let rows = answer["rows"].as_array().unwrap();
    let row = |repository: &str, status: u64| {
        rows.iter()
            .find(|row| row["repository"] == repository && row["status"] == status)
            .unwrap_or_else(|| panic!("{answer}"))
    };
    assert_eq!(row("maven-releases", 200)["count"], 4, "{answer}");
    assert_eq!(row("maven-releases", 200)["sum(bytes_out)"], 12_000);
    assert_eq!(row("maven-releases", 404)["count"], 2);
    assert_eq!(row(FIRST, 200)["count"], 2);
    assert_eq!(rows.len(), 3, "{answer}");
    let shares = ask(
        &world,
        json!({
            "where": [["repository", "=", "maven-releases"], ["method", "=", "GET"]], "measures": ["share(status = 404)", "p95(duration_ms)", "distinct(path)"],
        }),
    );
    let row = &shares["rows"][0];
    assert!((row["share(status = 404)"].as_f64().unwrap() - 2.0 / 6.0).abs() < 0.001, "{shares}");
    assert!(row["p95(duration_ms)"].as_f64().unwrap() > 0.0, "{shares}");
    assert_eq!(row["distinct(path)"].as_f64().unwrap().round(), 3.0, "{shares}");
    let series =
        ask(&world, json!("count by outcome where repository = maven-releases and method = GET per 1h from -2h"));
    assert_eq!(total(&series), 6, "{series}");
    let rows = series["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["at"].as_str().unwrap().ends_with(":00:00.000Z")), "{series}");
}

#[test]
fn an_answer_that_is_not_complete_has_a_handle_for_the_rest() {
    let world = asked();
    let part = world.admin().post_json(ASK, &json!({ "wait_ms": 0 })).expect(200).json();
    assert_eq!(part["complete"], 0.0, "{part}");
    let handle = part["next"].as_str().unwrap();
    let rest = ask(&world, json!({ "next": handle, "wait_ms": 30_000 }));
    assert!(rest["rows"][0]["count"].as_i64().unwrap() >= 8, "{rest}");
    assert_eq!(rest["next"], Value::Null);
    let part = world.admin().post_json(ASK, &json!({ "wait_ms": 0 })).expect(200).json();
    let other = world.person("other", &["observe"], &[]);
    other.post_json(ASK, &json!({ "next": part["next"] })).expect(404);
    world.admin().post_json(ASK, &json!({ "next": part["next"] })).expect(200);
    let again = refused(&world, &json!({ "next": handle }).to_string(), 404);
    assert!(again.contains(handle) && again.contains("ask the question again"), "{again}");
}

#[test]
fn a_question_that_cannot_be_read_is_refused_with_the_place_of_the_mistake() {
    let world = World::start();
    let said = refused(&world, "count by pakage", 400);
    assert_eq!(said, "character 10: there is no column `pakage` did you mean `package`?");
    let said = refused(&world, r#"{"where": [["status", ">", "x"]]}"#, 400);
    assert!(said.starts_with("`where[0][2]`: `x` is no value for `status`"), "{said}");
    assert!(refused(&world, "{", 400).contains("the JSON cannot be read"));
    world.admin().ask("POST", ASK, &[], &[0xff]).expect(400);
    let large = world.admin().ask("POST", ASK, &[], &vec![b' '; 100_000]).expect(413);
    assert!(!large.text().contains("max_upload_bytes"), "{}", large.text());
}

#[test]
fn a_value_that_no_event_can_have_is_told_with_the_answer() {
    let world = World::start();
    let answer = ask(&world, json!("count where repository = maven-relaeses and layer = hosted"));
    let hint = "there is no repository `maven-relaeses`: did you mean `maven-releases`?";
    assert_eq!(answer["hints"], json!([hint]), "{answer}");
    assert_eq!(ask(&world, json!("where repository = maven-releases"))["hints"], Value::Null);
    let shown = daylight(&world, &["ask", "where layer = grup"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.ends_with("\nhint: `layer` is never `grup`: did you mean `group`?\n"), "{text}");
    let said = refused(&world, "where repository = maven-relaeses compare rest", 400);
    assert_eq!(said, format!("no stored event matches the filter; a comparison needs 30 events of each side {hint}"));
}

#[test]
fn questions_and_findings_are_for_observers() {
    let world = World::start();
    let observer = world.person("observer", &["observe"], &[]);
    observer.post_json(ASK, &json!("count")).expect(200);
    for path in ["/api/v1/findings", "/api/v1/checks"] {
        observer.get(path).expect(200);
    }
    let reader = world.person("reader", &["read"], &[]);
    reader.post_json(ASK, &json!("count")).expect(403);
    reader.get("/api/v1/findings").expect(403);
    reader.get("/api/v1/checks").expect(403);
    let mute = json!({ "why": "no", "until": "1d" });
    observer.post_json("/api/v1/findings/mute/disk-fills@disk", &mute).expect(403);
    world.anon().post_json(ASK, &json!("count")).expect(401);
    world.admin().get(ASK).expect(405);
}

#[test]
fn the_command_prints_a_table_for_people_and_the_answer_for_programs() {
    let world = asked();
    let question = "count, sum(bytes_out) by repository, status where method = GET and repository != '' order -count";
    let shown = daylight(&world, &["ask", question]);
    let text = String::from_utf8(shown.stdout).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["REPOSITORY", "STATUS", "COUNT", "SUM(BYTES_OUT)"], "{text}");
    assert_eq!(lines[1], ["maven-releases", "200", "4", "12", "kB"], "{text}");
    assert!(text.contains("\nfrom 20") && text.contains("\nevents seen: "), "{text}");
    let json = daylight(&world, &["--json", "ask", question]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["rows"][0]["count"], 4, "{json}");
    // Words without quotes are one question.
    let words = daylight(&world, &["ask", "count", "by", "kind"]);
    assert!(String::from_utf8(words.stdout).unwrap().starts_with("KIND"));
    let wrong = daylight(&world, &["ask", "count by pakage"]);
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(said.contains("there is no column `pakage`") && said.contains("hint: did you mean `package`?"), "{said}");
    let wrong = daylight(&world, &["ask", "{\"by\": "]);
    assert_eq!(wrong.status.code(), Some(2), "a mistake of the command line");
}
