//! The face of the Maven format.

use crate::actor::Actor;
use crate::browse::{Level, MemberItems, tree as browse};
use crate::cleanup::{Cleanup, CleanupPlan};
use crate::client_settings::ClientSettings;
use crate::context::Context;
use crate::error::Result;
use crate::face::{Face, Read};
use crate::format::Format;
use crate::hints::announcement::Announcement;
use crate::listed::{ListedFile, Page, PageRequest, Shown};
use crate::maven::{cleanup, hinted, koji, retention};
use crate::question::Question;
use crate::repository::{Repository, RepositoryTable};
use crate::search::index::NameSource;
use crate::services::{Served, Services};
use crate::tree::{contents, kept_names, purge, read};
use crate::upstream::Remote;
use crate::upstream::first_seen::followed_rows::FollowedRow;
use crate::upstream::hinted::HintedRemote;
use arc_swap::ArcSwap;
use bytes::Bytes;
use format::maven::path::SETTINGS;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::{Entry, RepositoryKind};
use telemetry::{Event, Millis, Recorder};

/// The face of the Maven format.
pub(crate) struct MavenFace;

impl Face for MavenFace {
    fn read<'a>(kind: RepositoryKind, method: &str, path: &'a str) -> Read<'a> {
        let is_settings = path == SETTINGS && matches!(method, "GET" | "HEAD");
        let read = read::read(Format::Maven, kind, method, path)?;
        Ok(read.map(|question| if is_settings { Question::ClientSettings(ClientSettings::Maven) } else { question }))
    }

    async fn level(of: Served<'_>, part: PageRequest<'_>, event: &mut Event) -> Result<Level> {
        browse::level_of_files(of.services, of.repository, part, event).await
    }

    async fn owned(of: Served<'_>, items: &mut Vec<MemberItems>, event: &mut Event) -> Result<()> {
        browse::leave_guarded(of.services, of.repository, items, event).await
    }

    async fn names(of: Served<'_>, event: &mut Event) -> Result<NameSource> {
        // The names of a map that is not in memory would be kept as none until the map changes.
        if of.repository.is_koji() && !matches!(koji::load::load(&of.remote(), event).await, Ok(Some(_))) {
            return Ok(NameSource::Nothing);
        }
        Ok(NameSource::Rows)
    }

    async fn contents(
        of: Served<'_>,
        part: PageRequest<'_>,
        shown: Shown,
        event: &mut Event,
    ) -> Result<Page<ListedFile>> {
        contents::list(of, part, shown, event).await
    }

    async fn restore(of: Served<'_>, what: &str, by: Actor<'_>, event: &mut Event) -> Result<u64> {
        contents::restore(of, what, by, event).await
    }

    async fn cleanup(of: Served<'_>, rules: Cleanup<'_>, plan: &mut CleanupPlan, event: &mut Event) -> Result<()> {
        cleanup::cleanup(of.tree(), rules, plan, event).await
    }

    async fn prune(of: Served<'_>, apply: bool, plan: &mut CleanupPlan, event: &mut Event) -> Result<()> {
        // A snapshot in one repository may be released in another.
        let releases = of.services.hosted_like(of.repository);
        let found = |entry: &Entry| plan.withdraw("retention", of.repository.id, entry);
        retention::clean(of.tree(), &releases, apply, found, event).await
    }

    fn gives_back(group: &Repository, name: &str) -> Option<(String, Vec<String>)> {
        kept_names::gives_back(group, name)
    }

    async fn sweep(context: Context, repository: Arc<Repository>, alike: Vec<Arc<Repository>>) {
        retention::sweep(context, repository, alike).await;
    }

    async fn purge(
        of: Served<'_>,
        what: &str,
        why: &str,
        by: Option<Actor<'_>>,
        event: &mut Event,
    ) -> Result<Vec<Entry>> {
        purge::purge(of, what, why, by, event).await
    }

    async fn redated(_: Served<'_>, _: Vec<Entry>, _: Millis, _: &mut Event) -> Result<Vec<Entry>> {
        Ok(Vec::new())
    }

    async fn take_hint(of: Served<'_>, said: &Announcement, shared: &Arc<AtomicBool>, event: &mut Event) -> Result<()> {
        let remote = of.remote();
        match remote.repository.is_koji() {
            true => koji::follow::take_hint(&remote, said.published, shared),
            false => HintedRemote { remote, files: hinted::FILES }.take_hint(said, shared, event).await,
        }
    }

    fn look_for_hints(of: Served<'_>) -> Option<Millis> {
        let remote = of.remote();
        match remote.repository.is_koji() {
            true => koji::follow::look_for_hints(&remote),
            false => HintedRemote { remote, files: hinted::FILES }.look_for_hints(),
        }
    }

    fn follow(of: Served<'_>) {
        koji::follow::follow(&of.remote());
    }

    fn take_in(_: &Context, remote: Remote, unit: &str, row: FollowedRow) {
        koji::take_in::take_in(remote, unit, row);
    }

    async fn report(_: &Services, _: &RepositoryTable) {}

    async fn close(_: Served<'_>) {}

    fn can_read(_: &str, _: &Bytes) -> Option<bool> {
        None
    }

    fn show_in_metrics(recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>) {
        koji::confirmed::show_in_metrics(recorder, known);
    }
}
