//! The index of an upstream lacks many names, and is not believed yet.

use crate::findings::check::{Change, Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::program::IndexFact;
use crate::signals::seen::Seen;
use std::time::Duration;

pub(super) const CHECK: Check = Check {
    key: "removals-held-back",
    kind: FindingKind::Cause,
    about: "The index of an upstream lately lacks many names, so its changes are held back for an hour",
    when: "an index is held back, and nobody accepted it",
    unless: "",
    after: Duration::ZERO,
    keeps: Duration::ZERO,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.program.indexes.iter().filter_map(problem).collect())
}

fn problem(index: &IndexFact) -> Option<Problem> {
    let ((names, since), name) = (index.held_back?, &index.repository);
    Some(Problem {
        subject: format!("repository:{name}"),
        confidence: 1.0,
        sentence: format!(
            "since {since} the index of the upstream of `{name}` lacks {names} names: clients get the former index for an hour. Look first whether \
             the upstream is broken or was taken over; accept the new index at once only if these names were removed on purpose"
        ),
        changes: vec![Change::by_command(format!("daylight repo accept-index {name}"))],
        guards: vec![Guard::passed("names that it lacks", names)],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::told::{NOON, found, told};
    use super::*;
    use crate::signals::program::ProgramFacts;

    #[test]
    fn an_index_that_is_held_back_is_told_with_the_command_that_accepts_it() {
        let seen = |held_back| {
            let index = IndexFact { repository: "rubygems".into(), held_back, ..IndexFact::default() };
            told(ProgramFacts { indexes: vec![index], ..ProgramFacts::default() })
        };
        assert!(found(&CHECK, &seen(None)).is_empty());
        let problem = found(&CHECK, &seen(Some((50, NOON)))).remove(0);
        assert_eq!(problem.changes[0].command.as_deref(), Some("daylight repo accept-index rubygems"));
        let (looks, accepts) = ("Look first whether the upstream is broken", "accept the new index at once only if");
        let places = ["lacks 50 names", looks, accepts].map(|part| problem.sentence.find(part).unwrap());
        assert!(places.is_sorted(), "{}", problem.sentence);
    }
}
