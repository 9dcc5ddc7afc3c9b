//! The face of the gem format.

use crate::actor::Actor;
use crate::bad_setting::BadSetting;
use crate::boxed::{Trying, Work};
use crate::browse::{Level, MemberItems};
use crate::cleanup::{Cleanup, CleanupPlan};
use crate::content::Content;
use crate::face::Face;
use crate::gem::group::{waiting, waiting_metrics};
use crate::gem::hosted::Hosted;
use crate::gem::indexes::names::NameList;
use crate::gem::indexes::specs::SpecFiles;
use crate::gem::indexes::versions::VersionLog;
use crate::gem::indexes::view_log::ViewLog;
use crate::gem::package_face::GemPackages;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::{dates_file, hinted, saved};
use crate::gem::{browse, cleanup, contents, followed, purge, question, redate};
use crate::hints::announcement::Announcement;
use crate::index::incremental_index::IndexSource;
use crate::listed::{ListedFile, Page, PageRequest, Shown};
use crate::package::packages::Packages;
use crate::question::Question;
use crate::reading::Reading;
use crate::repository::{Repository, RepositoryTable};
use crate::search::index::NameSource;
use crate::services::{Served, Services};
use arc_swap::ArcSwap;
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::{Entry, RepositoryKind};
use telemetry::{Event, Millis, Recorder};

/// The face of the gem format.
pub(crate) struct GemFace;

impl Face for GemFace {
    fn read<'a>(&self, _: RepositoryKind, method: &str, path: &'a str) -> Result<Reading<Question<'a>>, &'static str> {
        question::read(method, path.trim_end_matches('/')).map(|reading| reading.map(Question::Gem))
    }

    fn client_settings(&self, _: &Repository, _: &str) -> Option<Content> {
        None
    }

    fn packages(&self) -> Option<&'static dyn Packages> {
        Some(&GemPackages)
    }

    fn level<'a>(&self, of: Served<'a>, part: PageRequest<'a>, event: &'a mut Event) -> Trying<'a, Level> {
        Box::pin(browse::level_of_gems(of.services, of.repository, of.settings, part, event))
    }

    fn owned<'a>(&self, of: Served<'a>, items: &'a mut Vec<MemberItems>, event: &'a mut Event) -> Trying<'a, ()> {
        Box::pin(browse::leave_owners(of.services, of.repository, items, event))
    }

    fn listed_names<'a>(&self, of: Served<'a>, event: &'a mut Event) -> Trying<'a, NameSource> {
        Box::pin(async move {
            let index = browse::index_of_names(of.services, of.repository, of.settings, event).await?;
            Ok(index.map_or(NameSource::Nothing, NameSource::Index))
        })
    }

    fn contents<'a>(
        &self,
        of: Served<'a>,
        part: PageRequest<'a>,
        shown: Shown,
        event: &'a mut Event,
    ) -> Trying<'a, Page<ListedFile>> {
        Box::pin(async move {
            if of.repository.record.kind == RepositoryKind::Group {
                let name = &of.repository.record.name;
                let text = format!("`{name}` is a group, which holds nothing itself");
                let hint = format!("`daylight repo show {name}` names its members; ask for the contents of each");
                return Err(BadSetting::new(text, &hint).into());
            }
            contents::list(Hosted::served(of)?, part, shown, of.services.clock.now(), event).await
        })
    }

    fn restore<'a>(&self, of: Served<'a>, what: &'a str, by: Actor<'a>, event: &'a mut Event) -> Trying<'a, u64> {
        Box::pin(async move {
            let reload = async |event: &mut Event| of.services.again(of.repository, event).await;
            purge::restore(Hosted::served(of)?, what, by, reload, event).await
        })
    }

    fn cleanup<'a>(
        &self,
        of: Served<'a>,
        rules: Cleanup<'a>,
        plan: &'a mut CleanupPlan,
        event: &'a mut Event,
    ) -> Trying<'a, ()> {
        Box::pin(async move {
            let reload = async |event: &mut Event| of.services.again(of.repository, event).await;
            cleanup::cleanup(Hosted::served(of)?, rules, reload, plan, event).await
        })
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
            let reload = async |event: &mut Event| of.services.again(of.repository, event).await;
            purge::purge(Hosted::served(of)?, what, why, by, reload, event).await
        })
    }

    fn redated<'a>(
        &self,
        of: Served<'a>,
        changed: Vec<Entry>,
        at: Millis,
        event: &'a mut Event,
    ) -> Trying<'a, Vec<Entry>> {
        Box::pin(redate::lines(of, changed, at, event))
    }

    fn take_hint<'a>(
        &self,
        of: Served<'a>,
        said: &'a Announcement,
        shared: &'a Arc<AtomicBool>,
        _: &'a mut Event,
    ) -> Trying<'a, ()> {
        Follow::of(of).take_hint(hinted::hint(said), said.published, shared);
        Box::pin(async { Ok(()) })
    }

    fn look_for_hints(&self, of: Served<'_>) -> Option<Millis> {
        Follow::of(of).look_for_hints()
    }

    fn follow(&self, of: Served<'_>) {
        Follow::of(of).follow();
    }

    fn report<'a>(&self, services: &'a Services, table: &'a RepositoryTable) -> Work<'a> {
        Box::pin(waiting::note_waiting(services, table))
    }

    fn close<'a>(&self, of: Served<'a>) -> Work<'a> {
        Box::pin(async move {
            if let Ok(hosted) = Hosted::served(of) {
                hosted.indexes.keep(hosted.context).await;
                dates_file::keep(hosted.context, of.repository, true).await;
            }
            if of.repository.follows() {
                Follow::of(of).close().await;
            }
        })
    }

    fn can_read(&self, file: &str, bytes: &Bytes) -> Option<bool> {
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

    fn show_in_metrics(&self, recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>) {
        followed::show_in_metrics(recorder, known);
        waiting_metrics::show_in_metrics(recorder, known);
    }
}
