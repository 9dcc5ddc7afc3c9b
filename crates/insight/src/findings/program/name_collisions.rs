//! Names of gems wait for a decision which member of a group has them.

use crate::findings::check::{Change, Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::program::WaitingNamesFact;
use crate::signals::seen::Seen;

pub(super) const CHECK: Check = Check {
    key: "name-collisions",
    kind: FindingKind::Cause,
    about: "Members of a group of gems have the same names, and somebody has to decide whose they are",
    when: "a member lists a name that another member owns, and no claim decides",
    unless: "",
    after: Check::AFTER,
    keeps: Check::AFTER,
    look,
};

fn look(seen: &Seen) -> Verdict {
    Verdict::Looked(seen.facts.program.waiting_names.iter().filter(|group| group.names > 0).map(problem).collect())
}

fn problem(fact: &WaitingNamesFact) -> Problem {
    let WaitingNamesFact { group, names, name, owner, waiting } = fact;
    let (what, is) = match names {
        1 => (format!("the gem `{name}`"), "is"),
        _ => (format!("{names} gems, `{name}` among them,"), "are"),
    };
    let others = waiting.join("`, `");
    Problem {
        subject: format!("group:{group}"),
        confidence: 1.0,
        sentence: format!(
            "{what} {is} in several members of `{group}`: clients get `{name}` from `{owner}`, and nobody decided about `{others}`, which has it, too"
        ),
        changes: vec![Change::by_command(format!("daylight repo set {owner} --claim {name}"))],
        guards: vec![Guard::passed("names that wait", *names)],
        ..Problem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::told::{found, told};
    use super::*;
    use crate::signals::program::ProgramFacts;

    #[test]
    fn names_that_wait_are_told_with_the_claim_that_decides() {
        let group = |names| WaitingNamesFact {
            group: "gems".into(),
            names,
            name: "lamp".into(),
            owner: "gems-private".into(),
            waiting: vec!["rubygems".into()],
        };
        let seen = |names| told(ProgramFacts { waiting_names: vec![group(names)], ..ProgramFacts::default() });
        assert!(found(&CHECK, &seen(0)).is_empty());
        let problem = found(&CHECK, &seen(1)).remove(0);
        assert_eq!(problem.changes[0].command.as_deref(), Some("daylight repo set gems-private --claim lamp"));
        assert!(problem.sentence.starts_with("the gem `lamp` is in several members of `gems`: "));
        assert!(found(&CHECK, &seen(12))[0].sentence.starts_with("12 gems, `lamp` among them, are in several"));
    }
}
