//! The face of a format: its answers about a repository, for clients and operators. Each format implements it in its own folder.
//!
//! The trait has no default methods. A new format does not compile until it answers everything, so nothing is answered by oversight.
//! What needs neither a repository nor the store is in [`FormatRules`](crate::format::rules::FormatRules).

use crate::actor::Actor;
use crate::boxed::{Trying, Work};
use crate::browse::{Level, MemberItems};
use crate::cleanup::{Cleanup, CleanupPlan};
use crate::content::Content;
use crate::hints::announcement::Announcement;
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

/// The face of a format.
pub(crate) trait Face: Sync {
    /// Reads a method, by its name, and a path below a repository of this kind: see `Format::read`.
    fn read<'a>(
        &self,
        kind: RepositoryKind,
        method: &str,
        path: &'a str,
    ) -> Result<Reading<Question<'a>>, &'static str>;

    /// The settings file of clients of a repository at this URL; `None`: its clients need none.
    fn client_settings(&self, repository: &Repository, base: &str) -> Option<Content>;

    /// Lists of packages for people; `None`: its files belong to no packages.
    fn packages(&self) -> Option<&'static dyn Packages>;

    /// One level of a hosted or remote repository, which may have nothing at the path.
    fn level<'a>(&self, of: Served<'a>, part: PageRequest<'a>, event: &'a mut Event) -> Trying<'a, Level>;

    /// Takes away or marks the items of members of a group that the group does not answer with.
    fn owned<'a>(&self, of: Served<'a>, items: &'a mut Vec<MemberItems>, event: &'a mut Event) -> Trying<'a, ()>;

    /// The names that an index of the repository lists, for searches.
    fn listed_names<'a>(&self, of: Served<'a>, event: &'a mut Event) -> Trying<'a, NameSource>;

    /// The contents of a hosted repository or a group, for operators.
    fn contents<'a>(
        &self,
        of: Served<'a>,
        part: PageRequest<'a>,
        shown: Shown,
        event: &'a mut Event,
    ) -> Trying<'a, Page<ListedFile>>;

    /// Restores what the last deletion of `what` removed: a path, or a package and a version. Returns how many.
    fn restore<'a>(&self, of: Served<'a>, what: &'a str, by: Actor<'a>, event: &'a mut Event) -> Trying<'a, u64>;

    /// Adds what the rules of a hosted repository no longer keep to the plan. If the cleanup has an actor, it is removed.
    fn cleanup<'a>(
        &self,
        of: Served<'a>,
        cleanup: Cleanup<'a>,
        plan: &'a mut CleanupPlan,
        event: &'a mut Event,
    ) -> Trying<'a, ()>;

    /// The same for files that its retention no longer keeps.
    fn prune<'a>(&self, of: Served<'a>, apply: bool, plan: &'a mut CleanupPlan, event: &'a mut Event)
    -> Trying<'a, ()>;

    /// Removes what the retention of a hosted repository no longer keeps, as a job.
    fn sweep(&self, services: &Services, repository: Arc<Repository>) -> Work<'static>;

    /// The entries of a hosted repository that a purge changes. If `by` is an actor, they are purged.
    fn purge<'a>(
        &self,
        of: Served<'a>,
        what: &'a str,
        why: &'a str,
        by: Option<Actor<'a>>,
        event: &'a mut Event,
    ) -> Trying<'a, Vec<Entry>>;

    /// These changed entries with the lines of indexes that follow from their new dates.
    fn redated<'a>(
        &self,
        of: Served<'a>,
        changed: Vec<Entry>,
        at: Millis,
        event: &'a mut Event,
    ) -> Trying<'a, Vec<Entry>>;

    /// Makes the upstream of a remote repository be looked at until it confirms the hint.
    fn take_hint<'a>(
        &self,
        of: Served<'a>,
        said: &'a Announcement,
        shared: &'a Arc<AtomicBool>,
        event: &'a mut Event,
    ) -> Trying<'a, ()>;

    /// Looks at the upstream of a remote repository if a look is due because of hints. Returns when the next is due.
    fn look_for_hints(&self, of: Served<'_>) -> Option<Millis>;

    /// Starts a look at the index of the upstream of a remote repository if one is due.
    fn follow(&self, of: Served<'_>);

    /// Reports what the indexes of upstreams changed in the groups of this format.
    fn report<'a>(&self, services: &'a Services, table: &'a RepositoryTable) -> Work<'a>;

    /// Saves what the data folder does not have yet, before the store is closed.
    fn close<'a>(&self, of: Served<'a>) -> Work<'a>;

    /// Whether a file of that name in the folder of indexes can be read; `None`: it is not of this format.
    fn can_read(&self, file: &str, bytes: &Bytes) -> Option<bool>;

    /// Adds figures of its own to the metrics.
    fn show_in_metrics(&self, recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>);
}
