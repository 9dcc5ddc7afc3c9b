//! The findings as callers see them, between two looks.

use super::about::About;
use super::history::{History, as_of, lost_within};
use super::listed::Listed;
use super::rank::sort;
use super::{Finding, FindingState};
use crate::signals::Facts;
use std::collections::BTreeMap;
use std::sync::Arc;
use telemetry::{Millis, OpenFinding};

/// The findings of the last look.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    /// The findings that are pending, open or muted, ranked.
    pub(super) listed: Vec<Listed>,
    /// One for each check that can say nothing.
    pub(super) unknown: Vec<Finding>,
    pub(super) history: Arc<History>,
}

impl View {
    /// The findings that are listed by themselves.
    fn by_themselves(&self) -> impl Iterator<Item = &Listed> {
        self.listed.iter().filter(|listed| listed.under.is_none())
    }

    fn count(&self, state: FindingState) -> usize {
        self.by_themselves().filter(|listed| listed.finding.state == state).count()
    }

    /// How many are open and pending.
    pub(super) fn open_and_pending(&self) -> (usize, usize) {
        (self.count(FindingState::Open), self.count(FindingState::Pending))
    }

    /// The open ones that are listed by themselves, for metrics.
    pub(super) fn open(&self) -> Vec<OpenFinding> {
        let open = self.by_themselves().map(|listed| &listed.finding);
        let series = |finding: &Finding| OpenFinding {
            finding: finding.key.clone(),
            subject: finding.subject.clone(),
            lost_ms_per_hour: (finding.lost_s_per_hour * 1e3) as u64,
        };
        open.filter(|finding| finding.state == FindingState::Open).map(series).collect()
    }

    /// How many are in each state, for metrics.
    pub(super) fn counts(&self) -> Vec<(String, f64)> {
        let live = [FindingState::Open, FindingState::Pending, FindingState::Muted];
        let live = live.into_iter().map(|state| (state, self.count(state)));
        let all = live.chain([(FindingState::Unknown, self.unknown.len())]);
        all.map(|(state, count)| (state.as_str().to_owned(), count as f64)).collect()
    }

    /// Those in some states.
    pub(super) fn list(&self, states: &[FindingState]) -> Vec<Finding> {
        let of = |state: FindingState| states.contains(&state);
        let live = self.by_themselves().map(|listed| &listed.finding).filter(|finding| of(finding.state)).cloned();
        let closed = of(FindingState::Closed).then(|| self.history.closed());
        let unknown = if of(FindingState::Unknown) { &self.unknown[..] } else { &[] };
        live.chain(closed.into_iter().flatten()).chain(unknown.iter().cloned()).collect()
    }

    /// The findings that were pending or open at some time in `from..to`, each once, with all that was lost to it in that time.
    pub(super) fn within(&self, from: Millis, to: Millis, now: Millis) -> Vec<Finding> {
        let here = self.by_themselves().filter(|listed| listed.finding.since < to);
        let here = here.map(|Listed { finding, worst, opened, .. }| Finding {
            mute: finding.mute.clone(),
            folds: finding.folds.clone(),
            lost_s: lost_within(worst, now, from..to),
            ..as_of(worst, *opened, to)
        });
        let mut all: Vec<Finding> = here.chain(self.history.within(from, to)).collect();
        sort(&mut all, |finding| finding);
        // A finding may have come several times; the dearest tells it, with what was lost each time.
        let mut lost: BTreeMap<String, f64> = BTreeMap::new();
        all.iter().for_each(|finding| *lost.entry(finding.id.clone()).or_default() += finding.lost_s);
        all.retain_mut(|finding| lost.remove(&finding.id).map(|lost_s| finding.lost_s = lost_s).is_some());
        all
    }

    /// Open ones that touch one of these repositories.
    pub(super) fn about(&self, repositories: &[&str], facts: &Facts) -> Vec<Finding> {
        let about = About::new(repositories, facts);
        let open = self.by_themselves().filter(|listed| listed.finding.state == FindingState::Open);
        open.filter(|listed| about.touches(listed)).map(|listed| listed.finding.clone()).collect()
    }
}
