//! How long counts are kept, and that hours have what their minutes had.

use super::keys::whole;
use super::*;
use crate::disk::AppendFile;
use crate::rollup::folder::RollupFile;

/// The counts of these files by hour, and by all that the events of a row have in common.
fn by_hour(files: &[Arc<RollupFile>]) -> BTreeMap<String, Counts> {
    let mut all = BTreeMap::<String, Counts>::new();
    for file in files {
        let rows = file.rows().unwrap();
        for (key, counts) in &rows.rows {
            let texts = key.texts.map(|place| rows.text(place).to_owned());
            let hour = key.at - key.at.rem_euclid(HOUR);
            all.entry(format!("{hour} {texts:?} {}", key.status)).or_default().add(counts);
        }
    }
    all
}

/// The days after the first one of which there are counts.
fn days(counted: &BTreeMap<(i64, String), u64>) -> Vec<i64> {
    let mut days: Vec<i64> = counted.keys().map(|(at, _)| (at - NOON).div_euclid(DAY)).collect();
    days.dedup();
    days
}

#[test]
fn minutes_are_kept_for_eight_days_and_hours_for_thirteen_months() {
    const LAST: i64 = 400;
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), NOON);
    for day in (0..12).chain(386..=LAST) {
        for at in [NOON + day * DAY, NOON + day * DAY + HOUR] {
            world.clock.set(Some(Millis(at)));
            world.event("gems", 200, at, 5_000);
            world.settle();
        }
    }
    let [_, minutes, hours] = world.scan();
    let (minutes, hours) = (days(&minutes), days(&hours));
    let kept = |days: &[i64], from: i64| days.iter().copied().filter(|day| *day >= from).collect::<Vec<_>>();
    assert_eq!(kept(&minutes, LAST - 8), (LAST - 8..=LAST).collect::<Vec<_>>());
    // A file of hours has two days here, and goes as a whole.
    assert!(minutes[0] >= LAST - 10, "{minutes:?}");
    assert_eq!(kept(&hours, LAST - 396), (4..12).chain(386..=LAST - 1).collect::<Vec<_>>());
    assert!(hours[0] >= LAST - 398, "{hours:?}");
    let now = NOON + LAST * DAY + HOUR + HOUR / 2;
    world.clock.set(Some(Millis(now)));
    let found = world.ask("count from -390d per 1d", now);
    let count: i64 = found.rows.iter().map(|row| whole(&row[1])).sum();
    assert_eq!(
        (count, found.exact),
        (1 + 2 * (1 + 15), true),
        "half of the first day, and fifteen whole ones after the gap"
    );
    assert!(world.rollups.scan(&asked("count from -20d per 5m", now)).is_none(), "only hours are left");
    world.end();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn hours_have_the_sums_of_their_minutes(
        // Together with the end less than the eight days that minutes are kept.
        events in proptest::collection::vec((event(), 0..60i64, 0..12u8), 1..80),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (mut now, mut ended, mut all) = (NOON, Vec::new(), 0);
        let mut world = World::new(folder.path(), now);
        let end = [((0, 0, 0, 0, 200, 0, 1, 1), 24 * 60, 0); 4];
        for (event, minutes, then) in events.into_iter().chain(end) {
            if then < 4 {
                now += minutes * MINUTE;
                world.clock.set(Some(Millis(now)));
            }
            let mut event = made(event);
            event.at = Millis(now - (NOON - event.at.0));
            world.recorder.attempt();
            world.recorder.release(Box::new(event));
            world.settle();
            all += 1;
            if then == 11 {
                ended.push(std::mem::replace(&mut world, World::new(folder.path(), now)));
            }
        }
        let files = world.rollups.shared().unwrap().read().files.clone();
        prop_assert!(!files.hours.is_empty());
        for hours in &files.hours {
            let numbers = hours.name.first..=hours.name.last;
            let of: Vec<_> = files.minutes.iter().filter(|file| numbers.contains(&file.name.last)).cloned().collect();
            prop_assert_eq!(by_hour(std::slice::from_ref(hours)), by_hour(&of));
        }
        // The end of a time does not belong to it.
        let now = now + MINUTE / 2;
        world.clock.set(Some(Millis(now)));
        let found = world.ask("count from -3000h per 1h", now);
        prop_assert_eq!(found.rows.iter().map(|row| whole(&row[1])).sum::<i64>(), all);
        world.end();
        ended.into_iter().for_each(World::end);
    }
}

#[test]
fn hours_tell_how_many_events_a_damaged_file_of_minutes_had() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), NOON);
    let events = |hour: i64, count: usize| {
        let at = NOON + hour * HOUR;
        world.clock.set(Some(Millis(at)));
        (0..count).for_each(|_| world.event("gems", 200, at, 5_000));
        world.settle();
    };
    [(0, 5), (1, 1)].into_iter().for_each(|(hour, count)| events(hour, count));
    let [name] = &names(folder.path())[..] else { panic!("one file of minutes") };
    let path = folder.path().join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    crate::disk::remove(&path).unwrap();
    AppendFile::create(&path).unwrap().append(&bytes).unwrap();
    [(24, 3), (25, 1)].into_iter().for_each(|(hour, count)| events(hour, count));
    let now = NOON + 26 * HOUR;
    world.clock.set(Some(Millis(now)));
    let found = world.ask("count by kind from -3d", now);
    let row = |kind: &str, events| vec![Figure::Text(kind.into()), Figure::Whole(events)];
    assert_eq!((found.rows, found.exact), (vec![row(OTHER, 6), row("request", 4)], false));
    world.end();
}
