//! The face of the format of raw files.

use crate::actor::Actor;
use crate::boxed::{Trying, Work};
use crate::browse::{Level, MemberItems, tree as browse};
use crate::cleanup::{Cleanup, CleanupPlan};
use crate::content::Content;
use crate::face::Face;
use crate::format::Format;
use crate::hints::announcement::Announcement;
use crate::listed::{ListedFile, Page, PageRequest, Shown};
use crate::package::packages::Packages;
use crate::question::Question;
use crate::raw::hinted;
use crate::reading::Reading;
use crate::repository::{Repository, RepositoryTable};
use crate::search::index::NameSource;
use crate::services::{Served, Services};
use crate::tree::{contents, purge, question};
use crate::upstream::hinted::HintedRemote;
use arc_swap::ArcSwap;
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::{Entry, RepositoryKind};
use telemetry::{Event, Millis, Recorder};

/// The face of the format of raw files.
pub(crate) struct RawFace;

impl Face for RawFace {
    fn read<'a>(
        &self,
        kind: RepositoryKind,
        method: &str,
        path: &'a str,
    ) -> Result<Reading<Question<'a>>, &'static str> {
        Ok(question::read(Format::Raw, kind, method, path)?.map(Question::Tree))
    }

    fn client_settings(&self, _: &Repository, _: &str) -> Option<Content> {
        None
    }

    fn packages(&self) -> Option<&'static dyn Packages> {
        None
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

    fn cleanup<'a>(&self, _: Served<'a>, _: Cleanup<'a>, _: &'a mut CleanupPlan, _: &'a mut Event) -> Trying<'a, ()> {
        // Files have no versions, which rules could count.
        Box::pin(async { Ok(()) })
    }

    fn prune<'a>(&self, _: Served<'a>, _: bool, _: &'a mut CleanupPlan, _: &'a mut Event) -> Trying<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn sweep(&self, _: &Services, _: Arc<Repository>) -> Work<'static> {
        Box::pin(async {})
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
