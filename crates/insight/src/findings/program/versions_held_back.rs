//! Somebody asked for versions that a cooldown still hides.

use crate::findings::check::{Change, Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::signals::reasons::ReasonSeen;
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::Reason;

/// The rule that ends by itself, as the text of a refusal names it.
const YOUNG: &str = "hidden until";

pub(super) const CHECK: Check = Check {
    key: "versions-held-back",
    kind: FindingKind::Impact,
    about: "Clients asked for versions that are younger than the cooldown of a repository",
    when: "a request of the last five minutes was refused because a version is too young",
    unless: "the version is hidden by another rule than its age",
    after: Check::AFTER,
    keeps: Check::AFTER,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let refused = seen.recent.reasons.of(Reason::HiddenByPolicy);
    Verdict::Looked(refused.filter_map(|(name, seen)| problem(name, seen)).collect())
}

fn problem(repository: &str, seen: &ReasonSeen) -> Option<Problem> {
    let young = || seen.details.values().filter(|detail| detail.contains(YOUNG));
    // The one that is shown first.
    let first = young().min_by_key(|detail| (moment_in(detail).is_none(), moment_in(detail)))?;
    let next = moment_in(first);
    let more = match young().count() {
        1 => String::new(),
        all => format!(" ({} more paths)", all - 1),
    };
    Some(Problem {
        subject: format!("repository:{repository}"),
        lost: Lost::of([(repository, seen.nanos as f64 / 1e9)]),
        confidence: 1.0,
        sentence: format!("{} requests for versions that are too young were refused: {first}{more}", seen.requests),
        changes: command(first).map(Change::by_command).into_iter().collect(),
        evidence: json!({
            "measures": ["count"], "by": ["package", "version"],
            "where": [["repository", "=", repository], ["reason", "=", Reason::HiddenByPolicy.as_str()]],
        }),
        event: seen.event,
        guards: next.map(|next| Guard::passed("the next is shown", next)).into_iter().collect(),
        ..Problem::default()
    })
}

/// The last moment in a text: the one from which a version is shown.
fn moment_in(text: &str) -> Option<&str> {
    let is_moment = |word: &&str| {
        word.len() >= "2026-11-01T12:00".len()
            && word.as_bytes().get(4) == Some(&b'-')
            && word.as_bytes().get(10) == Some(&b'T')
    };
    text.split([' ', ',', ';', '`', '(', ')']).rfind(is_moment)
}

/// The command that lets the version through. The text begins with the version, and then names the repository of the policy.
fn command(text: &str) -> Option<String> {
    let mut names = text.split('`').skip(1).step_by(2);
    let (what, repository) = (names.next()?, names.next()?);
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || ":._-+".contains(c));
    (is_plain(what) && is_plain(repository)).then(|| format!("daylight policy allow {repository} {what} --why REASON"))
}

#[cfg(test)]
mod tests {
    use super::super::told::{found, told};
    use super::*;
    use crate::signals::program::ProgramFacts;
    use telemetry::EventId;

    const RULE: &str =
        "versions are hidden until they are 7 days old; this one is from 2026-10-30T00:00:00.000Z, and is shown from";

    #[test]
    fn versions_that_are_too_young_are_told_with_the_moment_of_the_first() {
        let mut seen = told(ProgramFacts::default());
        assert!(found(&CHECK, &seen).is_empty());
        let detail = |what: &str, day: &str| {
            let detail =
                format!("`{what}` is hidden by the policy of `gems-all`: {RULE} 2026-11-{day}T00:00:00.000Z on");
            (Box::from(what), Box::from(detail))
        };
        let denied = (Box::from("oil"), Box::from("`oil` is hidden by the policy of `gems`: `oil` is denied"));
        let of = |details: Vec<(Box<str>, Box<str>)>| ReasonSeen {
            requests: 5,
            nanos: 3_000_000_000,
            event: Some(EventId(7)),
            details: details.into_iter().collect(),
        };
        seen.recent.reasons.0.insert((Reason::HiddenByPolicy, "raw".into()), of(vec![denied.clone()]));
        assert!(found(&CHECK, &seen).is_empty(), "another rule");
        let details = vec![denied, detail("rack:3.0.0", "06"), detail("lamp:1.0", "04")];
        seen.recent.reasons.0.insert((Reason::HiddenByPolicy, "gems".into()), of(details));
        let problem = found(&CHECK, &seen).remove(0);
        assert_eq!((problem.subject.as_str(), problem.event), ("repository:gems", Some(EventId(7))));
        assert!(problem.sentence.contains("`lamp:1.0` is hidden") && problem.sentence.ends_with("(1 more paths)"));
        assert_eq!(problem.guards[0].value, "2026-11-04T00:00:00.000Z");
        let command = "daylight policy allow gems-all lamp:1.0 --why REASON";
        assert_eq!(problem.changes[0].command.as_deref(), Some(command));
        assert_eq!(problem.lost.recent_s, 3.0);
    }

    #[test]
    fn a_name_that_a_shell_would_read_gives_no_command() {
        assert_eq!(command("`a$(x):1` is hidden by the policy of `gems`: no"), None);
    }
}
