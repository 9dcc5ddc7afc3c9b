//! The map as one request sees it.

use crate::error::{Error, Result};
use crate::maven::koji::job;
use crate::maven::koji::load::load;
use crate::maven::koji::map::{FoundFile, KojiView, Place};
use crate::maven::koji::state::Known;
use crate::repository::Repository;
use crate::tree::file::File;
use crate::upstream::Remote;
use telemetry::{Event, Millis};

/// How long an answer that the map proves is used again, in milliseconds: the interval of looks. A look that finds a
/// change of its folder ends it at once.
pub(crate) const PROVEN_MS: i64 = 60_000;
/// When a client that came before the first map is told to come again, in milliseconds.
const UNREAD_MS: i64 = 10_000;

/// The map of a repository, and the moment that a request asks about.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) remote: &'a Remote,
    pub(crate) known: Known,
    pub(crate) view: KojiView,
}

impl KojiView {
    /// The view of a repository, which may be as of a moment.
    pub(crate) fn of(repository: &Repository) -> Self {
        match repository.as_of {
            None => KojiView::Now,
            Some(past) => past.koji.map_or(KojiView::Journal(past.through), KojiView::Event),
        }
    }
}

impl<'a> Asked<'a> {
    /// The map after a look, if one is due.
    pub(crate) async fn ready(remote: &'a Remote, event: &mut Event) -> Result<Self> {
        let known = match job::ready(remote, event).await {
            Err(Error::Upstream(failure)) => {
                return Err(failure.unread(Millis(remote.now().0 + UNREAD_MS)).into());
            }
            known => known?,
        };
        Ok(Self { remote, known, view: KojiView::of(&remote.repository) })
    }

    /// The map as it is in memory if it has this folder; otherwise after a look, if one is due.
    pub(crate) async fn with(remote: &'a Remote, folder: &str, event: &mut Event) -> Result<Self> {
        let view = KojiView::of(&remote.repository);
        match load(remote, event).await? {
            Some(known) if known.map.place(folder, view).is_ok() => {
                remote.repository.shared.koji().follow.ask(remote.now());
                Ok(Self { remote, known, view })
            }
            _ => Self::ready(remote, event).await,
        }
    }

    /// Counts the request of a client that it answers. An explanation is none.
    pub(crate) fn counted(self) -> Self {
        if self.remote.repository.asks {
            self.remote.repository.shared.koji().counted.request();
        }
        self
    }

    /// A file with the build that has its folder.
    pub(crate) fn find(&self, file: &File<'_>) -> Option<(Place, FoundFile)> {
        self.known.map.file(file.folder, name_of(file), self.view)
    }

    pub(crate) fn has(&self, file: &File<'_>) -> bool {
        self.find(file).is_some()
    }

    pub(crate) fn is_now(&self) -> bool {
        self.view == KojiView::Now
    }

    /// Until when the map is the answer, whose next change is not known. Where looks fail it is asked again at once, so
    /// that no client hears of an outage that has ended.
    pub(crate) fn until(&self) -> Option<Millis> {
        let now = self.remote.now();
        self.is_now().then(|| if self.known.failed.is_some() { now } else { Millis(now.0 + PROVEN_MS) })
    }
}

/// The name of a file in its folder.
pub(crate) fn name_of<'a>(file: &File<'a>) -> &'a str {
    file.path.get(file.folder.len()..).map_or(file.path, |name| name.trim_start_matches('/'))
}
