//! The database is killed or suspended under requests. Reads go on, and changes come back by themselves.

use super::{journal, settings, world_on};
use crate::rebuild::{everything, fill};
use crate::world::{Answer, FIRST, Gem, Index, Postgres, PostgresRelease, World, await_true, eventually};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// Why an answer may be older than the database.
fn stale(answer: &Answer) -> Option<&str> {
    answer.header("daylight-stale")
}

#[test]
fn changes_wait_while_postgresql_is_killed_and_starts_again() {
    for release in PostgresRelease::ALL {
        let mut postgres = Postgres::start_release(release);
        let world = world_on(&postgres);
        fill(&world);
        let admin = world.admin();
        for version in ["3.0.0", "3.1.0"] {
            postgres.kill();
            Index::read(&admin, FIRST);
            // The change waits as long as the start takes, and no longer.
            std::thread::scope(|scope| {
                let push = scope.spawn(|| admin.push(FIRST, &Gem::new("lamp", version)));
                postgres.resume();
                push.join().unwrap().expect(200);
            });
            admin.yank(FIRST, "lamp", version).expect(200);
            let path = format!("org/example/lamp/{version}/lamp-{version}.jar");
            admin.put("trees", &path, version.as_bytes()).expect(201);
        }
        let metrics = admin.get("/metrics").expect(200);
        let last = format!("\ndaylight_journal_seq {}\n", journal(&postgres).len());
        assert!(metrics.text().contains(&last), "{release:?}: {last}");
    }
}

#[test]
fn while_postgresql_does_not_answer_reads_go_on_and_changes_are_refused_with_a_hint_until_it_does() {
    let postgres = Postgres::start();
    let world = world_on(&postgres);
    fill(&world);
    let admin = world.admin();
    let path = "/repository/trees/org/example/lamp/1.0/lamp-1.0.pom";
    let (reads, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let read = || {
        let mut connection = admin.connect().unwrap();
        while !over.load(SeqCst) {
            for path in [path, "/repository/gems-private/info/lamp", "/repository/gems-private/versions"] {
                admin.on(&mut connection, "GET", path, &[], b"").unwrap().expect(200);
                reads.fetch_add(1, SeqCst);
            }
            admin.on(&mut connection, "GET", "/health/ready", &[], b"").unwrap().expect(200);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(read);
        await_true("an answer is fresh", || stale(&admin.get(path)).is_none());
        postgres.suspend();
        let refused = admin.push(FIRST, &Gem::new("lamp", "3.0.0")).expect(503);
        let told = refused.text();
        assert!(told.contains("the database of this server") && !told.contains("127.0.0.1"), "{told}");
        assert!(told.contains("hint: ") && refused.header("retry-after") == Some("5"), "{refused:?}");
        admin.put("trees", "org/example/lamp/3.0/lamp-3.0.jar", b"3.0").expect(503);
        // A page from before tells it, too, and so do answers that nothing was asked for yet.
        for path in [path, "/repository/trees/org/example/lamp/1.0/lamp-1.0.jar", "/repository/trees/missing"] {
            eventually(|| match stale(&admin.get(path)) {
                Some("truth_unreachable") => Ok(()),
                other => Err(format!("{path}: {other:?}")),
            });
        }
        let unconfirmed = admin.get("/repository/trees/never/asked.jar");
        let event = world.event(unconfirmed.header("daylight-event").unwrap());
        assert!(event.to_string().contains("changes of other machines may be missing"), "{event}");
        let ready = admin.get("/health/ready").expect(200);
        assert!(ready.text().contains("degraded: read-only: ") && !ready.text().contains("127.0.0.1"), "{ready:?}");
        postgres.run_on();
        // The first try may have reached it, and then the version is there already, with the same bytes.
        eventually(|| match admin.push(FIRST, &Gem::new("lamp", "3.1.0")) {
            answer if answer.status == 200 => Ok(()),
            answer => Err(format!("{answer:?}")),
        });
        admin.put("trees", "org/example/lamp/3.1/lamp-3.1.jar", b"3.1").expect(201);
        await_true("an answer is fresh", || stale(&admin.get(path)).is_none());
        assert_eq!(admin.get("/health/ready").expect(200).text(), "ready\n");
        let before = reads.load(SeqCst);
        await_true("reads go on", || reads.load(SeqCst) > before);
        over.store(true, SeqCst);
    });
    journal(&postgres);
}

#[test]
fn while_postgresql_is_away_for_ten_minutes_no_read_fails_and_then_changes_go_on() {
    let mut postgres = Postgres::start();
    let world = World::start_in_conformance_with_file(&settings(&postgres), super::VARIABLES);
    world.set_time("2050-01-01T00:00:00Z");
    fill(&world);
    let (before, admin) = (everything(&world), world.admin());
    postgres.kill();
    for minute in 1..=10 {
        world.set_time(&format!("2050-01-01T00:{minute:02}:00Z"));
        // Each of them is 200 or 404, as before.
        assert_eq!(everything(&world), before, "after {minute} minutes");
        admin.file(FIRST, "gems/lamp-2.0.0.gem").expect(200);
    }
    postgres.resume();
    await_true("changes go on", || admin.push(FIRST, &Gem::new("lamp", "3.0.0")).status == 200);
    await_true("answers are fresh", || stale(&admin.get("/repository/gems-private/versions")).is_none());
    journal(&postgres);
}
