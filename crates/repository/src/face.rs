//! The face of a format: its answers about a repository, for clients and operators. Each format implements it in its own folder.
//!
//! The traits have no default methods. A new format does not compile until it answers everything, so nothing is answered by oversight.
//! What needs neither a repository nor the store is in [`FormatRules`](crate::format::rules::FormatRules).

use crate::actor::Actor;
use crate::browse::{Level, MemberItems};
use crate::cleanup::{Cleanup, CleanupPlan};
use crate::context::Context;
use crate::error::Result;
use crate::hints::announcement::Announcement;
use crate::listed::{ListedFile, Page, PageRequest, Shown};
use crate::question::Question;
use crate::reading::Reading;
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

/// The method, by its name, and the path of a request read as a question, or the methods that the path takes.
pub(crate) type Read<'a> = Result<Reading<Question<'a>>, &'static str>;

/// The face of a format.
pub(crate) trait Face {
    /// Reads a method and a path below a repository of this kind: see `Format::read`.
    fn read<'a>(kind: RepositoryKind, method: &str, path: &'a str) -> Read<'a>;

    /// One level of a hosted or remote repository, which may have nothing at the path.
    async fn level(of: Served<'_>, part: PageRequest<'_>, event: &mut Event) -> Result<Level>;

    /// Takes away or marks the items of members of a group that the group does not answer with.
    async fn owned(of: Served<'_>, items: &mut Vec<MemberItems>, event: &mut Event) -> Result<()>;

    /// What the names of a hosted or remote repository are read from, for searches.
    async fn names(of: Served<'_>, event: &mut Event) -> Result<NameSource>;

    /// The contents of a hosted repository or a group, for operators.
    async fn contents(
        of: Served<'_>,
        part: PageRequest<'_>,
        shown: Shown,
        event: &mut Event,
    ) -> Result<Page<ListedFile>>;

    /// Restores what the last deletion of `what` removed: a path, or a package and a version. Returns how many.
    async fn restore(of: Served<'_>, what: &str, by: Actor<'_>, event: &mut Event) -> Result<u64>;

    /// Adds what the rules of a hosted repository no longer keep to the plan. If the cleanup has an actor, it is removed.
    async fn cleanup(of: Served<'_>, rules: Cleanup<'_>, plan: &mut CleanupPlan, event: &mut Event) -> Result<()>;

    /// The same for what its retention no longer keeps.
    async fn prune(of: Served<'_>, apply: bool, plan: &mut CleanupPlan, event: &mut Event) -> Result<()>;

    /// A kept name as people read it, and the commands that make it an upstream's again; `None`: it is, or never will be.
    fn gives_back(group: &Repository, name: &str) -> Option<(String, Vec<String>)>;

    /// Removes what the retention of a hosted repository no longer keeps, as a job. `alike`: all hosted repositories of the format.
    async fn sweep(context: Context, repository: Arc<Repository>, alike: Vec<Arc<Repository>>);

    /// The entries of a hosted repository that a purge changes. If `by` is an actor, they are purged.
    async fn purge(
        of: Served<'_>,
        what: &str,
        why: &str,
        by: Option<Actor<'_>>,
        event: &mut Event,
    ) -> Result<Vec<Entry>>;

    /// Those of these changed entries whose dates are in an index, with the lines that follow from new dates.
    async fn redated(of: Served<'_>, changed: Vec<Entry>, at: Millis, event: &mut Event) -> Result<Vec<Entry>>;

    /// Makes the upstream of a remote repository be looked at until it confirms the hint.
    async fn take_hint(of: Served<'_>, said: &Announcement, shared: &Arc<AtomicBool>, event: &mut Event) -> Result<()>;

    /// Looks at the upstream of a remote repository if a look is due because of hints. Returns when the next is due.
    fn look_for_hints(of: Served<'_>) -> Option<Millis>;

    /// Starts a look at the index of the upstream of a remote repository if one is due.
    fn follow(of: Served<'_>);

    /// Accepts what another node saw of the upstream of a remote repository: a row of this unit. It does not wait.
    fn take_in(context: &Context, remote: Remote, unit: &str, row: FollowedRow);

    /// Reports what the indexes of upstreams changed in groups.
    async fn report(services: &Services, table: &RepositoryTable);

    /// Saves what the data folder does not have yet, before the store is closed.
    async fn close(of: Served<'_>);

    /// Whether a file of that name in the folder of indexes can be read; `None`: it is not of this format.
    fn can_read(file: &str, bytes: &Bytes) -> Option<bool>;

    /// Adds figures of its own to the metrics.
    fn show_in_metrics(recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>);
}
