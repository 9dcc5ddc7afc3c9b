//! The disk of the data folder fills.

use crate::findings::check::{Change, Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::program::DiskFact;
use crate::signals::seen::Seen;
use std::time::Duration;

/// Within an hour this part of the room above the floor was used...
const HOUR_SHARE: f64 = 0.5;
/// ... or the growth of at least this long...
const SLOW_MIN: Duration = Duration::from_secs(6 * 3600);
/// ... reaches the floor within this.
const SLOW_LEFT: Duration = Duration::from_secs(7 * 86_400);
/// Less growth is no growth: the databases and logs breathe.
const GROWTH_MIN_BYTES: u64 = 8 << 20;

pub(super) const CHECK: Check = Check {
    key: "disk-fills",
    kind: FindingKind::Cause,
    about: "The disk of the data folder reaches its floor soon, below which nothing is written",
    when: "half of the space above `store.free_space_floor_bytes` was used within an hour, or the growth of the last two days reaches the floor within 7 days",
    unless: "less than 8 MiB were used",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

/// The bytes that were used, in how long.
#[derive(Debug, Clone, Copy)]
struct Growth {
    bytes: u64,
    time: Duration,
}

fn look(seen: &Seen) -> Verdict {
    let Some(disk) = &seen.facts.program.disk else {
        return Verdict::Unknown { needs: "the first measure of the disk".to_owned(), until: None };
    };
    let room = disk.free_bytes.saturating_sub(disk.floor_bytes);
    // Below the floor nothing is written, which another check tells.
    if room == 0 {
        return Verdict::QUIET;
    }
    let grown = |before: Option<(Duration, u64)>| {
        let (time, free) = before?;
        let bytes = free.saturating_sub(disk.free_bytes);
        (bytes >= GROWTH_MIN_BYTES && !time.is_zero()).then_some(Growth { bytes, time })
    };
    let fast = grown(disk.within_hour).filter(|growth| growth.bytes as f64 > HOUR_SHARE * (room + growth.bytes) as f64);
    let slow = grown(disk.within_days)
        .filter(|growth| growth.time >= SLOW_MIN && left(room, *growth) < SLOW_LEFT.as_secs_f64());
    match fast.or(slow) {
        Some(growth) => Verdict::Looked(vec![problem(disk, room, growth)]),
        None => Verdict::QUIET,
    }
}

/// The seconds until the floor.
fn left(room: u64, growth: Growth) -> f64 {
    room as f64 / growth.bytes as f64 * growth.time.as_secs_f64()
}

fn problem(disk: &DiskFact, room: u64, growth: Growth) -> Problem {
    let (used, free, floor) = (amount(growth.bytes), amount(disk.free_bytes), amount(disk.floor_bytes));
    let (in_time, left) = (span(growth.time.as_secs_f64()), span(left(room, growth)));
    Problem {
        subject: "disk".to_owned(),
        confidence: 0.9,
        sentence: format!(
            "the disk of the data folder lost {used} of free space in {in_time}; {free} are left, and at this rate the floor of {floor}, below which nothing is written, is reached in {left}"
        ),
        changes: vec![Change::by_command("daylight cleanup".to_owned())],
        guards: vec![Guard::passed("bytes used", growth.bytes)],
        evidence: serde_json::json!({
            "measures": ["sum(bytes_in)", "count"], "by": ["repository", "path"], "order": "-sum(bytes_in)",
        }),
        ..Problem::default()
    }
}

/// Bytes for people.
fn amount(bytes: u64) -> String {
    match bytes {
        0..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / (1_u64 << 30) as f64),
    }
}

/// A time for people.
fn span(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 172_800.0 => format!("{:.0} h", seconds / 3600.0),
        seconds => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::told::{found, told};
    use super::*;
    use crate::signals::program::ProgramFacts;

    const MIB: u64 = 1 << 20;
    const HOUR: Duration = Duration::from_secs(3600);

    fn says(free: u64, hour: Option<(Duration, u64)>, days: Option<(Duration, u64)>) -> Option<String> {
        let mib = |(time, free): (Duration, u64)| (time, free * MIB);
        let disk = DiskFact {
            free_bytes: free * MIB,
            floor_bytes: 1000 * MIB,
            within_hour: hour.map(mib),
            within_days: days.map(mib),
        };
        let seen = told(ProgramFacts { disk: Some(disk), ..ProgramFacts::default() });
        found(&CHECK, &seen).pop().map(|problem| problem.sentence)
    }

    #[test]
    fn half_of_the_room_in_an_hour_is_told_with_the_time_that_is_left() {
        assert_eq!(says(1100, Some((HOUR, 1200)), None), None, "just a half");
        let said = says(1099, Some((HOUR, 1200)), None).unwrap();
        let rate = "lost 101 MiB of free space in 60 min; 1.1 GiB are left, and at this rate the floor of 1000 MiB, below which nothing is written, is reached in 59 min";
        assert!(said.ends_with(rate), "{said}");
        assert_eq!(says(1004, Some((HOUR, 1011)), None), None, "seven MiB are no growth");
        assert_eq!(says(1300, Some((HOUR, 1200)), None), None, "it became emptier");
        assert_eq!(says(1000, Some((HOUR, 1200)), None), None, "another check tells that it is full");
    }

    #[test]
    fn slow_growth_is_told_a_week_before_the_floor_and_after_hours_of_data() {
        let day = 24 * HOUR;
        assert_eq!(says(1700, None, Some((day, 1800))), None, "seven days");
        assert!(says(1699, None, Some((day, 1800))).unwrap().contains("is reached in 7 days"));
        assert!(says(1010, None, Some((6 * HOUR, 1018))).is_some());
        assert_eq!(says(1010, None, Some((6 * HOUR - HOUR / 60, 1018))), None, "too little data");
    }

    #[test]
    fn before_the_first_measure_it_cannot_say() {
        assert!(matches!(look(&told(ProgramFacts::default())), Verdict::Unknown { .. }));
    }
}
