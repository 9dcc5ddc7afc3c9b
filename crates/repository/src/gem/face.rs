//! The face of the gem format.

use crate::actor::Actor;
use crate::bad_setting::BadSetting;
use crate::browse::{Level, MemberItems};
use crate::cleanup::{Cleanup, CleanupPlan};
use crate::context::Context;
use crate::error::Result;
use crate::face::{Face, Read};
use crate::gem::group::{waiting, waiting_metrics};
use crate::gem::hosted::Hosted;
use crate::gem::indexes::names::NameList;
use crate::gem::indexes::specs::SpecFiles;
use crate::gem::indexes::versions::VersionLog;
use crate::gem::indexes::view_log::ViewLog;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::{dates_file, hinted, saved};
use crate::gem::{browse, cleanup, contents, followed, kept_names, purge, read, redate};
use crate::hints::announcement::Announcement;
use crate::index::incremental_index::IndexSource;
use crate::listed::{ListedFile, Page, PageRequest, Shown};
use crate::repository::{Repository, RepositoryTable};
use crate::search::index::NameSource;
use crate::services::{Served, Services};
use crate::upstream::Remote;
use crate::upstream::first_seen::followed_rows::FollowedRow;
use arc_swap::ArcSwap;
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::{Entry, RepositoryKind};
use telemetry::{Event, Millis, Recorder};

/// The face of the gem format.
pub(crate) struct GemFace;

impl Face for GemFace {
    fn read<'a>(_: RepositoryKind, method: &str, path: &'a str) -> Read<'a> {
        read::read(method, path.trim_end_matches('/'))
    }

    async fn level(of: Served<'_>, part: PageRequest<'_>, event: &mut Event) -> Result<Level> {
        browse::level_of_gems(of.services, of.repository, of.settings, part, event).await
    }

    async fn owned(of: Served<'_>, items: &mut Vec<MemberItems>, event: &mut Event) -> Result<()> {
        browse::leave_owners(of.services, of.repository, items, event).await
    }

    async fn names(of: Served<'_>, event: &mut Event) -> Result<NameSource> {
        let index = browse::index_of_names(of.services, of.repository, of.settings, event).await?;
        Ok(index.map_or(NameSource::Nothing, NameSource::Index))
    }

    async fn contents(
        of: Served<'_>,
        part: PageRequest<'_>,
        shown: Shown,
        event: &mut Event,
    ) -> Result<Page<ListedFile>> {
        if of.repository.record.kind == RepositoryKind::Group {
            let name = &of.repository.record.name;
            let text = format!("`{name}` is a group, which holds nothing itself");
            let hint = format!("`daylight repo show {name}` names its members; ask for the contents of each");
            return Err(BadSetting::new(text, &hint).into());
        }
        contents::list(Hosted::served(of), part, shown, of.services.clock.now(), event).await
    }

    async fn restore(of: Served<'_>, what: &str, by: Actor<'_>, event: &mut Event) -> Result<u64> {
        purge::restore(Hosted::served(of), what, by, event).await
    }

    async fn cleanup(of: Served<'_>, rules: Cleanup<'_>, plan: &mut CleanupPlan, event: &mut Event) -> Result<()> {
        cleanup::cleanup(Hosted::served(of), rules, plan, event).await
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
        purge::purge(Hosted::served(of), what, why, by, event).await
    }

    async fn redated(of: Served<'_>, changed: Vec<Entry>, at: Millis, event: &mut Event) -> Result<Vec<Entry>> {
        redate::lines(of, changed, at, event).await
    }

    async fn take_hint(of: Served<'_>, said: &Announcement, shared: &Arc<AtomicBool>, _: &mut Event) -> Result<()> {
        Follow::of(of).take_hint(hinted::hint(said), said.published, shared);
        Ok(())
    }

    fn look_for_hints(of: Served<'_>) -> Option<Millis> {
        Follow::of(of).look_for_hints()
    }

    fn follow(of: Served<'_>) {
        Follow::of(of).follow();
    }

    fn take_in(context: &Context, remote: Remote, unit: &str, row: FollowedRow) {
        Follow { remote, context: context.clone() }.take_in(unit, row);
    }

    async fn report(services: &Services, table: &RepositoryTable) {
        waiting::note_waiting(services, table).await
    }

    async fn close(of: Served<'_>) {
        let hosted = Hosted::served(of);
        hosted.indexes.keep(hosted.context).await;
        dates_file::keep(hosted.context, of.repository, true).await;
        if of.repository.follows() {
            Follow::of(of).close().await;
        }
    }

    fn can_read(file: &str, bytes: &Bytes) -> Option<bool> {
        let bytes = bytes.clone();
        Some(match file {
            VersionLog::FILE => VersionLog::read(bytes).is_some(),
            ViewLog::FILE => ViewLog::read(bytes).is_some(),
            NameList::FILE => NameList::read(bytes).is_some(),
            SpecFiles::FILE => SpecFiles::read(bytes).is_some(),
            saved::PIECES => saved::read_pieces(bytes).is_some(),
            saved::FILE => saved::read_file(bytes).is_some(),
            dates_file::FILE => dates_file::read_head(bytes).is_some(),
            _ => return None,
        })
    }

    fn show_in_metrics(recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>) {
        followed::show_in_metrics(recorder, known);
        waiting_metrics::show_in_metrics(recorder, known);
    }
}
