//! The rows of pools, calls, slots and limits: from the busiest minute of each.

use super::loads::{Busiest, LIMITS, POOLS, Resource};
use super::minute::{Basis, Minute};
use super::period::Period;
use super::row::{SizingRow, SizingVerdict};
use super::surroundings::Surroundings;
use serde_json::json;
use telemetry::{BoundName, Class, PoolName};

/// The missing data where nothing was sampled.
const NEEDS: &str = "it needs an hour of traffic";
/// With fewer services at once on average it is not known whether more of them would take longer.
const AT_ONCE_MIN: f64 = 1.0;
/// The longest time that a limit is taken for as long as a request of a class, in seconds.
const EACH_MAX_S: f64 = 3600.0;

/// The row of a pool or a limit. `None`: it is a limit that nothing came near to, or is not shown here.
pub(super) fn row(resource: &Resource, period: &Period<'_>, around: &Surroundings) -> Option<SizingRow> {
    let place = Place::of(resource, around)?;
    let found = period.loads.busiest(resource, period.from, period.to, period.now);
    let is_used =
        found.is_some_and(|found| found.minute.peak > 0 || found.minute.served > 0 || found.minute.mean() > 0.0);
    let (Some(found), Some(factor), true) = (found, period.factor(), is_used) else {
        let why = if is_used || found.is_none() { NEEDS } else { "nothing used it" };
        let row = SizingRow::unknown(place.subject, place.setting, place.unit, why);
        let is_told = matches!(resource, Resource::Pool(_)) || is_used && place.is_queue;
        return is_told.then_some(row);
    };
    let minute = &found.minute;
    let (needed, needed_at, basis) = match place.is_queue {
        true => {
            let (one, more) = (minute.places(factor), minute.places(factor * period.times));
            (one.number, more.number, one.basis)
        }
        false => {
            let limit = |times| minute.limit(times, place.each_s);
            (limit(factor), limit(factor * period.times), Basis::Load)
        }
    };
    let now = minute.capacity;
    let row = SizingRow {
        subject: place.subject.clone(),
        setting: place.setting.map(str::to_owned),
        unit: place.unit,
        now: Some(now),
        // Places that are there may be needed for other reasons than the processors that they would find.
        needed: Some(needed.min(place.most.max(now))),
        needed_at: Some(needed_at.min(place.most.max(now))),
        verdict: SizingVerdict::Enough,
        why: why(minute, &place, basis, factor),
        confidence: period.confidence(found.minutes),
        data: data(&found, factor),
        costs: place.is_queue,
    };
    let one = place.one;
    let bottleneck = if found.slows_down && minute.mean() >= AT_ONCE_MIN {
        Some(format!("a {one} takes longer the more are made at once, so more places would only move the wait"))
    } else {
        (now >= place.most).then(|| "they compute, and there are no more processors for them".to_owned())
    };
    match bottleneck.filter(|_| needed > now) {
        None => Some(row.judged()),
        Some(bottleneck) => Some(SizingRow {
            why: format!("{}; {bottleneck}", row.why),
            verdict: SizingVerdict::MoreDoesNotHelp,
            needed: Some(now),
            needed_at: Some(now),
            ..row
        }),
    }
}

/// What a resource is.
struct Place<'a> {
    subject: String,
    setting: Option<&'a str>,
    unit: &'static str,
    /// What takes a place, in the singular.
    one: &'static str,
    /// Callers wait for a place. Otherwise they are turned away.
    is_queue: bool,
    /// More places than this help nobody.
    most: u64,
    /// The seconds that a place of a limit is taken.
    each_s: f64,
}

impl<'a> Place<'a> {
    fn of(resource: &Resource, around: &'a Surroundings) -> Option<Self> {
        let place = |subject: String, setting, unit, one| Self {
            subject,
            setting,
            unit,
            one,
            is_queue: true,
            most: u64::MAX,
            each_s: 0.0,
        };
        Some(match resource {
            Resource::Processors => return None,
            Resource::Pool(name) => {
                let (pool, _) = POOLS.iter().find(|(pool, _)| pool.as_str() == *name)?;
                // These threads compute, so more than there are processors help nobody.
                let computes = *pool == PoolName::WorkThreads;
                let most = if computes { around.setting("server.cores").unwrap_or(u64::MAX).max(1) } else { u64::MAX };
                Self { most, ..place(format!("pool:{name}"), pool.setting(), "threads", "job") }
            }
            Resource::Calls(number) => {
                let host = around.facts.hosts.iter().find(|host| host.number.to_string() == **number)?;
                place(format!("upstream:{}", host.host), BoundName::UpstreamCalls.setting(), "calls", "call")
            }
            Resource::Slots(which) => place(format!("app:{which}"), BoundName::AppSlots.setting(), "slots", "request"),
            Resource::Limit(name, which) => {
                let name = LIMITS.iter().find(|limit| limit.as_str() == *name)?;
                let class = (*name == BoundName::Requests).then_some(&**which).filter(|which| !which.is_empty());
                let subject =
                    class.map_or_else(|| format!("bound:{}", name.as_str()), |class| format!("bound:requests/{class}"));
                let setting = class.map_or_else(|| name.setting(), class_setting)?;
                let mean = |class| around.seconds.iter().find(|(name, _)| *name == class).map(|(_, mean)| *mean);
                let each_s = class.and_then(mean).unwrap_or(around.seconds_of_all).min(EACH_MAX_S);
                Self { is_queue: false, each_s, ..place(subject, Some(setting), name.unit().as_str(), "request") }
            }
        })
    }
}

/// The setting of a cost class.
fn class_setting(class: &str) -> Option<&'static str> {
    let class = Class::ALL.iter().find(|one| one.as_str() == class)?;
    Some(match class {
        Class::Small => "server.max_pages",
        Class::Downloads => "server.max_downloads",
        Class::Uploads => "server.max_uploads",
        Class::DynamicIndex => "server.max_indexes",
        Class::Admin => "server.max_admin",
        Class::Web => "server.max_web",
        Class::Ask => "server.max_asks",
        Class::Accounts => "server.max_accounts",
        Class::Forms => "server.max_forms",
        Class::Hooks | Class::Health | Class::Apps => return None,
    })
}

fn why(minute: &Minute, place: &Place<'_>, basis: Basis, factor: f64) -> String {
    let one = place.one;
    let scaled =
        if factor > 1.0 { format!(", times {factor:.1} for the busiest minute of the period") } else { String::new() };
    let rate = match minute.service_s() {
        Some(service) if place.is_queue => {
            let each = if service < 1.0 { format!("{:.1} ms", service * 1e3) } else { format!("{service:.1} s") };
            format!("{:.1} {one}s a second of {each} each: ", minute.rate())
        }
        _ => String::new(),
    };
    let in_use = format!("{rate}{:.1} in use on average, {} at most{scaled}", minute.mean(), minute.peak);
    match (basis, minute.waits_long()) {
        (Basis::WhileFull, _) => {
            format!(
                "{in_use}; all were taken {:.0} % of the time, and {} were wanted at once",
                minute.full_share() * 100.0,
                minute.peak
            )
        }
        (_, Some(long)) => {
            let free = if long && !minute.is_narrow() { ", although places were free" } else { "" };
            format!("{in_use}; 95 % waited at most {:.1} ms{free}", minute.wait_p95_s * 1e3)
        }
        _ if minute.rejected > 0 => format!("{in_use}; {} were turned away", minute.rejected),
        _ => in_use,
    }
}

fn data(found: &Busiest, factor: f64) -> serde_json::Value {
    let minute = &found.minute;
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    json!({
        "hour": found.hour.to_string(), "minutes": found.minutes, "samples": minute.samples, "served": minute.served,
        "rate": rounded(minute.rate()), "service_ms": minute.service_s().map(|s| rounded(s * 1e3)), "in_use": rounded(minute.mean()),
        "at_most": minute.peak, "full_share": rounded(minute.full_share()), "turned_away": minute.rejected,
        "wait_p95_ms": (minute.waits > 0).then(|| rounded(minute.wait_p95_s * 1e3)), "times": rounded(factor),
    })
}

#[cfg(test)]
mod tests {
    use super::super::loads::Loads;
    use super::super::period::SizingAsked;
    use super::*;
    use crate::ask::{Answer, Figure};
    use crate::signals::facts::{Facts, HostFact, SettingFact};
    use std::sync::Arc;
    use telemetry::{Bound, Clock, Millis, Recorder, UpstreamCalls};

    const NOW: Millis = Millis(7_200_000 + 30_000);

    /// A server with two processors that calls a host.
    fn facts() -> Facts {
        let cores = SettingFact { key: "server.cores".to_owned(), number: Some(2), ..SettingFact::default() };
        let host = HostFact { host: "far:80".to_owned(), number: 7, ..HostFact::default() };
        Facts { settings: vec![cores], hosts: vec![host], ..Facts::default() }
    }

    /// The row of this resource after ten seconds in which `each` happened in each of them. There were enough requests.
    fn row_of(resource: &Resource, recorder: &Recorder, mut each: impl FnMut(u64)) -> Option<SizingRow> {
        let (mut loads, facts) = (Loads::default(), facts());
        for second in 0..10 {
            each(second);
            loads.sample(recorder, &facts, NOW);
        }
        loads.read_waits(recorder);
        let asked = SizingAsked { from: Millis(0), to: NOW, now: NOW, times: 2.0 };
        let mut answer = Answer::empty(&asked.question().unwrap());
        answer.rows = vec![vec![Figure::Moment(NOW), Figure::Whole(600), Figure::Whole(0)]];
        let around = Surroundings { facts: Arc::new(facts), ..Surroundings::default() };
        row(resource, &Period::new(&asked, &loads, Some(&answer)), &around)
    }

    #[test]
    fn a_host_that_takes_longer_for_more_calls_gets_no_more_of_them_and_another_one_does() {
        for (slows_down, verdict) in [(true, SizingVerdict::MoreDoesNotHelp), (false, SizingVerdict::TooSmall)] {
            let recorder = Recorder::silent(Clock::default());
            let bound = Bound::new(BoundName::UpstreamCalls, "7", 4);
            recorder.register(bound.clone());
            let calls: Arc<UpstreamCalls> = recorder.upstream_calls("far:80");
            let (mut slots, mut waiting) = (Vec::new(), Vec::new());
            let found = row_of(&Resource::Calls("7".into()), &recorder, |second| {
                slots.resize_with(4, || bound.enter().unwrap());
                waiting.resize_with(8, || bound.wait());
                // Ten calls a second that take the longer the more there are, or all the same time.
                let at_once = 2 + second % 7;
                let (number, millis) = if slows_down { (10, at_once * 100) } else { (at_once * 5, 200) };
                (0..number)
                    .for_each(|_| calls.answered(200, telemetry::Tick(telemetry::Tick::now().0 - millis * 1_000_000)));
                (0..number).for_each(|_| bound.waited(500_000_000));
            });
            let found = found.unwrap();
            assert_eq!(
                (&*found.subject, found.verdict, found.now),
                ("upstream:far:80", verdict, Some(4)),
                "{found:#?}"
            );
            assert_eq!(found.why.contains("would only move the wait"), slows_down, "{found:#?}");
            assert_eq!(found.confidence, 0.4, "it is from one minute");
        }
    }

    #[test]
    fn threads_that_compute_are_no_more_than_the_processors_and_what_nothing_used_is_unknown() {
        let recorder = Recorder::silent(Clock::default());
        let (pool, bound) = (recorder.pool(PoolName::WorkThreads, 2), Bound::new(BoundName::WorkThreads, "single", 99));
        recorder.register(bound.clone());
        let work = Resource::Pool(PoolName::WorkThreads.as_str());
        let unused = row_of(&work, &recorder, |_| {}).unwrap();
        assert_eq!((unused.verdict, &*unused.why), (SizingVerdict::Unknown, "nothing used it"));
        let mut slots = Vec::new();
        let found = row_of(&work, &recorder, |_| {
            slots.resize_with(12, || bound.enter().unwrap());
            bound.waited(1_000_000_000);
            // Two threads that worked for this second.
            pool.add(|| telemetry::Work { busy: 0, nanos: 2_000_000_000, ..telemetry::Work::default() });
        });
        let found = found.unwrap();
        assert_eq!((found.verdict, found.needed), (SizingVerdict::MoreDoesNotHelp, Some(2)), "{found:#?}");
        assert!(found.why.contains("there are no more processors"), "{found:#?}");
    }

    #[test]
    fn a_limit_names_the_setting_of_its_class_and_is_never_too_large() {
        let recorder = Recorder::silent(Clock::default());
        let bound = Bound::new(BoundName::Requests, "uploads", 1000);
        recorder.register(bound.clone());
        let uploads = Resource::Limit("requests", "uploads".into());
        let _slots = [bound.enter(), bound.enter(), bound.enter()];
        let found = row_of(&uploads, &recorder, |_| {}).unwrap();
        assert_eq!((&*found.subject, found.setting.as_deref()), ("bound:requests/uploads", Some("server.max_uploads")));
        assert_eq!((found.verdict, found.needed, found.needed_at), (SizingVerdict::Enough, Some(7), Some(11)));
        let hooks = Resource::Limit("requests", "hooks".into());
        assert_eq!(row_of(&hooks, &recorder, |_| {}), None, "it has no setting");
    }
}
