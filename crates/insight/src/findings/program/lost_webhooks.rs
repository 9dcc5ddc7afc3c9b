//! The hooks of an upstream do not come any more.

use crate::findings::check::{Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::program::HooksFact;
use crate::signals::seen::Seen;
use serde_json::json;
use std::time::Duration;

/// So many changes since the last hook came without one. One may be lost on the way.
const LOST: u64 = 2;

pub(super) const CHECK: Check = Check {
    key: "lost-webhooks",
    kind: FindingKind::Cause,
    about: "Hooks of an upstream used to come, and changes come without them now: clients see new versions late",
    when: "2 changes since the last hook came were found by looks, and no hook announced them before or within 5 minutes",
    unless: "the repository never took a hook",
    after: Duration::ZERO,
    keeps: Duration::ZERO,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.program.hooks.iter().filter_map(problem).collect())
}

fn problem(hooks: &HooksFact) -> Option<Problem> {
    let HooksFact { repository, last, lost, waiting } = hooks;
    let last = last.filter(|_| *lost >= LOST)?;
    Some(Problem {
        subject: format!("repository:{repository}"),
        confidence: 0.9,
        sentence: format!(
            "the upstream of `{repository}` had {lost} changes that no hook announced since the last hook came, on {last}: clients see new versions only when a regular look finds them; check that the upstream still sends hooks, and that they reach this server"
        ),
        evidence: json!({
            "measures": ["count"], "by": ["method"], "where": [["repository", "=", repository], ["method", "=", "hints.lost"]],
        }),
        guards: vec![Guard::passed("changes without a hook", *lost), Guard::passed("hooks that wait", *waiting)],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::told::{NOON, found, told};
    use super::*;
    use crate::signals::program::ProgramFacts;

    #[test]
    fn two_changes_without_a_hook_are_told_if_hooks_used_to_come() {
        let says = |lost, last| {
            let hooks = HooksFact { repository: "rubygems".into(), last, lost, waiting: 0 };
            let seen = told(ProgramFacts { hooks: vec![hooks], ..ProgramFacts::default() });
            found(&CHECK, &seen).pop().map(|problem| problem.sentence)
        };
        assert_eq!((says(1, Some(NOON)), says(9, None)), (None, None));
        let said = says(2, Some(NOON)).unwrap();
        assert!(said.starts_with("the upstream of `rubygems` had 2 changes that no hook announced since"), "{said}");
    }
}
