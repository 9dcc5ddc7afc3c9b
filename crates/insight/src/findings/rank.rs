//! The order of findings: the dearest first.

use super::fold::fold;
use super::listed::Listed;
use super::state::Entry;
use super::{Finding, Mute};
use telemetry::Millis;

/// The findings in their order, muted and folded.
pub(super) fn ranked<'a>(entries: impl Iterator<Item = &'a Entry>, mutes: &[Mute], now: Millis) -> Vec<Listed> {
    let mut all: Vec<Listed> = entries.map(|entry| Listed::new(entry, mutes, now)).collect();
    fold(&mut all);
    sort(&mut all, |listed| &listed.finding);
    all
}

/// Sorts by the seconds that clients lose in an hour, each finding as sure as it is. Of two that cost the same within a tenth the one
/// comes first that is nearer to the cause.
pub(super) fn sort<T>(all: &mut [T], finding: impl Fn(&T) -> &Finding) {
    all.sort_by(|one, other| {
        let (one, other) = (finding(one), finding(other));
        let cost = |finding: &Finding| finding.lost_s_per_hour * finding.confidence;
        let step = |finding: &Finding| (cost(finding).max(1e-3).ln() * 10.0).round();
        let by_step = step(other).total_cmp(&step(one));
        let by_kind = || one.kind.cmp(&other.kind);
        by_step.then_with(by_kind).then_with(|| cost(other).total_cmp(&cost(one))).then_with(|| one.id.cmp(&other.id))
    });
}

#[cfg(test)]
mod tests {
    use super::super::FindingKind;
    use super::*;

    #[test]
    fn the_dearest_is_first_and_of_equal_ones_the_cause() {
        let finding = |id: &str, kind, lost_s_per_hour, confidence| Finding {
            lost_s_per_hour,
            confidence,
            ..Finding::empty(id, "", kind)
        };
        let mut all = vec![
            finding("impact", FindingKind::Impact, 1000.0, 1.0),
            finding("free", FindingKind::Cause, 0.0, 1.0),
            finding("cause", FindingKind::Cause, 990.0, 1.0),
            finding("unsure", FindingKind::Cause, 2000.0, 0.3),
            finding("failure", FindingKind::Failure, 1000.0, 1.0),
            finding("dear", FindingKind::Impact, 5000.0, 0.9),
        ];
        sort(&mut all, |finding| finding);
        let order: Vec<_> = all.iter().map(|finding| &*finding.id).collect();
        assert_eq!(order, ["dear", "cause", "failure", "impact", "unsure", "free"]);
    }
}
