//! The face of the Maven format.

use crate::actor::Actor;
use crate::boxed::{Trying, Work};
use crate::browse::{Level, MemberItems, tree as browse};
use crate::cleanup::{Cleanup, CleanupPlan};
use crate::content::Content;
use crate::face::Face;
use crate::hints::announcement::Announcement;
use crate::listed::{ListedFile, Page, PageRequest, Shown};
use crate::maven::package_face::Artifacts;
use crate::maven::{self, cleanup, client_settings, hinted, question, retention};
use crate::package::packages::Packages;
use crate::question::Question;
use crate::reading::Reading;
use crate::repository::{Repository, RepositoryTable};
use crate::search::index::NameSource;
use crate::services::{Served, Services};
use crate::tree::{contents, purge};
use crate::upstream::hinted::HintedRemote;
use arc_swap::ArcSwap;
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::{Entry, RepositoryKind};
use telemetry::{Event, Millis, Recorder};

/// The face of the Maven format.
pub(crate) struct MavenFace;

impl Face for MavenFace {
    fn read<'a>(
        &self,
        kind: RepositoryKind,
        method: &str,
        path: &'a str,
    ) -> Result<Reading<Question<'a>>, &'static str> {
        let read = question::read(kind, method, path)?;
        Ok(read.map(|question| match question {
            maven::Question::ClientSettings => Question::ClientSettings,
            maven::Question::Tree(question) => Question::Tree(question),
        }))
    }

    fn client_settings(&self, repository: &Repository, base: &str) -> Option<Content> {
        Some(client_settings::of(repository, base))
    }

    fn packages(&self) -> Option<&'static dyn Packages> {
        Some(&Artifacts)
    }

    fn level<'a>(&self, of: Served<'a>, part: PageRequest<'a>, event: &'a mut Event) -> Trying<'a, Level> {
        Box::pin(browse::level_of_files(of.services, of.repository, part, event))
    }

    fn owned<'a>(&self, of: Served<'a>, items: &'a mut Vec<MemberItems>, event: &'a mut Event) -> Trying<'a, ()> {
        Box::pin(browse::leave_guarded(of.services, of.repository, items, event))
    }

    fn listed_names<'a>(&self, _: Served<'a>, _: &'a mut Event) -> Trying<'a, NameSource> {
        Box::pin(async { Ok(NameSource::Rows) })
    }

    fn contents<'a>(
        &self,
        of: Served<'a>,
        part: PageRequest<'a>,
        shown: Shown,
        event: &'a mut Event,
    ) -> Trying<'a, Page<ListedFile>> {
        Box::pin(contents::list(of, part, shown, event))
    }

    fn restore<'a>(&self, of: Served<'a>, what: &'a str, by: Actor<'a>, event: &'a mut Event) -> Trying<'a, u64> {
        Box::pin(contents::restore(of, what, by, event))
    }

    fn cleanup<'a>(
        &self,
        of: Served<'a>,
        rules: Cleanup<'a>,
        plan: &'a mut CleanupPlan,
        event: &'a mut Event,
    ) -> Trying<'a, ()> {
        Box::pin(cleanup::cleanup(of.tree(), rules, plan, event))
    }

    fn prune<'a>(
        &self,
        of: Served<'a>,
        apply: bool,
        plan: &'a mut CleanupPlan,
        event: &'a mut Event,
    ) -> Trying<'a, ()> {
        Box::pin(async move {
            // A snapshot in one repository may be released in another.
            let releases = of.services.hosted_like(of.repository);
            let found = |entry: &Entry| plan.withdraw("retention", of.repository.id, entry);
            retention::clean(of.tree(), &releases, apply, found, event).await
        })
    }

    fn sweep(&self, services: &Services, repository: Arc<Repository>) -> Work<'static> {
        let releases = services.hosted_like(&repository);
        Box::pin(retention::sweep(services.context.clone(), repository, releases))
    }

    fn purge<'a>(
        &self,
        of: Served<'a>,
        what: &'a str,
        why: &'a str,
        by: Option<Actor<'a>>,
        event: &'a mut Event,
    ) -> Trying<'a, Vec<Entry>> {
        Box::pin(async move {
            let path = of.repository.format.rules().named_path(what);
            purge::purge(of.tree(), &path, why, by, of.services.store.now(), event).await
        })
    }

    fn redated<'a>(&self, _: Served<'a>, _: Vec<Entry>, _: Millis, _: &'a mut Event) -> Trying<'a, Vec<Entry>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn take_hint<'a>(
        &self,
        of: Served<'a>,
        said: &'a Announcement,
        shared: &'a Arc<AtomicBool>,
        event: &'a mut Event,
    ) -> Trying<'a, ()> {
        Box::pin(async move {
            of.repository.shared.due.set_recent(said.recent.clone());
            let hinted = HintedRemote { remote: of.remote(), files: hinted::FILES };
            hinted.take_hint(hinted::hint(said), said.published, shared, event).await
        })
    }

    fn look_for_hints(&self, of: Served<'_>) -> Option<Millis> {
        HintedRemote { remote: of.remote(), files: hinted::FILES }.look_for_hints()
    }

    fn follow(&self, _: Served<'_>) {}

    fn report<'a>(&self, _: &'a Services, _: &'a RepositoryTable) -> Work<'a> {
        Box::pin(async {})
    }

    fn close<'a>(&self, _: Served<'a>) -> Work<'a> {
        Box::pin(async {})
    }

    fn can_read(&self, _: &str, _: &Bytes) -> Option<bool> {
        None
    }

    fn show_in_metrics(&self, _: &Recorder, _: &Arc<ArcSwap<RepositoryTable>>) {}
}
