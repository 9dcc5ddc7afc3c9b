//! The disk of PostgreSQL is full.

use super::{journal, world_on};
use crate::rebuild::fill;
use crate::world::{Answer, FIRST, Gem, Index, Postgres, await_true, eventually};

/// Room for an empty database and a few segments of its log.
const DISK: u64 = 160 << 20;

#[test]
fn while_the_disk_of_postgresql_is_full_reads_go_on_and_changes_are_refused_and_told_until_there_is_space() {
    let mut postgres = Postgres::start_on_small_disk(DISK);
    let mut world = world_on(&postgres);
    fill(&world);
    let admin = world.admin();
    let mut number = 0;
    // First a table cannot grow. Then the log of PostgreSQL cannot, and PostgreSQL ends.
    for log_too in [false, true] {
        postgres.disk().fill();
        // The last pages of the table have room yet.
        let refused = eventually(|| {
            number += 1;
            if log_too {
                let _ = postgres.try_sql("postgres", "SELECT pg_switch_wal()");
            }
            match push(&admin, number) {
                answer if answer.status == 200 => Err(format!("{number} changes found room")),
                answer => Ok(answer),
            }
        });
        let refused = refused.expect(503);
        assert!(refused.text().contains("hint: ") && refused.header("retry-after").is_some(), "{refused:?}");
        if !log_too {
            world.await_log("No space left on device");
            // Nothing that is refused later is told again.
            (0..3).for_each(|_| drop(push(&admin, number).expect(503)));
            assert_eq!(world.log().matches("the database cannot be used").count(), 1);
        }
        let index = Index::read(&admin, FIRST);
        index.download(&admin, FIRST);
        let ready = admin.get("/health/ready").expect(200);
        assert!(ready.text().contains("degraded: read-only: "), "{ready:?}");
        postgres.disk().empty();
        if !postgres.runs() {
            postgres.resume();
        }
        await_true("changes go on", || push(&admin, number).status == 200);
        journal(&postgres);
    }
    world.stop();
    let said = world.offline(&["check", "--verify"]).output().unwrap();
    assert!(said.status.success(), "{said:?}");
}

fn push(admin: &crate::world::Person, number: u64) -> Answer {
    admin.push(FIRST, &Gem::new("wick", &format!("1.{number}")))
}
