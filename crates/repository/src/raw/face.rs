//! The face of the format of raw files.

use crate::actor::Actor;
use crate::browse::{Level, MemberItems, tree as browse};
use crate::cleanup::{Cleanup, CleanupPlan};
use crate::context::Context;
use crate::error::Result;
use crate::face::{Face, Read};
use crate::format::Format;
use crate::hints::announcement::Announcement;
use crate::listed::{ListedFile, Page, PageRequest, Shown};
use crate::raw::hinted;
use crate::repository::{Repository, RepositoryTable};
use crate::search::index::NameSource;
use crate::services::{Served, Services};
use crate::tree::{contents, kept_names, purge, read};
use crate::upstream::Remote;
use crate::upstream::first_seen::followed_rows::FollowedRow;
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
    fn read<'a>(kind: RepositoryKind, method: &str, path: &'a str) -> Read<'a> {
        read::read(Format::Raw, kind, method, path)
    }

    async fn level(of: Served<'_>, part: PageRequest<'_>, event: &mut Event) -> Result<Level> {
        browse::level_of_files(of.services, of.repository, part, event).await
    }

    async fn owned(of: Served<'_>, items: &mut Vec<MemberItems>, event: &mut Event) -> Result<()> {
        browse::leave_guarded(of.services, of.repository, items, event).await
    }

    async fn names(_: Served<'_>, _: &mut Event) -> Result<NameSource> {
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

    async fn cleanup(_: Served<'_>, _: Cleanup<'_>, _: &mut CleanupPlan, _: &mut Event) -> Result<()> {
        // Files have no versions, which rules could count.
        Ok(())
    }

    async fn prune(_: Served<'_>, _: bool, _: &mut CleanupPlan, _: &mut Event) -> Result<()> {
        Ok(())
    }

    fn gives_back(group: &Repository, name: &str) -> Option<(String, Vec<String>)> {
        kept_names::gives_back(group, name)
    }

    async fn sweep(_: Context, _: Arc<Repository>, _: Vec<Arc<Repository>>) {}

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
        HintedRemote { remote: of.remote(), files: hinted::FILES }.take_hint(said, shared, event).await
    }

    fn look_for_hints(of: Served<'_>) -> Option<Millis> {
        HintedRemote { remote: of.remote(), files: hinted::FILES }.look_for_hints()
    }

    fn follow(_: Served<'_>) {}

    fn take_in(_: &Context, _: Remote, _: &str, _: FollowedRow) {}

    async fn report(_: &Services, _: &RepositoryTable) {}

    async fn close(_: Served<'_>) {}

    fn can_read(_: &str, _: &Bytes) -> Option<bool> {
        None
    }

    fn show_in_metrics(_: &Recorder, _: &Arc<ArcSwap<RepositoryTable>>) {}
}
