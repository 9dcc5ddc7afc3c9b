//! The certificate authority gives no certificate.

use crate::findings::check::{Check, FindingKind, Guard, Problem, Verdict};
use crate::signals::program::RenewalFact;
use crate::signals::seen::Seen;
use serde_json::json;
use telemetry::Millis;

/// Attempts that failed one after the other, at least, while a certificate is in use. It is renewed weeks before its end, and authorities pause
/// for maintenance.
const ATTEMPTS: u64 = 3;
const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

pub(super) const CHECK: Check = Check {
    key: "certificate-not-renewed",
    kind: FindingKind::Failure,
    about: "The certificate authority gives no certificate, or renews none",
    when: "the last 3 attempts or more failed, or the last one while there is no certificate yet",
    unless: "the next attempt succeeds within the five minutes of a pending finding",
    after: Check::AFTER,
    keeps: Check::AFTER,
    look,
};

fn look(seen: &Seen) -> Verdict {
    let renewal = seen.facts.program.renewal.as_ref();
    Verdict::Looked(renewal.and_then(|renewal| problem(renewal, seen.now)).into_iter().collect())
}

fn problem(renewal: &RenewalFact, now: Millis) -> Option<Problem> {
    let RenewalFact { authority, names, since, why, attempts, next, ends } = renewal;
    let wanted = if ends.is_some() { ATTEMPTS } else { 1 };
    if *attempts < wanted {
        return None;
    }
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let tries = if *attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    let effect = match ends.map(|ends| (ends, ends.0.saturating_sub(now.0))) {
        None => "there is none yet, so clients refuse the server".to_owned(),
        Some((ends, ..=0)) => format!("the one in use ended on {ends}, so clients refuse the server"),
        Some((ends, left)) if left < 2 * DAY_MS => format!("the one in use ends in {} h, on {ends}", left / HOUR_MS),
        Some((ends, left)) => format!("the one in use ends in {} days, on {ends}", left / DAY_MS),
    };
    Some(Problem {
        subject: format!("authority:{authority}"),
        confidence: 1.0,
        sentence: format!(
            "`{authority}` has given no certificate for {names} since {since} ({tries}), and {effect}: {why}; the next attempt is at {next}, or \
             after a reload (SIGHUP)"
        ),
        evidence: json!({
            "measures": ["count"], "by": ["outcome", "reason"],
            "where": [["method", "=", "acme"], ["path", "=", format!("acme/{authority}")]],
        }),
        guards: vec![Guard::passed("failed attempts", *attempts)],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::told::{DAY, MINUTE, NOON, found, told};
    use super::*;
    use crate::signals::program::ProgramFacts;

    fn says(attempts: u64, left: Option<i64>) -> Option<String> {
        let renewal = RenewalFact {
            authority: "ca.example".into(),
            names: vec!["packages.example".into(), "gems.example".into()],
            since: NOON,
            why: "nobody listens there".into(),
            attempts,
            next: Millis(NOON.0 + 5 * MINUTE),
            ends: left.map(|left| Millis(NOON.0 + left)),
        };
        let seen = told(ProgramFacts { renewal: Some(renewal), ..ProgramFacts::default() });
        found(&CHECK, &seen).pop().map(|problem| problem.sentence)
    }

    #[test]
    fn without_a_certificate_the_first_failure_is_told_with_its_cause() {
        let said = "`ca.example` has given no certificate for `packages.example`, `gems.example` since 2026-11-01T12:00:00.000Z (1 attempt), and \
                    there is none yet, so clients refuse the server: nobody listens there; the next attempt is at 2026-11-01T12:05:00.000Z, or after \
                    a reload (SIGHUP)";
        assert_eq!(says(1, None).unwrap(), said);
        assert_eq!(says(0, None), None);
    }

    #[test]
    fn with_a_certificate_three_failures_are_told_with_its_end() {
        assert_eq!(says(2, Some(20 * DAY)), None);
        let told = [20 * DAY, 30 * 60 * MINUTE, -DAY].map(|left| says(3, Some(left)).unwrap());
        let parts = [
            "(3 attempts), and the one in use ends in 20 days, on",
            "ends in 30 h, on",
            "so clients refuse the server: nobody",
        ];
        for (told, part) in told.iter().zip(parts) {
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn who_gets_its_certificates_is_told_nothing() {
        assert!(found(&CHECK, &told(ProgramFacts::default())).is_empty());
    }
}
