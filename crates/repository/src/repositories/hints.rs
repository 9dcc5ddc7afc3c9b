//! Hints that the upstreams of a repository changed: accepting them, the job that looks at the upstreams, and the
//! figures.

use crate::error::Result;
use crate::face::Face;
use crate::formats::face;
use crate::hints::announcement::Announcement;
use crate::hints::figures::HintFigures;
use crate::hints::hint::Hint;
use crate::hints::waiting::BEHIND_MS;
use crate::repositories::Repositories;
use crate::repository::{Repository, RepositoryTable};
use crate::services::Services;
use arc_swap::ArcSwap;
use client::Secret;
use std::sync::Arc;
use store::{Lane, RepositoryKind, Stamp};
use telemetry::{By, Clock, Event, Fold, Job, Metric, Millis, Op, Outcome, Recorder};

/// Maximum number of names in a log line about lost hints.
const NAMES: usize = 5;
/// An index that was not checked for this number of milliseconds, an hour and a quarter, is behind, whether its looks
/// fail or not.
const UNLOOKED_MS: i64 = 4_500_000;

impl Repositories {
    /// The secret of a repository's hooks; `None`: it has none. It may be in a file, which is read each time.
    pub async fn hook_secret(&self, repository: &Repository, event: &mut Event) -> Result<Option<Secret>> {
        let Some(reference) = repository.record.hook_secret.clone() else { return Ok(None) };
        let remotes = self.services.remotes.clone();
        let read = move |_: &mut ()| remotes.upstreams.secret(&reference);
        Ok(Some(self.services.context.workers.run(Lane::Change, Op::ReferencesRead, event, read).await??))
    }

    /// The number of remote repositories that are known to be behind their upstreams.
    pub async fn behind(&self, event: &mut Event) -> Result<usize> {
        let (table, now) = (self.table(event).await?, self.services.clock.now());
        let remotes = table.by_name.values().filter(|one| one.record.kind == RepositoryKind::Remote);
        Ok(remotes.filter(|one| one.behind_since(now).is_some()).count())
    }

    /// Makes the upstreams of a repository be looked at until they confirm the hint; for a group, the upstreams of all
    /// its members.
    pub async fn take_hint(
        &self,
        repository: &Arc<Repository>,
        settings: &Stamp,
        said: &Announcement,
        event: &mut Event,
    ) -> Result<()> {
        let shared = Arc::default();
        if repository.record.kind == RepositoryKind::Group {
            repository.shared.hints.count_taken(self.services.clock.now());
        }
        for remote in remotes_of(repository) {
            face!(remote.format, take_hint(self.served(remote, settings), said, &shared, event).await)?;
        }
        self.services.remotes.hints.changed.notify_one();
        Ok(())
    }

    /// Looks at the upstreams that are due because of hints or of changed settings. Returns when the next look is due; `None`: no hint waits.
    pub async fn look_for_hints(&self) -> Option<Millis> {
        let mut event = Event::job("hints.follow", self.services.clock.now());
        let table = self.table(&mut event).await.ok()?;
        let remotes = table.by_name.values().filter(|one| one.record.kind == RepositoryKind::Remote);
        let look = |remote: &Arc<Repository>| {
            if !remote.shared.hints.are_waiting() && !remote.awaits_look() {
                return None;
            }
            face!(remote.format, look_for_hints(self.served(remote, &table.stamp)))
        };
        remotes.filter_map(look).min()
    }

    /// Waits until there may be new hints.
    pub async fn hints_changed(&self) {
        self.services.remotes.hints.changed.notified().await;
    }

    /// Wakes the job that looks at upstreams, because the clock was set or settings were changed.
    pub fn wake_hints(&self) {
        self.services.remotes.hints.changed.notify_one();
    }
}

/// Counts and logs changes upstream that no hint announced.
pub(crate) fn report_lost_hints(services: &Services, table: &RepositoryTable) {
    let (now, recorder) = (services.clock.now(), &services.context.recorder);
    for repository in table.by_name.values() {
        let (lost, says) = repository.shared.hints.take_lost(now);
        if lost.is_empty() {
            continue;
        }
        let name = |hint: &Hint| match hint.gone {
            false => format!("{} {}", hint.package, hint.version),
            true => format!("{} {} (withdrawn)", hint.package, hint.version),
        };
        let mut names = lost.iter().take(NAMES).map(name).collect::<Vec<_>>().join(", ");
        if lost.len() > NAMES {
            names += &format!(" and {} more", lost.len() - NAMES);
        }
        let mut job = Job::begin(recorder, "hints.lost");
        job.subject.repository = repository.record.name.as_str().into();
        let what = if lost.len() == 1 { "change" } else { "changes" };
        let detail = Event::text(&format!("{} {what} without a hook: {names}", lost.len()));
        job.detail.clone_from(&detail);
        job.end(Outcome::Done);
        if says {
            let fields: [(&str, &dyn std::fmt::Display); 2] =
                [("repository", &repository.record.name), ("found", &detail)];
            recorder.log().warn("the upstream has changes that no hook announced", &fields);
        }
    }
}

impl Repository {
    /// Counts a refused hook.
    pub fn count_refused_hook(&self) {
        self.shared.hints.count_refused();
    }

    /// Whether it has upstreams that hints can apply to.
    pub fn takes_hints(&self) -> bool {
        self.record.kind != RepositoryKind::Hosted
    }

    /// The figures about this repository's hints. `None`: it has no upstreams.
    pub fn hints(&self, now: Millis) -> Option<HintFigures> {
        (self.record.kind != RepositoryKind::Hosted).then(|| self.shared.hints.figures(now))
    }

    /// Since when a remote repository is behind its upstream: a hint is unconfirmed for minutes, or the index could not
    /// be checked.
    pub fn behind_since(&self, now: Millis) -> Option<Millis> {
        let hinted = self.hints(now).and_then(|hints| hints.behind_since);
        let unlooked = self.followed().and_then(|index| {
            let most = if index.failure.is_some() { BEHIND_MS } else { UNLOOKED_MS };
            // What was proven before the start is not known, unless it was a change.
            let since = index.proven.max(index.read_back);
            (now.0.saturating_sub(since.0) >= most && index.looked.0 > 0).then_some(since)
        });
        // A map that nobody asks is looked at seldom, so only looks that fail tell that it is behind.
        let unmapped =
            self.koji_confirmed().filter(|map| map.failure.is_some() && now.0.saturating_sub(map.at.0) >= BEHIND_MS);
        hinted.into_iter().chain(unlooked).chain(unmapped.map(|map| map.at)).min()
    }
}

/// The remote repository itself, or the remote members of a group.
fn remotes_of(repository: &Arc<Repository>) -> impl Iterator<Item = &Arc<Repository>> {
    let all = [repository].into_iter().chain(repository.leaves.iter());
    all.filter(|one| one.record.kind == RepositoryKind::Remote)
}

/// Adds the figures of hints to the metrics.
pub(crate) fn show_in_metrics(recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>) {
    let show = |metric, fold, figure: fn(&Repository, HintFigures, Millis) -> Option<f64>| {
        let (known, clock): (_, Clock) = (known.clone(), recorder.clock().clone());
        recorder.figures(metric, By::Repository(fold), move || {
            let (known, now) = (known.load_full(), clock.now());
            let of = |one: &Arc<Repository>| Some((one.record.name.clone(), figure(one, one.hints(now)?, now)?));
            known.by_name.values().filter_map(of).collect()
        });
    };
    let metric = Metric::counter("hooks_taken_total", "Hooks that a repository accepted");
    show(metric, Fold::Sum, |_, hints, _| if_used(hints, hints.taken));
    let metric = Metric::counter("hooks_refused_total", "Hooks for a repository that were refused");
    show(metric, Fold::Sum, |_, hints, _| if_used(hints, hints.refused));
    let metric =
        Metric::counter("hooks_lost_total", "Changes of an upstream that were found and that no hook announced");
    show(metric, Fold::Sum, |_, hints, _| if_used(hints, hints.lost));
    let metric = Metric::gauge("hooks_waiting", "Hooks that announced what the upstream does not show yet");
    show(metric, Fold::Sum, |_, hints, _| if_used(hints, hints.waiting as u64));
    let doc = "From the publication that the last hook announced, or from the arrival of the hook, until it was seen";
    let metric = Metric::gauge("hook_lag_seconds", doc);
    show(metric, Fold::Max, |_, hints, _| hints.lag_ms.map(|lag_ms| lag_ms as f64 / 1e3));
    let metric = Metric::gauge("hook_seen_timestamp_seconds", "When a change that a hook announced was last seen");
    show(metric, Fold::Max, |_, hints, _| hints.seen.map(|at| at.seconds().max(0) as f64));
    let doc = "For how long a remote repository has been behind its upstream; 0 if it is not, as far as is known";
    let metric = Metric::gauge("upstream_behind_seconds", doc);
    show(metric, Fold::Max, |one, _, now| {
        let is_remote = one.record.kind == RepositoryKind::Remote;
        is_remote.then(|| one.behind_since(now).map_or(0.0, |since| (now.0 - since.0).max(0) as f64 / 1e3))
    });
}

/// A figure of a repository that ever received a hook; `None`: it never did.
fn if_used(hints: HintFigures, figure: u64) -> Option<f64> {
    (hints.last.is_some() || hints.refused > 0).then_some(figure as f64)
}
