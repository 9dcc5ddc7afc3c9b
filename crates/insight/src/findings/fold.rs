//! Symptoms below their cause: a failure or an impact is not listed by itself if a cause explains most of the seconds that it tells of.

use super::FindingState;
use super::check::{FindingKind, Lost};
use super::listed::Listed;

/// The share of the lost seconds of a symptom that a cause must explain.
const EXPLAINS: f64 = 0.8;

/// Puts symptoms below what explains them: failures below causes, then impacts below causes and failures.
pub(super) fn fold(all: &mut [Listed]) {
    for kind in [FindingKind::Failure, FindingKind::Impact] {
        let symptoms = (0..all.len()).filter(|place| all[*place].finding.kind == kind);
        let explained: Vec<_> = symptoms.filter_map(|place| Some((place, explaining(all, &all[place])?))).collect();
        for (symptom, cause) in explained {
            let id = all[symptom].finding.id.clone();
            all[symptom].under = Some(all[cause].finding.id.clone());
            all[cause].finding.folds.push(id);
        }
    }
    all.iter_mut().for_each(|listed| listed.finding.folds.sort());
}

/// The place of what explains a symptom best: rather a cause than a failure, rather of the same subject, rather the one that explains more.
fn explaining(all: &[Listed], symptom: &Listed) -> Option<usize> {
    // Somebody decided about a muted one by itself.
    if symptom.finding.state == FindingState::Muted {
        return None;
    }
    let rank = |(place, cause): (usize, &Listed)| {
        // A failure of the whole server is more than what some repositories lose.
        let is_wider = symptom.finding.kind == FindingKind::Failure
            && symptom.lost.by_repository.is_empty()
            && !cause.lost.by_repository.is_empty();
        let share = if is_wider { 0.0 } else { share(&cause.lost, &symptom.lost) };
        let is_cause = cause.finding.kind < symptom.finding.kind
            // A muted one would hide what nobody has muted.
            && cause.finding.state != FindingState::Muted
            && cause.under.is_none()
            // An open one is not hidden below a pending one, which is no finding yet.
            && (cause.opened.is_some() || symptom.opened.is_none())
            // A cause that is over explains nothing that is seen now.
            && (cause.seen || !symptom.seen)
            && share >= EXPLAINS;
        let same = cause.finding.subject == symptom.finding.subject;
        is_cause.then_some((cause.finding.kind, !same, -share, place))
    };
    let better = |one: &(FindingKind, bool, f64, usize), other: &(FindingKind, bool, f64, usize)| {
        (one.0, one.1).cmp(&(other.0, other.1)).then(one.2.total_cmp(&other.2)).then(one.3.cmp(&other.3))
    };
    all.iter().enumerate().filter_map(rank).min_by(better).map(|(.., place)| place)
}

/// The share of a symptom's seconds that a cause may explain, 0 to 1: by repository where both tell them, else of the sums.
fn share(cause: &Lost, symptom: &Lost) -> f64 {
    if symptom.recent_s <= 0.0 || cause.recent_s <= 0.0 {
        return if symptom.hourly_s > 0.0 { (cause.hourly_s / symptom.hourly_s).clamp(0.0, 1.0) } else { 0.0 };
    }
    if cause.by_repository.is_empty() || symptom.by_repository.is_empty() {
        return (cause.recent_s / symptom.recent_s).min(1.0);
    }
    let both = symptom.by_repository.iter();
    let both = both.map(|(name, seconds)| seconds.min(cause.by_repository.get(name).copied().unwrap_or_default()));
    both.sum::<f64>() / symptom.recent_s
}

#[cfg(test)]
mod tests {
    use super::super::Finding;
    use super::*;
    use telemetry::Millis;

    fn listed(id: &str, subject: &str, kind: FindingKind, lost: &[(&str, f64)]) -> Listed {
        let lost = Lost::of(lost.iter().copied());
        let mut finding = Finding::empty(id, subject, kind);
        (finding.state, finding.lost_s_per_hour) = (FindingState::Open, lost.hourly_s);
        Listed { worst: finding.clone(), finding, lost, opened: Some(Millis(0)), seen: true, under: None }
    }

    fn whole(id: &str, kind: FindingKind, seconds: f64) -> Listed {
        Listed { lost: Lost::recent(seconds), ..listed(id, "server", kind, &[]) }
    }

    fn folds(mut all: Vec<Listed>) -> Vec<(String, Option<String>)> {
        fold(&mut all);
        for one in &all {
            let below: Vec<_> = all.iter().filter(|other| other.under.as_ref() == Some(&one.finding.id)).collect();
            assert_eq!(below.len(), one.finding.folds.len());
        }
        all.into_iter().map(|listed| (listed.finding.id, listed.under)).collect()
    }

    fn under(all: Vec<Listed>, id: &str) -> Option<String> {
        folds(all).into_iter().find(|(of, _)| of == id).unwrap().1
    }

    const CAUSE: FindingKind = FindingKind::Cause;
    const FAILURE: FindingKind = FindingKind::Failure;
    const IMPACT: FindingKind = FindingKind::Impact;

    #[test]
    fn a_symptom_goes_below_a_cause_that_explains_four_fifths_of_its_seconds() {
        let symptom = || listed("slow", "server", IMPACT, &[("central", 90.0), ("other", 10.0)]);
        let cause = |seconds| listed("narrow", "upstream:a", CAUSE, &[("central", seconds)]);
        assert_eq!(under(vec![symptom(), cause(81.0)], "slow").as_deref(), Some("narrow"));
        assert_eq!(under(vec![symptom(), cause(79.0)], "slow"), None);
        let elsewhere = listed("narrow", "upstream:a", CAUSE, &[("third", 500.0)]);
        assert_eq!(under(vec![symptom(), elsewhere], "slow"), None, "it costs other repositories");
        assert_eq!(under(vec![symptom(), whole("starved", CAUSE, 80.0)], "slow").as_deref(), Some("starved"));
        assert_eq!(under(vec![symptom(), whole("starved", CAUSE, 79.0)], "slow"), None);
    }

    #[test]
    fn causes_are_listed_by_themselves_and_chains_are_flat() {
        let causes = vec![whole("one", CAUSE, 100.0), whole("two", CAUSE, 100.0)];
        assert_eq!(folds(causes), [("one".to_owned(), None), ("two".to_owned(), None)]);
        let chain = vec![whole("impact", IMPACT, 90.0), whole("failure", FAILURE, 95.0), whole("cause", CAUSE, 100.0)];
        let below = Some("cause".to_owned());
        let expected =
            [("impact".to_owned(), below.clone()), ("failure".to_owned(), below), ("cause".to_owned(), None)];
        assert_eq!(folds(chain), expected);
        let symptoms = vec![whole("impact", IMPACT, 90.0), whole("failure", FAILURE, 95.0)];
        assert_eq!(under(symptoms, "impact").as_deref(), Some("failure"));
    }

    #[test]
    fn a_muted_cause_hides_nothing_and_a_failure_of_the_whole_server_is_none_of_one_repository() {
        let mut muted = whole("cause", CAUSE, 100.0);
        muted.finding.state = FindingState::Muted;
        assert_eq!(under(vec![whole("slow", IMPACT, 50.0), muted], "slow"), None);
        let narrow = listed("narrow", "upstream:a", CAUSE, &[("central", 400.0)]);
        assert_eq!(under(vec![whole("stuck", FAILURE, 36.0), narrow.clone()], "stuck"), None);
        assert_eq!(under(vec![whole("slow", IMPACT, 36.0), narrow], "slow").as_deref(), Some("narrow"));
    }

    #[test]
    fn what_costs_no_time_is_explained_by_nothing() {
        let lost = vec![whole("index-stale", FAILURE, 0.0), whole("cause", CAUSE, 100.0)];
        assert_eq!(under(lost, "index-stale"), None);
    }

    #[test]
    fn an_open_symptom_is_not_hidden_below_a_pending_cause_nor_a_new_one_below_one_that_is_over() {
        let pending = || Listed { opened: None, ..whole("cause", CAUSE, 100.0) };
        assert_eq!(under(vec![whole("slow", IMPACT, 50.0), pending()], "slow"), None);
        let symptom = Listed { opened: None, ..whole("slow", IMPACT, 50.0) };
        assert_eq!(under(vec![symptom, pending()], "slow").as_deref(), Some("cause"));
        let over = Listed { seen: false, ..whole("cause", CAUSE, 100.0) };
        assert_eq!(under(vec![whole("slow", IMPACT, 50.0), over], "slow"), None);
    }

    #[test]
    fn a_symptom_goes_below_the_cause_of_its_own_subject_first() {
        let same = listed("same", "upstream:a", CAUSE, &[("central", 80.0)]);
        let greater = listed("greater", "server", CAUSE, &[("central", 200.0)]);
        let symptom = listed("slow", "upstream:a", FAILURE, &[("central", 90.0)]);
        assert_eq!(under(vec![greater, symptom, same], "slow").as_deref(), Some("same"));
    }

    #[test]
    fn a_muted_symptom_stands_alone() {
        let mut symptom = whole("slow", IMPACT, 50.0);
        symptom.finding.state = FindingState::Muted;
        assert_eq!(under(vec![whole("cause", CAUSE, 100.0), symptom], "slow"), None);
    }
}
