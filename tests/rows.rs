//! Every row of the journal has an author, an origin, and a date that never goes back.

use crate::accounts::{settled, sum};
use crate::world::{FIRST, Gem, World, program};
use serde_json::json;
use store::{JournalReads as _, JournalRow, Seq, Sqlite};

fn rows(world: &mut World) -> Vec<JournalRow> {
    world.stop();
    Sqlite::reader(&world.data().join("truth.sqlite")).unwrap().journal(Seq(0), 10_000).unwrap()
}

#[test]
fn every_row_says_who_made_it_and_from_where() {
    let mut world = World::start();
    let admin = world.admin();
    world.tree("files", "maven");
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    admin.yank(FIRST, "lamp", "1.0.0").expect(200);
    admin.put("files", "org/example/lamp/1.0/lamp-1.0.pom", b"<project/>").expect(201);
    admin.delete("files", "org/example/lamp/1.0/lamp-1.0.pom").expect(204);
    admin.patch_json("/api/v1/repositories/files", &json!({ "private": true })).expect(200);
    let token = json!({ "name": "ci", "scopes": ["read"] });
    admin.post_json("/api/v1/tokens", &token).expect(201);
    admin.ask("DELETE", "/api/v1/tokens/ci", &[], b"").expect(204);
    let rows = rows(&mut world);
    let first: Vec<_> = rows.iter().filter(|row| row.from != "127.0.0.1").collect();
    assert!(first.iter().all(|row| (&*row.by, &*row.from) == ("daylight", "server")), "{first:?}");
    assert_eq!(first.len(), 8, "seven repositories and a token: {first:?}");
    assert!(rows.len() >= first.len() + 8 && rows.iter().all(|row| !row.by.is_empty()), "{rows:?}");
}

#[test]
fn what_a_command_makes_in_a_folder_comes_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let made = program(&["init", "--data"]).arg(folder.path()).output().unwrap();
    assert!(made.status.success());
    let rows = Sqlite::reader(&folder.path().join("truth.sqlite")).unwrap().journal(Seq(0), 99).unwrap();
    assert!(rows.len() == 8 && rows.iter().all(|row| row.from == "cli"), "{rows:?}");
}

#[test]
fn where_the_clock_is_set_back_the_index_of_a_gem_only_grows_and_no_row_is_earlier_than_the_last() {
    let mut world = World::start_in_conformance(&[]);
    let admin = world.admin();
    let info = || world.anon().get(&format!("/repository/{FIRST}/info/lamp")).expect(200).text().to_owned();
    let mut before = "---\n".to_owned();
    for (moment, version) in [
        ("2026-11-01T12:00:00Z", "2.0.0"),
        ("2026-11-01T11:00:00Z", "1.0.0"),
        ("2026-11-01T11:30:00Z", "0.9.0"),
        ("2026-11-01T12:30:00Z", "0.8.0"),
    ] {
        world.set_time(moment);
        admin.push(FIRST, &Gem::new("lamp", version)).expect(200);
        let after = info();
        assert!(after.starts_with(&before) && after.len() > before.len(), "{version}: {after}");
        before = after;
    }
    let rows = rows(&mut world);
    assert!(rows.is_sorted_by_key(|row| row.at), "{rows:?}");
}

#[test]
fn pushes_at_once_seldom_have_to_be_tried_again_for_their_moments() {
    const PUSHERS: usize = 8;
    const EACH: usize = 20;
    let world = World::start();
    let commits = || {
        settled(&world);
        sum(world.anon().get("/metrics").expect(200).text(), "daylight_op_duration_seconds_count{op=\"truth.commit\"}")
    };
    let before = commits();
    std::thread::scope(|scope| {
        for pusher in 0..PUSHERS {
            let admin = world.admin();
            scope.spawn(move || {
                for number in 0..EACH {
                    admin.push(FIRST, &Gem::new(&format!("lamp{pusher}-{number}"), "1.0.0")).expect(200);
                }
            });
        }
    });
    let (tries, pushes) = (commits() - before, (PUSHERS * EACH) as u64);
    println!("{tries} commits for {pushes} pushes");
    assert!((pushes..=pushes * 11 / 10).contains(&tries), "{tries} commits for {pushes} pushes");
}
