//! The rows of the machine: processors, memory, disk and network, and how many such machines the traffic needs.

use super::loads::Resource;
use super::period::Period;
use super::row::{SizingRow, SizingVerdict};
use super::surroundings::Surroundings;
use crate::findings::caches::size::show;
use serde_json::json;
use std::time::Duration;

/// The part of the processors that the busiest minute may use. The rest is for moments that are busier, and for jobs.
const PROCESSORS_USED: f64 = 0.6;
/// The part of the memory that may be resident. The kernel keeps files in the rest.
const MEMORY_USED: f64 = 0.8;
/// Growth of the disk is told from so long on, and the room is for so long.
const GROWTH_MIN: Duration = Duration::from_secs(6 * 3600);
const ROOM: Duration = Duration::from_secs(30 * 86_400);
const DAY_S: f64 = 86_400.0;

/// The rows.
pub(super) fn rows(period: &Period<'_>, around: &Surroundings) -> Vec<SizingRow> {
    vec![processors(period, around), memory(period, around), disk(period, around), network(period)]
}

fn processors(period: &Period<'_>, around: &Surroundings) -> SizingRow {
    let (subject, setting, unit) = ("machine:processors".to_owned(), Some("server.cores"), "processors");
    let found = period.loads.busiest(&Resource::Processors, period.from, period.to, period.now);
    let (Some(found), Some(factor)) = (found, period.factor()) else {
        return SizingRow::unknown(subject, setting, unit, "it needs an hour of traffic");
    };
    let used = found.minute.mean() * factor;
    let now =
        around.quota.map_or(found.minute.capacity, |quota| (quota.ceil() as u64).min(found.minute.capacity)).max(1);
    let needed = |times: f64| Some(((used * times / PROCESSORS_USED).ceil() as u64).max(1));
    let each = around
        .processor_s
        .map_or_else(String::new, |seconds| format!(", {:.2} ms a request over the last day", seconds * 1e3));
    let why = format!("the busiest minute used {used:.2} of them{each}; {:.0} % may be used", PROCESSORS_USED * 100.0);
    SizingRow {
        now: Some(now),
        needed: needed(1.0),
        needed_at: needed(period.times),
        why,
        confidence: period.confidence(found.minutes),
        data: json!({
            "hour": found.hour.to_string(), "minutes": found.minutes, "used": (used * 1000.0).round() / 1000.0,
            "request_ms": around.processor_s.map(|seconds| (seconds * 1e6).round() / 1e3),
        }),
        costs: true,
        ..SizingRow::unknown(subject, setting, unit, "")
    }
    .judged()
}

/// Bounded caches take no more with more traffic. Of everything else a multiple is assumed.
fn memory(period: &Period<'_>, around: &Surroundings) -> SizingRow {
    let (subject, unit) = ("machine:memory".to_owned(), "bytes");
    let (resident, Some(unused)) = (around.resident_bytes, around.unused_bytes) else {
        return SizingRow::unknown(subject, None, unit, "the kernel does not tell how much is free");
    };
    if resident == 0 {
        return SizingRow::unknown(subject, None, unit, "it was not measured yet");
    }
    let bounded = around.bounded_bytes.min(resident);
    let needed =
        |times: f64| Some(((bounded as f64 + (resident - bounded) as f64 * times) / MEMORY_USED).ceil() as u64);
    SizingRow {
        now: Some(resident + unused),
        needed: needed(1.0),
        needed_at: needed(period.times),
        why: format!(
            "at most {} were resident in the last day, {} of them in bounded caches, which more traffic does not make larger",
            show(resident),
            show(bounded)
        ),
        confidence: 0.6,
        data: json!({ "resident": resident, "bounded": bounded, "unused": unused }),
        // The kernel keeps files in free memory, and it is not known what these are worth.
        costs: false,
        ..SizingRow::unknown(subject, None, unit, "")
    }
    .judged()
}

fn disk(period: &Period<'_>, around: &Surroundings) -> SizingRow {
    let (subject, unit) = ("machine:disk".to_owned(), "bytes");
    let Some(disk) = &around.facts.program.disk else {
        return SizingRow::unknown(subject, None, unit, "it was not measured yet");
    };
    let now = disk.free_bytes.saturating_sub(disk.floor_bytes);
    let Some((time, before)) = disk.within_days.filter(|(time, _)| *time >= GROWTH_MIN) else {
        let row = SizingRow::unknown(subject, None, unit, "its growth is known after six hours");
        return SizingRow { now: Some(now), ..row };
    };
    let grown = before.saturating_sub(disk.free_bytes);
    let a_day = grown as f64 / time.as_secs_f64() * DAY_S;
    let needed = |times: f64| Some((a_day * times * ROOM.as_secs_f64() / DAY_S).ceil() as u64);
    SizingRow {
        now: Some(now),
        needed: needed(1.0),
        needed_at: needed(period.times),
        why: format!(
            "{} a day were used in the last {:.0} hours, so this is the room for 30 days; {} are free above the floor",
            show(a_day as u64),
            time.as_secs_f64() / 3600.0,
            show(now)
        ),
        confidence: 0.6,
        data: json!({ "bytes_a_day": a_day as u64, "hours": (time.as_secs_f64() / 3600.0).round() }),
        ..SizingRow::unknown(subject, None, unit, "")
    }
    .judged()
}

fn network(period: &Period<'_>) -> SizingRow {
    let (subject, unit) = ("machine:network".to_owned(), "bytes a second");
    let Some(busiest) = period.busiest else {
        return SizingRow::unknown(subject, None, unit, "it needs an hour of traffic");
    };
    let rate = busiest.bytes_out / 60;
    SizingRow {
        needed: Some(rate),
        needed_at: Some((rate as f64 * period.times).ceil() as u64),
        verdict: SizingVerdict::Enough,
        why: "the mean of the busiest minute to clients; the speed of the network is not known here".to_owned(),
        confidence: 0.6,
        data: json!({ "minute": busiest.at.to_string(), "bytes_out": busiest.bytes_out }),
        ..SizingRow::unknown(subject, None, unit, "")
    }
}

/// How many machines like this one the traffic needs: today's, and the multiple. `None`: it is not known.
pub(super) fn machines(rows: &[SizingRow]) -> Option<(u64, u64)> {
    let of = |subject: &str| {
        let row = rows.iter().find(|row| row.subject == subject)?;
        let now = row.now.filter(|now| *now > 0)?;
        Some((row.needed?.div_ceil(now), row.needed_at?.div_ceil(now)))
    };
    let processors = of("machine:processors")?;
    let memory = of("machine:memory").unwrap_or((1, 1));
    Some((processors.0.max(memory.0).max(1), processors.1.max(memory.1).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_as_many_as_what_is_scarcest_needs() {
        let row = |subject: &str, now, needed, needed_at| SizingRow {
            now: Some(now),
            needed: Some(needed),
            needed_at: Some(needed_at),
            ..SizingRow::unknown(subject.to_owned(), None, "", "")
        };
        let processors = row("machine:processors", 4, 3, 6);
        assert_eq!(machines(std::slice::from_ref(&processors)), Some((1, 2)));
        assert_eq!(machines(&[processors, row("machine:memory", 100, 210, 390)]), Some((3, 4)));
        assert_eq!(machines(&[row("machine:memory", 100, 210, 390)]), None);
    }
}
