//! The thread that looks: it samples once a second, and evaluates all checks every ten seconds.

use super::catalogue::checks;
use super::check::{Check, Problem, Verdict};
use super::{Finding, FindingState, Findings, FindingsOptions, FindingsOverview, Shared};
use crate::signals::ring::Ring;
use crate::signals::sampler::Sampler;
use crate::signals::seen::Seen;
use crate::signals::window::Window;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{PoisonError, Weak};
use std::time::Duration;
use telemetry::{Millis, Tick, background, lock};

/// The interval between two samples.
const SAMPLE: Duration = Duration::from_secs(1);
/// Samples between two evaluations.
const EVALUATE: u32 = 10;

/// Runs until the findings are closed or dropped.
pub(super) fn run(findings: &Weak<Findings>, options: &FindingsOptions) {
    background();
    let (mut ring, mut sampler, mut states) = (Ring::default(), Sampler::default(), BTreeMap::new());
    let (mut sampled, mut samples) = (Window::default(), 0);
    loop {
        let Some(findings) = findings.upgrade() else { return };
        let shared = lock(&findings.shared);
        let idle = |shared: &mut Shared| !shared.stop && shared.asked == shared.looked;
        let (mut shared, _) =
            findings.wake.wait_timeout_while(shared, SAMPLE, idle).unwrap_or_else(PoisonError::into_inner);
        if shared.stop {
            return;
        }
        samples += 1;
        let asked = shared.asked;
        let evaluates = asked != shared.looked || samples % EVALUATE == 0;
        let (facts, watch) = (shared.facts.clone(), shared.watch.clone());
        drop(shared);
        sampler.sample(&options.recorder, evaluates, &mut sampled);
        if !evaluates {
            continue;
        }
        sampled.add(&findings.handover.take());
        ring.take(&std::mem::take(&mut sampled), Tick::now());
        let machine = options.recorder.machine().sample();
        let (recent, hour, day) = (ring.recent(), ring.hour(), ring.day());
        let seen = Seen { now: options.clock.now(), uptime: ring.uptime(), recent, hour, day, facts, machine, watch };
        let (found, overview) = evaluate(&seen, &mut states);
        let mut shared = lock(&findings.shared);
        (shared.findings, shared.overview, shared.looked) = (found, overview, asked);
        let waiting = std::mem::take(&mut shared.waiting);
        drop(shared);
        waiting.into_iter().for_each(|done| done());
    }
}

/// Since when a finding is seen, and whether it has opened.
#[derive(Debug, Clone, Copy)]
struct State {
    since: Millis,
    open: bool,
}

fn evaluate(seen: &Seen, states: &mut BTreeMap<String, State>) -> (Vec<Finding>, FindingsOverview) {
    let (mut found, mut overview) = (Vec::new(), FindingsOverview::default());
    for check in checks() {
        overview.checks += 1;
        match (check.look)(seen) {
            Verdict::Unknown { .. } => {}
            Verdict::Looked(problems) => {
                overview.able += 1;
                for problem in problems {
                    found.push(finding(check, problem, seen, states));
                }
            }
        }
    }
    states.retain(|id, _| found.iter().any(|finding| finding.id == *id));
    found.sort_by(|one, other| other.lost_s_per_hour.total_cmp(&one.lost_s_per_hour));
    overview.open = found.iter().filter(|finding| finding.state == FindingState::Open).count();
    overview.pending = found.len() - overview.open;
    (found, overview)
}

fn finding(check: &Check, problem: Problem, seen: &Seen, states: &mut BTreeMap<String, State>) -> Finding {
    let id = format!("{}@{}", check.key, problem.subject);
    let state = states.entry(id.clone()).or_insert(State { since: seen.now, open: false });
    let waited = seen.now.0 - state.since.0 >= i64::try_from(check.after.as_millis()).unwrap_or(i64::MAX);
    if !state.open && (waited || problem.lost.recent_s > 60.0) {
        *state = State { since: seen.now, open: true };
    }
    let mut evidence = problem.evidence;
    if let Value::Object(question) = &mut evidence {
        question.insert("from".to_owned(), json!(Millis(seen.now.0 - 300_000).to_string()));
        question.insert("to".to_owned(), json!(seen.now.to_string()));
    }
    Finding {
        id,
        key: check.key.to_owned(),
        subject: problem.subject,
        kind: check.kind,
        state: if state.open { FindingState::Open } else { FindingState::Pending },
        since: state.since,
        lost_s_per_hour: problem.lost.hourly_s,
        confidence: problem.confidence,
        sentence: problem.sentence,
        changes: problem.changes,
        evidence,
        event: problem.event,
        guards: problem.guards,
        folds: Vec::new(),
        mute: None,
    }
}
