//! The database and a data folder have other changes under the same numbers, and a person chooses which of them are kept.

use super::lost::await_segments;
use super::{VARIABLES, journal, settings, settings_of, world_on};
use crate::objects::shared;
use crate::rebuild::{everything, fill};
use crate::world::{FIRST, Gem, Index, ObjectProduct, Person, Postgres, World, await_true};
use serde_json::{Value, json};
use std::fs;
use std::process::{Output, Stdio};

/// Node `a` is stopped and has a change that a promoted standby lacked, to which node `b` wrote something else.
fn parted() -> (Postgres, World, World) {
    parted_by("", |second| drop(second.push(FIRST, &Gem::new("oil", "3.0.0")).expect(200)))
}

/// The same with an object storage of `a`, and another change by `b`.
fn parted_by(more: &str, change: impl Fn(&Person)) -> (Postgres, World, World) {
    let mut postgres = Postgres::start();
    let mut first = World::start_with_file_and(&(settings(&postgres) + more), VARIABLES);
    fill(&first);
    let standby = postgres.standby();
    first.admin().push(FIRST, &Gem::new("lamp", "3.0.0")).expect(200);
    first.admin().push(FIRST, &Gem::new("lamp", "3.1.0")).expect(200);
    if !more.is_empty() {
        await_segments(&first, journal(&postgres).len());
    }
    first.stop();
    postgres.fail_over(standby);
    // `b` keeps its bytes elsewhere than `a`.
    postgres.sql("DELETE FROM daylight.note WHERE name = 'objects'");
    let second = World::start_with_file_and(&settings_of(&postgres, "b"), VARIABLES);
    change(&second.admin());
    (postgres, first, second)
}

fn resolve(world: &World, flags: &[&str]) -> Output {
    world.offline(&[&["cluster", "resolve"], flags].concat()).output().unwrap()
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refusal(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("hint: "), "{output:?}");
    said
}

/// Whether the index of a node has these versions.
fn offers(world: &World, gem: &str, version: &str) -> bool {
    Index::read(&world.admin(), FIRST).offered.contains_key(&(gem.to_owned(), version.to_owned()))
}

/// The only file with changes that were given up.
fn given_up(world: &World) -> Option<String> {
    let names = fs::read_dir(world.data()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let found: Vec<String> = names.filter(|name| name.starts_with("given-up-") && name.ends_with(".jsonl")).collect();
    assert!(found.len() < 2, "{found:?}");
    let name = found.into_iter().next()?;
    Some(fs::read_to_string(world.data().join(name)).unwrap())
}

/// Kills the command as soon as there is a file of this node with changes that are given up.
fn kill_in_between(world: &World, keep: &str) {
    let mut command = world.offline(&["cluster", "resolve", "--keep", keep, "--yes"]);
    let mut killed = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while given_up(world).is_none() && killed.try_wait().unwrap().is_none() {}
    let _ = killed.kill();
    killed.wait().unwrap();
}

#[test]
fn both_histories_are_shown_and_without_a_choice_nothing_is_changed() {
    let (postgres, mut first, second) = parted();
    let rows = journal(&postgres);
    let shown = answer(&resolve(&first, &["--json"]));
    let common = rows.len() as u64 - 1;
    assert_eq!((&shown["common"], &shown["parted"], &shown["given_up"]), (&json!(common), &json!(true), &json!(null)));
    assert!(shown["common_at"].is_string(), "{shown:#}");
    assert_eq!(shown["database"]["nodes"], json!([{ "name": "b", "changes": 1 }]));
    let change = |of: &Value, at: usize| {
        let row = &of["first"][at];
        ["kind", "repository", "package", "version"].map(|name| row[name].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(change(&shown["database"], 0), ["publish", FIRST, "oil", "3.0.0"]);
    assert_eq!(change(&shown["copy"], 1), ["publish", FIRST, "lamp", "3.1.0"]);
    assert_eq!((&shown["copy"]["changes"], &shown["copy"]["last"]), (&json!(2), &json!(common + 2)));
    let said = String::from_utf8(resolve(&first, &["--keep", "copy"]).stdout).unwrap();
    assert!(
        said.contains("lamp 3.0.0") && said.contains("oil 3.0.0") && said.contains("nothing was changed"),
        "{said}"
    );
    assert!(!resolve(&first, &["--yes"]).status.success());
    assert_eq!((journal(&postgres), given_up(&first)), (rows, None));
    first.resume();
    first.await_log("daylight cluster resolve");
    assert_eq!(refusal(&resolve(&first, &[])).matches("uses").count(), 1, "it is said once");
    let cluster = first.admin().get("/api/v1/cluster").expect(200).json();
    assert_eq!((&cluster["nodes"][0]["last"], &cluster["nodes"][0]["behind"]), (&json!(common + 2), &Value::Null));
    assert_eq!(cluster["database"]["last"], common + 1, "{cluster:#}");
    assert!(offers(&first, "lamp", "3.1.0"), "its reads go on");
    first.admin().push(FIRST, &Gem::new("lamp", "3.2.0")).expect(503);
    drop(second);
}

#[test]
fn the_copy_gives_its_changes_up_and_becomes_that_of_the_database() {
    let (postgres, mut first, second) = parted();
    let rows = journal(&postgres);
    kill_in_between(&first, "database");
    assert_eq!(journal(&postgres), rows, "the database is only read");
    let done = answer(&resolve(&first, &["--keep", "database", "--yes", "--json"]));
    if done["parted"] == true {
        assert!(fs::exists(done["given_up"]["replaced"].as_str().unwrap()).unwrap(), "{done:#}");
        assert_eq!(answer(&resolve(&first, &["--json"])), json!({ "parted": false }));
    }
    let file = given_up(&first).unwrap();
    assert!(file.lines().count() == 2 && file.contains("lamp-3.0.0") && file.contains("lamp-3.1.0"), "{file}");
    first.resume();
    assert_eq!(journal(&postgres), rows);
    assert!(offers(&first, "oil", "3.0.0") && !offers(&first, "lamp", "3.0.0"));
    let versions = |world: &World| world.anon().file(FIRST, "versions").expect(200).text().to_owned();
    assert_eq!(versions(&first), versions(&second));
    // The bytes were kept.
    first.anon().file(FIRST, "gems/lamp-2.0.0.gem").expect(200);
    first.admin().push(FIRST, &Gem::new("lamp", "4.0.0")).expect(200);
    await_true("the other node has it", || offers(&second, "lamp", "4.0.0"));
    first.stop();
    assert_eq!(answer(&resolve(&first, &["--json"])), json!({ "parted": false }));
}

#[test]
fn the_database_gives_its_changes_up_once_nobody_else_works_on_it() {
    let (postgres, mut first, mut second) = parted();
    let rows = journal(&postgres);
    let refused = refusal(&resolve(&first, &["--keep", "copy", "--yes"]));
    assert!(refused.contains("is in use by") && given_up(&first).is_none(), "{refused}");
    assert_eq!(journal(&postgres), rows);
    second.stop();
    kill_in_between(&first, "copy");
    let between = journal(&postgres);
    answer(&resolve(&first, &["--keep", "copy", "--yes", "--json"]));
    let now = journal(&postgres);
    assert!(between == rows || between == now, "all of it is done, or nothing: {between:?}");
    assert_eq!((now.len(), &now[..rows.len() - 1]), (rows.len() + 1, &rows[..rows.len() - 1]));
    assert!(now[rows.len()].contains("lamp-3.1.0"), "{}", now[rows.len()]);
    let file = given_up(&first).unwrap();
    assert!(file.lines().count() == 1 && file.contains("oil-3.0.0"), "{file}");
    first.resume();
    first.admin().push(FIRST, &Gem::new("lamp", "4.0.0")).expect(200);
    // The other node had followed the changes that were given up.
    second.resume();
    second.await_log("daylight cluster resolve");
    second.admin().push(FIRST, &Gem::new("oil", "4.0.0")).expect(503);
    second.stop();
    answer(&resolve(&second, &["--keep", "database", "--yes", "--json"]));
    second.resume();
    assert!(offers(&second, "lamp", "4.0.0") && !offers(&second, "oil", "3.0.0"));
    second.admin().push(FIRST, &Gem::new("oil", "4.0.0")).expect(200);
}

#[test]
fn segments_of_the_history_that_is_given_up_leave_object_storage() {
    let storage = shared(ObjectProduct::SeaweedFs);
    // It needs no bytes, so this node needs no object storage, from which it would put back what the database lacks.
    let yank = |second: &Person| drop(second.yank(FIRST, "lamp", "2.0.0").expect(200));
    let (postgres, mut first, second) = parted_by(&storage.settings("resolve/parted", &storage.url()), yank);
    let done = answer(&resolve(&first, &["--keep", "database", "--yes", "--json"]));
    assert!(done["given_up"]["segments"].as_u64() > Some(0), "{done:#}");
    first.resume();
    first.admin().push(FIRST, &Gem::new("lamp", "4.0.0")).expect(200);
    let before = everything(&first);
    drop(second);
    first.kill();
    fs::remove_dir_all(first.data()).unwrap();
    first.resume();
    assert_eq!(everything(&first), before);
    journal(&postgres);
    first.stop();
    let said = first.run("check");
    assert!(said.status.success(), "{said:?}");
}

#[test]
fn where_the_histories_have_not_parted_or_there_is_no_database_this_is_said() {
    let postgres = Postgres::start();
    let mut world = world_on(&postgres);
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.stop();
    let said = resolve(&world, &["--keep", "copy", "--yes"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("there is nothing to resolve"), "{said:?}");
    assert_eq!(given_up(&world), None);
    world.configure("");
    assert!(refusal(&resolve(&world, &[])).contains("`cluster.database` is not set"));
}
