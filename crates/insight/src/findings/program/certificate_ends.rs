//! A certificate ends soon, or the new one cannot be used.

use crate::findings::check::{Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::program::CertificateFact;
use crate::signals::seen::Seen;
use telemetry::Millis;

/// A certificate ends soon if so much time is left, in milliseconds: two weeks...
const SOON_MS: i64 = 14 * DAY_MS;
/// ... or less than this part of its lifetime, if that is shorter.
const SOON_PART: i64 = 3;
const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

pub(super) const CHECK: Check = Check {
    key: "certificate-ends",
    kind: FindingKind::Cause,
    about: "A certificate ends soon, has ended, or its files have a new one that cannot be used",
    when: "less than 14 days, or a third of its lifetime, are left; or the files of the certificate are refused",
    unless: "",
    after: Check::AFTER,
    keeps: Check::AFTER,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let program = &seen.facts.program;
    let fails = program.renewal.is_some();
    Verdict::Looked(
        program.certificates.iter().filter_map(|certificate| problem(certificate, fails, seen.now)).collect(),
    )
}

/// `fails`: the server gets its own one from an authority, which gives none.
fn problem(certificate: &CertificateFact, fails: bool, now: Millis) -> Option<Problem> {
    let CertificateFact { name, is_of_upstream, begins, ends, is_refused } = certificate;
    let left = ends.0.saturating_sub(now.0);
    let lifetime = begins.map_or(i64::MAX, |begins| ends.0.saturating_sub(begins.0));
    let is_soon = left < SOON_MS.min(lifetime / SOON_PART);
    if !is_soon && !is_refused {
        return None;
    }
    let what = match is_of_upstream {
        true => format!("the certificate that `{name}` shows to its upstream"),
        false => format!("the TLS certificate `{name}`"),
    };
    let when = match left {
        ..=0 => format!("ended on {ends}"),
        left if left < 2 * DAY_MS => format!("ends in {} h, on {ends}", left / HOUR_MS),
        left => format!("ends in {} days, on {ends}", left / DAY_MS),
    };
    let effect = match (is_refused, left <= 0, is_of_upstream) {
        (true, ..) => ", and the new one in its files cannot be used: the log says why",
        (_, false, false) if fails => "; the finding `certificate-not-renewed` says why it is not renewed",
        (_, true, true) => ": the upstream refuses the repository",
        (_, true, false) => ": clients refuse the server",
        (_, false, _) => "; the server reads renewed files by itself",
    };
    Some(Problem {
        subject: format!("certificate:{name}"),
        confidence: 1.0,
        sentence: format!("{what} {when}{effect}"),
        guards: vec![Guard::passed("days left", left / DAY_MS)],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::told::{DAY, MINUTE, NOON, found, told};
    use super::*;
    use crate::signals::program::{ProgramFacts, RenewalFact};

    fn says(left: i64, begins: Option<i64>, is_of_upstream: bool, is_refused: bool) -> Option<String> {
        says_while(None, left, begins, is_of_upstream, is_refused)
    }

    fn says_while(
        renewal: Option<RenewalFact>,
        left: i64,
        begins: Option<i64>,
        is_of_upstream: bool,
        is_refused: bool,
    ) -> Option<String> {
        let (ends, begins) = (Millis(NOON.0 + left), begins.map(|ago| Millis(NOON.0 - ago)));
        let certificate = CertificateFact { name: "server".into(), is_of_upstream, begins, ends, is_refused };
        let seen = told(ProgramFacts { certificates: vec![certificate], renewal, ..ProgramFacts::default() });
        found(&CHECK, &seen).pop().map(|problem| problem.sentence)
    }

    #[test]
    fn two_weeks_before_its_end_a_certificate_is_told_and_not_earlier() {
        assert_eq!(says(14 * DAY, None, false, false), None);
        let soon = "the TLS certificate `server` ends in 13 days, on 2026-11-15T11:59:00.000Z; the server reads renewed files by itself";
        assert_eq!(says(14 * DAY - MINUTE, None, false, false).unwrap(), soon);
        assert!(says(30 * 60 * MINUTE, None, true, false).unwrap().contains("shows to its upstream ends in 30 h"));
        assert!(says(0, None, false, false).unwrap().ends_with(": clients refuse the server"));
        assert!(says(-DAY, None, true, false).unwrap().ends_with(": the upstream refuses the repository"));
    }

    #[test]
    fn while_an_authority_gives_none_the_finding_that_says_why_is_named() {
        let fails = || Some(RenewalFact::default());
        assert!(says_while(fails(), DAY, None, false, false).unwrap().ends_with("says why it is not renewed"));
        assert!(says_while(fails(), DAY, None, true, false).unwrap().ends_with("reads renewed files by itself"));
    }

    #[test]
    fn a_short_certificate_is_told_in_the_last_third_of_its_lifetime() {
        assert_eq!(says(2 * DAY, Some(4 * DAY), false, false), None, "of six days");
        assert!(says(2 * DAY - MINUTE, Some(4 * DAY), false, false).is_some());
    }

    #[test]
    fn files_that_cannot_be_used_are_told_at_any_time() {
        assert!(says(60 * DAY, None, false, true).unwrap().contains("cannot be used: the log says why"));
    }
}
