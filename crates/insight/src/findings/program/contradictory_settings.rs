//! Settings do not fit together.

use crate::findings::check::{Check, FindingKind, Problem, Verdict};
use crate::signals::seen::Seen;

pub(super) const CHECK: Check = Check {
    key: "contradictory-settings",
    kind: FindingKind::Cause,
    about: "A setting has no effect, or does not fit the others or the machine",
    when: "the start warns of it",
    unless: "",
    after: Check::AFTER,
    keeps: Check::AFTER,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let problem = |warning: &String| Problem {
        subject: format!("setting:{}", key_in(warning).unwrap_or("server")),
        confidence: 1.0,
        sentence: warning.clone(),
        ..Problem::default()
    };
    let mut problems: Vec<Problem> = seen.facts.program.contradictions.iter().map(problem).collect();
    // One setting may have several; the first is told.
    problems.sort_by(|one, other| one.subject.cmp(&other.subject));
    problems.dedup_by(|one, other| one.subject == other.subject);
    Verdict::Looked(problems)
}

/// The key of the setting that a text names first.
fn key_in(text: &str) -> Option<&str> {
    text.split('`').skip(1).step_by(2).find(|word| word.contains('.') && !word.contains([' ', '/']))
}

#[cfg(test)]
mod tests {
    use super::super::told::{found, told};
    use super::*;
    use crate::signals::program::ProgramFacts;

    #[test]
    fn each_warning_of_the_start_is_told_with_the_setting_that_it_names_first() {
        let contradictions = [
            "`server.max_uploads` has no effect, because it is above `server.max_connections`",
            "the memory limits in the settings sum to 900 MiB",
            "`server.max_uploads` has no effect at all",
        ];
        let contradictions = contradictions.map(str::to_owned).to_vec();
        let seen = told(ProgramFacts { contradictions, ..ProgramFacts::default() });
        let subjects: Vec<String> = found(&CHECK, &seen).into_iter().map(|problem| problem.subject).collect();
        assert_eq!(subjects, ["setting:server", "setting:server.max_uploads"]);
        assert!(found(&CHECK, &told(ProgramFacts::default())).is_empty());
    }
}
