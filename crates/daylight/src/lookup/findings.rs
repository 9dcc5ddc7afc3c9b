//! Findings as web pages show them: with their changes as lines to copy, and their questions as text.

use crate::app::App;
use insight::{Asked, Finding, FindingState};
use serde_json::Value;
use telemetry::Millis;
use web::{HomeChange, HomeChecks, HomeFinding};

/// The findings in this state, ranked.
pub(crate) fn listed(app: &App, state: FindingState) -> Vec<HomeFinding> {
    let now = app.clock.now();
    app.findings.list(&[state]).into_iter().map(|finding| shown(finding, now)).collect()
}

/// The most verdicts of promises that are shown.
const PROMISES_MAX: usize = 10;
/// For so long, in milliseconds.
const PROMISES_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// The findings that closed in the last week because a change that they advised has a verdict, the newest first.
pub(crate) fn kept_promises(app: &App) -> Vec<HomeFinding> {
    let now = app.clock.now();
    let closed = app.findings.list(&[FindingState::Closed]).into_iter();
    let lately = closed.take_while(|finding| now.0.saturating_sub(finding.since.0) < PROMISES_MS);
    let told = lately.filter(|finding| finding.promise.is_some()).map(|finding| shown(finding, now));
    told.take(PROMISES_MAX).collect()
}

/// How much the checks can say.
pub(crate) fn checks(app: &App) -> HomeChecks {
    let overview = app.findings.overview();
    let until = overview.all_able.map(|until| until.to_string());
    HomeChecks { checks: overview.checks, able: overview.able, until }
}

fn shown(finding: Finding, now: Millis) -> HomeFinding {
    let Finding { id, kind, sentence, since, lost_s_per_hour, changes, evidence, event, folds, promise, .. } = finding;
    let change = |change: insight::Change| match (&change.setting, &change.command) {
        (Some(key), _) => {
            let [from, to] = [change.from, change.to].map(Option::unwrap_or_default);
            Some(HomeChange::of_setting(key, &from, &to, change.live))
        }
        (None, Some(command)) => Some(HomeChange::command(command)),
        (None, None) => None,
    };
    HomeFinding {
        id,
        kind: kind.as_str().to_owned(),
        sentence,
        since: since.to_string(),
        lost_s_per_hour,
        changes: changes.into_iter().filter_map(change).collect(),
        event: event.map(|event| event.to_string()),
        question: question(&evidence, now),
        folds,
        promise: promise.map(|promise| promise.sentence()),
    }
}

/// The question in its text form, which a person can change.
fn question(evidence: &Value, now: Millis) -> Option<String> {
    match Asked::read(&evidence.to_string(), now) {
        Ok(Asked::Question(question)) => Some(question.to_string()),
        _ => None,
    }
}
