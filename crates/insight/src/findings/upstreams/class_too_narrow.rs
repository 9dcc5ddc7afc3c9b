//! A limit of requests, connections or waiting requests is reached, and clients are refused.

use super::cost;
use crate::findings::check::{Check, FindingKind, Guard, Lost, Problem, Verdict};
use crate::findings::gauge::Gauge;
use crate::findings::saves::Saves;
use crate::findings::wider::{Wider, wider};
use crate::findings::wording::{count, length, percent};
use crate::signals::bounds::BoundSeen;
use crate::signals::seen::Seen;
use crate::sizing::staffing::ample;
use serde_json::json;
use telemetry::{BoundName, Class};

/// Refusals in five minutes, at least.
const REFUSED: u64 = 20;
/// Refusals among all requests, at least.
const SHARE: f64 = 0.01;
/// What a refusal costs a client at least, in seconds: it asks again after `Retry-After`.
const EACH_S: f64 = 1.0;

pub(super) const CHECK: Check = Check {
    key: "class-too-narrow",
    kind: FindingKind::Cause,
    about: "A limit of requests, connections or waiting requests is reached, and clients are refused.",
    when: "in five minutes it refused at least 20 and 1 % of all requests",
    unless: "the refusals end before the five minutes of a pending finding have passed",
    after: Check::AFTER,
    keeps: Check::KEEPS,
    look,
};

/// The limits besides those of cost classes: the reason of a refusal, and how many times the limit the setting is.
const LIMITS: [(BoundName, &str, u64); 7] = [
    (BoundName::UpstreamWaiters, "waiters_full", 1),
    (BoundName::RepositoryWaiters, "waiters_full", 2),
    (BoundName::ClientWaiters, "waiters_full", 4),
    (BoundName::Connections, "too_many_connections", 1),
    (BoundName::ClientConnections, "too_many_of_client", 1),
    (BoundName::Flights, "bound_full", 1),
    (BoundName::RepositoryFlights, "bound_full", 8),
];

fn look(seen: &Seen) -> Verdict {
    let classes = seen.recent.bounds.named(BoundName::Requests).filter_map(|(which, bound)| {
        let class = Class::ALL.iter().find(|class| class.as_str() == which)?;
        let of = seen.recent.requests.of(*class);
        let each = of.nanos as f64 / 1e9 / of.requests.max(1) as f64;
        let mut problem =
            problem(seen, (BoundName::Requests, bound), &format!("requests/{which}"), class.doc(), each, 1)?;
        problem.evidence = json!({
            "measures": ["count", "share(outcome = shed)"], "by": ["client", "token"],
            "where": [["class", "=", which]], "order": "-share(outcome = shed)",
        });
        problem.event = of.first_shed;
        Some(problem)
    });
    let limits = LIMITS.iter().filter_map(|(name, reason, times)| {
        let (_, bound) = seen.recent.bounds.named(*name).next()?;
        let all = seen.recent.requests.all;
        let each = all.nanos as f64 / 1e9 / all.requests.max(1) as f64;
        let mut problem = problem(seen, (*name, bound), name.as_str(), name.doc(), each, *times)?;
        problem.evidence =
            json!({ "measures": ["count"], "by": ["client", "repository"], "where": [["reason", "=", reason]] });
        problem.event = all.first_shed;
        Some(problem)
    });
    Verdict::Looked(classes.chain(limits).collect())
}

/// A limit that refused. `each`: the seconds that a place is taken.
fn problem(
    seen: &Seen,
    of: (BoundName, &BoundSeen),
    subject: &str,
    what: &str,
    each: f64,
    times: u64,
) -> Option<Problem> {
    let (name, bound) = of;
    let refused = bound.rejected;
    let share = refused as f64 / seen.recent.requests.all.requests.max(1) as f64;
    if refused < REFUSED || share < SHARE {
        return None;
    }
    // Little's law: the refused ones of a second would have taken so many places more.
    let wanted = bound.capacity as f64 + refused as f64 / bound.full.max(1) as f64 * each;
    let to = ample(wanted).max(bound.capacity + 1);
    let Wider { change, note } = wider(seen, name, bound.setting?, to.saturating_mul(times))?;
    let lost = refused as f64 * EACH_S;
    let mut clients: Vec<_> = seen.recent.clients.iter().filter(|client| client.time.shed > 0).collect();
    clients.sort_by_key(|client| std::cmp::Reverse(client.time.shed));
    let whom: Vec<String> =
        clients.iter().take(3).map(|client| format!("{} {}", client.name(), count(client.time.shed, "time"))).collect();
    let whom = if whom.is_empty() { String::new() } else { format!(": {}", whom.join(", ")) };
    let which = subject.split_once('/').map_or("", |(_, which)| which);
    let what = what.split_once(';').map_or(what, |(first, _)| first);
    let sentence = format!(
        "`{subject}` ({what}) has {} and refused {} in {} ({} of all requests){whom}; {to} would be enough{note}",
        count(bound.capacity, "place"),
        count(refused, "time"),
        length(&seen.recent),
        percent(share),
    );
    Some(Problem {
        subject: format!("bound:{subject}"),
        // A burst of refusals is over before somebody reads about it, so this never opens at once.
        lost: Lost { recent_s: lost.min(60.0), ..Lost::recent(lost) },
        saves: Some(Saves::new(lost, Gauge::Refused(name.as_str().to_owned(), which.to_owned()))),
        confidence: 0.8,
        sentence,
        changes: change.into_iter().collect(),
        guards: vec![
            Guard::passed("refusals", refused),
            Guard::passed("share of the time of all requests", (cost::part(seen, lost) * 1000.0).round() / 1000.0),
        ],
        ..Problem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::staged::{found, server};
    use super::*;
    use crate::signals::facts::SettingFact;
    use std::sync::Arc;
    use telemetry::{EventId, MachineSample, ProcessFigures};

    fn refused(name: BoundName, which: &str, setting: &'static str, rejected: u64) -> Vec<Problem> {
        refused_of(server(100), name, which, setting, (2, rejected))
    }

    fn refused_of(
        mut seen: Seen,
        name: BoundName,
        which: &str,
        setting: &'static str,
        figures: (u64, u64),
    ) -> Vec<Problem> {
        let (capacity, rejected) = figures;
        let bound =
            BoundSeen { setting: Some(setting), capacity, rejected, full: 10, samples: 100, ..BoundSeen::default() };
        seen.recent.bounds.0.insert((name, which.into()), bound);
        let uploads = seen.recent.requests.of_mut(Class::Uploads);
        (uploads.requests, uploads.nanos, uploads.first_shed) = (10, 20_000_000_000, Some(EventId(1)));
        seen.recent.clients.client("10.0.0.9", "ci").time.shed = rejected;
        found(look(&seen))
    }

    #[test]
    fn a_class_that_refuses_names_its_setting_and_whom_it_refused() {
        let found = refused(BoundName::Requests, "uploads", "server.max_uploads", 20);
        let [problem] = &found[..] else { panic!("{found:?}") };
        // Two places, and two a second for two seconds: six, and a reserve.
        assert_eq!((&*problem.subject, &problem.changes[0].to), ("bound:requests/uploads", &Some(11.into())));
        assert!(problem.sentence.contains("the client 10.0.0.9 with the token `ci` 20 times"), "{}", problem.sentence);
        assert_eq!(refused(BoundName::Requests, "uploads", "server.max_uploads", 19), []);
    }

    #[test]
    fn limits_that_are_a_part_of_a_setting_are_advised_as_the_setting() {
        let found = refused_of(server(100), BoundName::ClientWaiters, "", "server.max_waiting", (10, 100));
        assert_eq!(found[0].changes[0].to, Some(72.into()), "{found:?}");
        // The limit is less than its part of the setting.
        let found = refused(BoundName::ClientWaiters, "", "server.max_waiting", 100);
        assert!(found[0].changes.is_empty(), "{found:?}");
    }

    #[test]
    fn connections_beyond_the_descriptors_are_not_advised() {
        let with = |descriptors, now| {
            let mut seen = server(100);
            let setting = SettingFact {
                key: "server.max_connections".to_owned(),
                number: Some(now),
                limits: Some((1, 1_000_000)),
                ..SettingFact::default()
            };
            Arc::make_mut(&mut seen.facts).settings.push(setting);
            let process = ProcessFigures { max_fds: Some(descriptors), ..ProcessFigures::default() };
            seen.machine = Some(Arc::new(MachineSample { process, ..MachineSample::default() }));
            let key = "server.max_connections";
            refused_of(seen, BoundName::Connections, "", key, (now, 200_000)).remove(0)
        };
        // 1024 less 256, 3 files of a reader, and 2 of uploads.
        assert_eq!(with(1024, 300).changes[0].to, Some(381.into()));
        for now in [381, 400] {
            let problem = with(1024, now);
            assert!(problem.changes.is_empty() && problem.sentence.contains("`LimitNOFILE="), "{problem:?}");
        }
    }
}
