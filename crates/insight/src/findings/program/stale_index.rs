//! A remote repository is behind its upstream.

use crate::findings::check::{Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::program::IndexFact;
use crate::signals::seen::Seen;
use serde_json::json;
use std::time::Duration;
use telemetry::Millis;

/// Looks that fail for so long have the repository behind; the server tells it from here on, in milliseconds.
const FAILING_MS: i64 = 5 * 60_000;
/// Without a failure and without a look for so long, in milliseconds: looks are made each minute while clients ask.
const UNLOOKED_MS: i64 = 150 * 60_000;

pub(super) const CHECK: Check = Check {
    key: "stale-index",
    kind: FindingKind::Failure,
    about: "A remote repository is behind its upstream: clients do not see new versions",
    when: "its index, or the map of its Koji hub, could not be checked for 5 minutes because the looks fail, or no look was made for 150 minutes, or a hook announced a change 5 minutes ago that the upstream does not show",
    unless: "",
    after: Duration::ZERO,
    keeps: Duration::from_secs(60),
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.program.indexes.iter().filter_map(|index| problem(index, seen.now)).collect())
}

fn problem(index: &IndexFact, now: Millis) -> Option<Problem> {
    let (since, name) = (index.behind_since?, &index.repository);
    let behind = now.0.saturating_sub(since.0);
    let is_unlooked = index.failure.is_none() && index.proven.is_some_and(|proven| proven >= since);
    if behind < FAILING_MS || is_unlooked && behind < UNLOOKED_MS {
        return None;
    }
    let why = match index.failure {
        Some(failure) => format!("its last looks failed (`{failure}`)"),
        None if is_unlooked => "no look was made since".to_owned(),
        None => "a hook announced a change that the upstream does not show".to_owned(),
    };
    Some(Problem {
        subject: format!("repository:{name}"),
        confidence: 0.9,
        sentence: format!(
            "`{name}` is behind its upstream since {since}, for {} min: {why}; clients get the former index",
            behind / 60_000
        ),
        evidence: json!({
            "measures": ["count"], "by": ["method", "outcome", "reason"],
            "where": [["repository", "=", name], ["kind", "=", "job"]],
        }),
        guards: vec![Guard::passed("minutes behind", behind / 60_000)],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::told::{MINUTE, NOON, found, told};
    use super::*;
    use crate::signals::program::ProgramFacts;

    fn says(minutes: i64, failure: Option<&'static str>, proven: i64) -> Option<String> {
        let at = |minutes: i64| Some(Millis(NOON.0 - minutes * MINUTE));
        let index = IndexFact {
            repository: "rubygems".into(),
            proven: at(proven),
            failure,
            behind_since: at(minutes),
            held_back: None,
        };
        let seen = told(ProgramFacts { indexes: vec![index], ..ProgramFacts::default() });
        found(&CHECK, &seen).pop().map(|problem| problem.sentence)
    }

    #[test]
    fn an_index_whose_looks_fail_is_told_after_five_minutes() {
        assert_eq!(says(4, Some("upstream_failed"), 4), None);
        let said = says(5, Some("upstream_failed"), 5).unwrap();
        assert_eq!(
            said,
            "`rubygems` is behind its upstream since 2026-11-01T11:55:00.000Z, for 5 min: its last looks failed (`upstream_failed`); clients get the former index"
        );
    }

    #[test]
    fn an_index_that_nobody_looked_at_is_told_after_more_than_two_hours() {
        assert_eq!(says(149, None, 149), None);
        assert!(says(150, None, 149).unwrap().contains("no look was made since"));
    }

    #[test]
    fn a_change_that_a_hook_announced_is_told_after_five_minutes() {
        assert!(says(5, None, 60).unwrap().contains("a hook announced a change"));
        assert!(found(&CHECK, &told(ProgramFacts::default())).is_empty());
    }
}
