//! Logs that cannot be read, or whose names are taken.

use super::*;

/// A folder in place of a file: reading it fails.
#[expect(clippy::disallowed_methods, reason = "a log becomes unreadable")]
fn spoil(path: &Path) {
    fs::remove_file(path).unwrap();
    fs::create_dir(path).unwrap();
}

#[test]
fn a_log_that_cannot_be_read_is_set_aside_and_later_ones_become_segments() {
    let folder = tempfile::tempdir().unwrap();
    let log = |number: u64| folder.path().join("events").join(names::log_name(number));
    let close = |world: &World| {
        let (mut intake, mut rows) = (world.store.intake(), world.store.rows());
        world.store.freeze(&mut rows, intake.log_writer.as_mut());
    };
    let world = World::large(folder.path());
    world.clock.set(None);
    let begin = world.clock.now().0;
    for _ in 0..2 {
        world.take(begin..begin + 100);
        close(&world);
    }
    let last = world.take(begin..begin + 100);
    // The first one has no rows in memory.
    world.store.rows().unflushed[0].blocks.clear();
    spoil(&log(0));
    world.store.maintain(true);
    assert!(!world.store.incidents.flushing.is_on());
    assert_eq!((files(folder.path()), world.store.rows().unflushed.len()), (count(1, 1), 0));
    let parts = |from: i64| world.store.parts(Millis(from), Millis(i64::MAX));
    let [segment, damaged] = [&parts(begin)[0], &parts(begin)[1]];
    assert_eq!((segment.span().rows, damaged.span().events), (200, 0));
    assert!(damaged.numbers(Column::Id).unwrap_err().what.ends_with("events_0.log"));
    assert!(segment.numbers(Column::Id).unwrap().contains(&last[0].cast_signed()));
    assert_eq!((parts(begin + DAY).len(), parts(0).len()), (0, 2));
    // It takes a part of the disk until it is too old.
    world.clock.set(Some(Millis(begin + 91 * DAY)));
    world.store.maintain(false);
    assert!(world.store.rows().quarantine.is_empty());
    assert!(world.store.incidents.removing.is_on(), "a folder is not removed");
}

#[test]
fn a_start_reads_the_logs_behind_one_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::large(folder.path());
    world.take(NOON..NOON + 100);
    let store = &world.store;
    store.freeze(&mut store.rows(), store.intake().log_writer.as_mut());
    let last = world.take(NOON + 100..NOON + 200);
    drop(world);
    let world = World::look(folder.path(), 1 << 30, 1 << 30);
    spoil(&folder.path().join("events").join(names::log_name(0)));
    world.store.load();
    let rows = world.store.rows();
    assert_eq!((rows.quarantine.len(), rows.unflushed.len()), (1, 1));
    drop(rows);
    let parts = world.store.parts(Millis(NOON), Millis(NOON + HOUR));
    let ids: Vec<u64> =
        parts.iter().filter_map(|part| part.numbers(Column::Id).ok()).flatten().map(i64::cast_unsigned).collect();
    assert_eq!(ids, last);
}

#[test]
fn something_with_the_name_of_the_next_log_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let log = |number: u64| folder.path().join("events").join(names::log_name(number));
    fs::create_dir_all(log(0)).unwrap();
    let world = World::large(folder.path());
    put(log(1), "of somebody");
    let ids = world.take(NOON..NOON + 100);
    assert!(!world.store.incidents.logging.is_on());
    assert_eq!((log(2).is_file(), fs::read(log(1)).unwrap()), (true, b"of somebody".to_vec()));
    drop(world);
    assert_eq!(World::large(folder.path()).ids(), ids, "a start finds them");
}

#[test]
fn a_log_whose_events_found_no_room_in_memory_is_named_until_they_are_in_a_segment() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path(), 1 << 30, 1 << 20);
    let (mut ids, mut at) = (Vec::new(), NOON);
    let unreadable = || {
        let parts = world.store.parts(Millis(NOON), Millis(NOON + 1));
        let causes = parts.iter().filter_map(|part| part.numbers(Column::Id).err());
        causes.map(|error| error.to_string()).collect::<Vec<_>>()
    };
    while unreadable().is_empty() {
        ids.extend(world.take(at..at + 1000));
        at += 1000;
        assert!(ids.len() < 1_000_000);
    }
    assert!(
        unreadable()[0].ends_with("events_0.log: its events found no room in memory, and are not in a segment yet")
    );
    world.store.maintain(false);
    assert_eq!(unreadable(), Vec::<String>::new());
    ids.sort_unstable();
    assert_eq!(world.ids(), ids);
}
