//! Runs the checks. One that panics is taken out, and the processor time of each is measured.

use super::check::{Check, FindingKind, Verdict};
use super::custom::CustomFinding;
use super::found::Found;
use super::{Finding, FindingState, FindingsOverview};
use crate::insight::Counts;
use crate::signals::seen::Seen;
use crate::signals::telemetry::TelemetrySeen;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use telemetry::{Log, Millis, panic_message, thread_nanos};

/// All checks.
pub(super) struct Examiner {
    checks: Vec<Examined>,
    custom: Vec<Asks>,
    counts: Option<Counts>,
    log: Log,
}

/// A check, and how it goes.
struct Examined {
    check: &'static Check,
    health: Health,
}

/// A finding of the settings, and how it goes.
struct Asks {
    custom: CustomFinding,
    /// The answer of the last look that asked.
    last: Result<Vec<Found>, Needs>,
    health: Health,
}

/// How a check goes.
#[derive(Default)]
struct Health {
    /// Why it is not asked any more.
    failed: Option<String>,
    /// Since when it says nothing.
    unknown: Option<Millis>,
}

/// What a check needs until it can say something, and from which uptime it will have that.
type Needs = (String, Option<Duration>);

/// What all checks say.
#[derive(Debug, Default)]
pub(super) struct Examination {
    pub(super) found: Vec<Found>,
    /// A finding for each check that can say nothing.
    pub(super) unknown: Vec<Finding>,
    /// How many there are, how many can say something, and when the others will.
    pub(super) overview: FindingsOverview,
}

impl Examiner {
    pub(super) fn new(
        checks: impl Iterator<Item = &'static Check>,
        custom: &[CustomFinding],
        counts: Option<Counts>,
        log: Log,
    ) -> Self {
        let asks =
            |custom: &CustomFinding| Asks { custom: custom.clone(), last: Ok(Vec::new()), health: Health::default() };
        let checks = checks.map(|check| Examined { check, health: Health::default() }).collect();
        Self { checks, custom: custom.iter().map(asks).collect(), counts, log }
    }

    /// Asks all checks. `whole`: also the ones of the settings, which are asked once a minute. Processor times are added to `spent`.
    pub(super) fn examine(&mut self, seen: &Seen, whole: bool, spent: &mut TelemetrySeen) -> Examination {
        let mut all = Examination::default();
        for Examined { check, health } in &mut self.checks {
            let began = thread_nanos();
            let verdict = health.ask(check.key, &self.log, || match (check.look)(seen) {
                Verdict::Unknown { needs, until } => Err((needs, until)),
                Verdict::Looked(problems) => Ok(problems),
            });
            spent.spent(check.key, thread_nanos().saturating_sub(began));
            let found = verdict.map(|problems| problems.into_iter().map(|problem| Found::of(check, problem)).collect());
            all.take(check.key, check.kind, health, found, seen);
        }
        let began = thread_nanos();
        for Asks { custom, last, health } in &mut self.custom {
            let name = custom.name().to_owned();
            if whole {
                *last = health.ask(&name, &self.log, || ask(custom, self.counts.as_ref(), seen));
            }
            all.take(&name, FindingKind::Failure, health, last.clone(), seen);
        }
        if whole && !self.custom.is_empty() {
            spent.spent("findings of the settings", thread_nanos().saturating_sub(began));
        }
        all
    }
}

impl Health {
    /// The answer of a check, unless it panicked now or before.
    fn ask<T>(&mut self, name: &str, log: &Log, look: impl FnOnce() -> Result<T, Needs>) -> Result<T, Needs> {
        if self.failed.is_none() {
            match catch_unwind(AssertUnwindSafe(look)) {
                Ok(answer) => return answer,
                Err(panic) => {
                    let why = panic_message(&*panic).to_owned();
                    log.error(
                        "a check of findings failed, and is left out until the next start",
                        &[("check", &name), ("why", &why)],
                    );
                    self.failed = Some(why);
                }
            }
        }
        let why = self.failed.as_deref().unwrap_or_default();
        Err((format!("the check failed, and is left out until the next start: {why}"), None))
    }
}

impl Examination {
    /// Takes the answer of a check.
    fn take(
        &mut self,
        key: &str,
        kind: FindingKind,
        health: &mut Health,
        found: Result<Vec<Found>, Needs>,
        seen: &Seen,
    ) {
        self.overview.checks += 1;
        match found {
            Ok(found) => {
                self.overview.able += 1;
                self.found.extend(found);
                health.unknown = None;
            }
            Err((needs, until)) => {
                let since = *health.unknown.get_or_insert(seen.now);
                let able = until.map(|until| seen.now.plus(until.saturating_sub(seen.uptime)));
                let none_before = self.unknown.is_empty();
                self.overview.all_able = match (self.overview.all_able, able) {
                    (None, able) if none_before => able,
                    (Some(others), Some(able)) => Some(others.max(able)),
                    // Time alone does not help one of them.
                    _ => None,
                };
                let finding = Finding::empty(key, "", kind);
                self.unknown.push(Finding { state: FindingState::Unknown, since, sentence: needs, ..finding });
            }
        }
    }
}

/// Asks the counts.
fn ask(custom: &CustomFinding, counts: Option<&Counts>, seen: &Seen) -> Result<Vec<Found>, Needs> {
    let question = custom.question(seen.now).map_err(|why| (why, None))?;
    let needs = custom.needs(&question);
    if seen.uptime < needs {
        return Err((format!("{} minutes of counts since the start", needs.as_secs().div_ceil(60)), Some(needs)));
    }
    let answer = counts.and_then(|counts| counts(question.clone()));
    let answer = answer.ok_or_else(|| ("counts of events, which are not kept for this time".to_owned(), None))?;
    Ok(custom.judge(&question, &answer))
}

#[cfg(test)]
mod tests {
    use super::super::check::Problem;
    use super::super::custom::Threshold;
    use super::*;
    use crate::ask::{Answer, Figure, Question};
    use std::sync::Arc;

    const fn check(key: &'static str, look: fn(&Seen) -> Verdict) -> Check {
        let (after, keeps) = (Check::AFTER, Check::KEEPS);
        Check { key, kind: FindingKind::Cause, about: "", when: "", unless: "", after, keeps, look }
    }

    static SEES: Check =
        check("sees", |_| Verdict::Looked(vec![Problem { subject: "disk".to_owned(), ..Problem::default() }]));
    static PANICS: Check = check("panics", |_| panic!("an index is out of bounds"));
    static WAITS: Check =
        check("waits", |_| Verdict::Unknown { needs: "ten minutes".to_owned(), until: Some(Duration::from_secs(600)) });

    fn seen() -> Seen {
        Seen { now: Millis(100_000_000), uptime: Duration::from_secs(200), ..Seen::default() }
    }

    #[test]
    fn a_check_that_panics_is_taken_out_and_told_and_the_others_go_on() {
        let mut examiner = Examiner::new([&PANICS, &SEES, &WAITS].into_iter(), &[], None, Log::silent());
        for _ in 0..2 {
            let mut spent = TelemetrySeen::default();
            let all = examiner.examine(&seen(), true, &mut spent);
            assert_eq!((all.found.len(), &*all.found[0].id), (1, "sees@disk"));
            let unknown: Vec<_> = all.unknown.iter().map(|finding| (&*finding.id, &*finding.sentence)).collect();
            let failed = "the check failed, and is left out until the next start: an index is out of bounds";
            assert_eq!(unknown, [("panics", failed), ("waits", "ten minutes")]);
            assert_eq!((all.overview.checks, all.overview.able, all.overview.all_able), (3, 1, None));
            assert_eq!(spent.checks.len(), 3);
        }
    }

    #[test]
    fn the_overview_tells_when_the_last_check_will_have_what_it_needs() {
        let mut examiner = Examiner::new([&SEES, &WAITS].into_iter(), &[], None, Log::silent());
        let all = examiner.examine(&seen(), true, &mut TelemetrySeen::default());
        assert_eq!(all.overview.all_able, Some(Millis(100_400_000)));
        let later = Seen { now: Millis(100_060_000), ..seen() };
        let all = examiner.examine(&later, true, &mut TelemetrySeen::default());
        assert_eq!(all.unknown[0].since, Millis(100_000_000), "since the first look");
    }

    #[test]
    fn findings_of_the_settings_are_asked_once_a_minute_and_hold_until_then() {
        let new =
            |name, question, threshold| CustomFinding::new(name, question, threshold, "It is so", seen().now).unwrap();
        let custom = [
            new("many", "count from -5m", Threshold::Above(10.0)),
            new("few", "count from -1h", Threshold::Below(10.0)),
        ];
        let asked: Arc<std::sync::Mutex<Vec<Question>>> = Arc::default();
        let questions = asked.clone();
        let counts: Counts = Arc::new(move |question: Question| {
            let answer = Answer { rows: vec![vec![Figure::Whole(11)]], ..Answer::empty(&question) };
            questions.lock().unwrap().push(question);
            Some(answer)
        });
        let mut examiner = Examiner::new(std::iter::empty(), &custom, Some(counts), Log::silent());
        for whole in [true, false, false] {
            let all = examiner.examine(&seen(), whole, &mut TelemetrySeen::default());
            assert_eq!((all.found.len(), &*all.found[0].id), (1, "custom:many"));
            assert_eq!((all.unknown.len(), &*all.unknown[0].id), (1, "few"), "the server has not run for an hour");
        }
        let asked = asked.lock().unwrap();
        assert_eq!((asked.len(), asked[0].to, asked[0].to.0 - asked[0].from.0), (1, Millis(100_000_000), 300_000));
    }
}
