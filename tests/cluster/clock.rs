//! A node whose machine has a wrong clock, beside one that is right.

use super::{VARIABLES, journal, settings_of};
use crate::signin::{codes_after, guarded};
use crate::world::{Answer, FIRST, Gem, Index, Postgres, World, await_true};
use serde_json::Value;

const HOUR_S: i64 = 3_600;

/// What a change at this node is told, and what its health says.
#[track_caller]
fn is_refused(node: &World, why: &str) {
    let refused = node.admin().push(FIRST, &Gem::new("lamp", "9.0.0")).expect(503);
    assert!(refused.text().contains(why) && refused.text().contains("hint: "), "{refused:?}");
    let ready = node.anon().get("/health/ready").expect(200);
    assert!(ready.text().contains(&format!("degraded: read-only: {why}")), "{ready:?}");
}

#[test]
fn a_node_whose_clock_is_an_hour_off_reads_and_writes_nothing_and_says_so_until_the_clock_is_right() {
    let postgres = Postgres::start();
    let right = World::start_with_file_and(&settings_of(&postgres, "a"), VARIABLES);
    let mut wrong = World::start_on_own_machine(&settings_of(&postgres, "b"), VARIABLES);
    let push = |node: &World, version: &str| node.admin().push(FIRST, &Gem::new("lamp", version));
    for (round, (ahead_s, why)) in [
        (HOUR_S, "the machine's clock is ahead of that of the database by"),
        (-HOUR_S, "the machine's clock is behind that of the database by"),
    ]
    .into_iter()
    .enumerate()
    {
        for (count, starts) in [false, true].into_iter().enumerate() {
            let version = |number: usize| format!("{round}.{count}.{number}");
            if starts {
                wrong.kill();
            }
            wrong.set_machine_clock(ahead_s);
            if starts {
                wrong.resume();
            }
            is_refused(&wrong, why);
            push(&right, &version(0)).expect(200);
            let there = wrong.anon().file(FIRST, "versions").expect(200);
            assert!(there.text().contains(&version(0)) || there.header("daylight-stale").is_some(), "{there:?}");
            for node in [&right, &wrong] {
                let seen = node.admin().get("/api/v1/cluster").expect(200).json();
                let serves = |node: &&Value| node["state"] == "serving";
                assert_eq!(seen["nodes"].as_array().unwrap().iter().filter(serves).count(), 2, "{seen:#}");
            }
            wrong.set_machine_clock(0);
            await_true("it writes", || push(&wrong, &version(1)).status == 200);
            await_true("its health says so", || wrong.anon().get("/health/ready").expect(200).text() == "ready\n");
        }
    }
    let moments: Vec<i64> = journal(&postgres)
        .iter()
        .map(|row| {
            let row: Value = serde_json::from_str(row.split_once('|').unwrap().1).unwrap();
            row["at"].as_i64().unwrap()
        })
        .collect();
    let now = telemetry::Clock::default().now().0;
    assert!(moments.is_sorted() && moments.iter().all(|at| (now - at).abs() < HOUR_S * 1_000 / 2), "{moments:?}");
    assert_eq!(Index::read(&right.admin(), FIRST), Index::read(&wrong.admin(), FIRST));
}

#[test]
fn a_node_whose_clock_is_an_hour_off_takes_no_codes_of_then() {
    let postgres = Postgres::start();
    let wrong = World::start_on_own_machine(&settings_of(&postgres, "a"), VARIABLES);
    let (mira, uri) = guarded(&wrong, "mira");
    let push = |code: &str| -> Answer {
        let gem = Gem::new("lamp", "1.0.0").bytes();
        mira.ask("POST", &format!("/repository/{FIRST}/api/v1/gems"), &[("OTP", code)], &gem)
    };
    for ahead_s in [-HOUR_S, HOUR_S] {
        wrong.set_machine_clock(ahead_s);
        let [of_then, _] = codes_after(&uri, ahead_s);
        push(&of_then).expect(503);
        wrong.set_machine_clock(0);
    }
    assert_eq!(
        postgres.sql("SELECT count(*) FROM daylight.note WHERE body LIKE '%\"used\":null%'"),
        "1",
        "none is used up"
    );
    await_true("the clock is believed", || wrong.anon().get("/health/ready").expect(200).text() == "ready\n");
    let [now, _] = codes_after(&uri, 0);
    push(&now).expect(200);
}
