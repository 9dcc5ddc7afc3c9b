//! A minute has a limited number of keys, and the events of further ones are counted all the same.

use super::*;

/// A count of an answer.
pub(super) fn whole(figure: &Figure) -> i64 {
    let Figure::Whole(whole) = figure else { panic!("{figure:?} is no count") };
    *whole
}

/// Answers a question at half past noon.
fn at_half_past(world: &World, text: &str) -> Answer {
    world.ask(text, NOON + HOUR / 2)
}

fn keys(world: &World) -> usize {
    world.rollups.shared().unwrap().read().recent.keys_at(NOON)
}

#[test]
fn repositories_beyond_4096_keys_count_as_other_and_answers_about_them_are_not_exact() {
    const REPOSITORIES: u64 = 5000;
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(folder.path(), NOON + 30_000);
    for number in 0..REPOSITORIES {
        world.event(&format!("r{number}"), 200, NOON, 5_000);
        if number % 1000 == 999 {
            world.settle();
        }
    }
    // A key that has a row keeps it.
    (0..100).for_each(|number| world.event(&format!("r{number}"), 200, NOON, 5_000));
    world.settle();
    let folded = REPOSITORIES - OWN_KEYS_MAX as u64;
    let [bound, _] = world.rollups.bounds();
    assert_eq!((bound.rejected(), bound.capacity()), (folded, KEYS_MAX as u64));
    assert!(bound.highest() <= KEYS_MAX as u64);
    for then in ["it is in memory", "it is in the log", "it is in a file"] {
        match then {
            "it is in the log" => {
                world.end();
                world = World::new(folder.path(), NOON + 30_000);
            }
            "it is in a file" => {
                world.clock.set(Some(Millis(NOON + HOUR)));
                world.event("gems", 200, NOON + HOUR, 5_000);
                world.settle();
            }
            _ => {}
        }
        assert!(keys(&world) <= KEYS_MAX, "{then}");
        let all = (REPOSITORIES + 100).cast_signed();
        let count = at_half_past(&world, "count, sum(bytes_out) by outcome from -1h");
        let expected = vec![Figure::Text("answered".into()), Figure::Whole(all), Figure::Whole(all * 10)];
        assert_eq!((count.rows, count.exact), (vec![expected], true), "{then}");
        let first = at_half_past(&world, "count where repository = r7 from -1h");
        assert_eq!((first.rows, first.exact), (vec![vec![Figure::Whole(2)]], false), "{then}");
        let top = at_half_past(&world, "count by repository from -1h top 1");
        let other = vec![Figure::Text(OTHER.into()), Figure::Whole(folded.cast_signed())];
        assert_eq!((top.rows, top.exact), (vec![other], false), "{then}");
    }
    world.end();
}

#[test]
fn of_the_last_events_of_a_crowded_minute_only_the_number_is_known() {
    const STATUSES: u16 = 6000;
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), NOON + 30_000);
    for status in 0..STATUSES {
        world.event("gems", status, NOON, 5_000);
        if status % 1500 == 1499 {
            world.settle();
        }
    }
    world.settle();
    assert!(keys(&world) <= KEYS_MAX, "{}", keys(&world));
    let all = at_half_past(&world, "count from -1h");
    assert_eq!((all.rows, all.exact), (vec![vec![Figure::Whole(STATUSES.into())]], false));
    let kinds = at_half_past(&world, "count by kind from -1h order count");
    let names: Vec<&Figure> = kinds.rows.iter().map(|row| &row[0]).collect();
    assert_eq!(names, [&Figure::Text(OTHER.into()), &Figure::Text("request".into())]);
    world.end();
}
