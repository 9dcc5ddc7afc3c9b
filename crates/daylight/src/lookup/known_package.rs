//! What the pages and calls about packages tell: versions and reasons, without the names of repositories that the caller may not read.

use crate::app::App;
use crate::error::{Error, Result};
use crate::health::upstream_trouble;
use crate::lookup::read_repository::ReadRepository;
use repository::{
    DeclaredFacts, Gone, Latest, LinkKind, MemberPart, PackageMember, PackageRows, Repository, RepositoryTable,
    Standing, VersionRow,
};
use std::sync::Arc;
use telemetry::{Event, Millis};
use web::{About, AboutLink, HiddenBy, Member, Moment, Origin, VersionLine};

/// All versions of a package of which something is known. The versions that only members have which the caller may not read, and
/// which do not answer, are left out.
pub(super) async fn rows(app: &App, read: &ReadRepository, package: &str, event: &mut Event) -> Result<PackageRows> {
    event.subject.package = package.into();
    let mut rows = repository::package_rows(app.services(), &read.packages(), package, event).await?;
    rows.rows.retain(|row| !matches!(row.standing, Standing::Shadowed(_)) || read.may_read(&row.member));
    let (repository, package) = (read.repository.record.name.clone(), package.to_owned());
    match (rows.rows.is_empty(), rows.may_lack) {
        (true, true) => {
            let reader = (read.caller.observes(), |one: &Repository| read.may_read(one));
            let trouble = upstream_trouble::describe(app, &read.repository, None, reader, event).await?;
            Err(Error::NothingKnown { repository, package, trouble })
        }
        (true, false) => Err(Error::NoPackage { repository, package }),
        (false, _) => Ok(rows),
    }
}

/// The row of one version.
pub(super) fn row<'a>(rows: &'a PackageRows, package: &str, version: &str) -> Result<&'a VersionRow> {
    let row = rows.rows.iter().find(|row| row.version == version);
    Ok(row.ok_or_else(|| repository::Error::NoSuchVersion(format!("{package}:{version}")))?)
}

/// The view of a caller on rows: without the names of repositories that they may not read.
pub(super) struct CallerView<'a> {
    read: &'a ReadRepository,
    table: Arc<RepositoryTable>,
    /// Whether the caller may read every repository that a reason may name.
    reads_all: bool,
}

impl<'a> CallerView<'a> {
    pub(super) async fn of(app: &App, read: &'a ReadRepository, event: &mut Event) -> Result<Self> {
        let (table, leaves) = (app.repositories.table(event).await?, &read.repository.leaves);
        let is_inside = |group: &Repository| group.leaves.iter().any(|one| leaves.iter().any(|leaf| leaf.id == one.id));
        let reads_groups = table.by_name.values().filter(|one| is_inside(one)).all(|group| read.may_read(group));
        let reads_all = reads_groups && leaves.iter().all(|leaf| read.may_read(leaf));
        Ok(Self { read, table, reads_all })
    }

    /// A version in a list.
    pub(super) fn line(&self, row: &VersionRow) -> VersionLine {
        let (state, gone) = match &row.standing {
            Standing::Visible(_) => ("visible", None),
            Standing::Unlisted => ("unlisted", None),
            Standing::Hidden(_) | Standing::Shadowed(_) | Standing::Later => ("hidden", None),
            Standing::Withdrawn { at, why } => (gone(*why), Some(moment(*at))),
        };
        let is_member = row.member.id != self.read.repository.id;
        let origin = row.origin.as_ref().map(|origin| Origin {
            at: moment(origin.at),
            by: origin.by.clone(),
            claimed_by: Some(origin.claimed_by.clone()),
        });
        let let_through = match &row.standing {
            Standing::Visible(let_through) => let_through.clone().filter(|_| self.reads_all),
            _ => None,
        };
        VersionLine {
            version: row.version.clone(),
            platform: row.platform.clone(),
            state,
            published: row.published.map(moment),
            by: row.by.clone(),
            origin,
            stated: row.stated.map(moment),
            dated: row.dated.map(moment),
            first_seen: row.seen.map(moment),
            cached: row.cached.map(moment),
            member: (is_member && self.read.may_read(&row.member)).then(|| row.member.record.name.clone()),
            let_through,
            hidden: self.hidden(row),
            gone,
        }
    }

    fn hidden(&self, row: &VersionRow) -> Option<HiddenBy> {
        match &row.standing {
            Standing::Visible(_) | Standing::Unlisted | Standing::Withdrawn { .. } => None,
            Standing::Hidden(hidden) => {
                // The policy is that of the member, of the repository itself, or of a group on the way to the member.
                let policy = self.table.by_name.get(&hidden.repository);
                let named = policy.is_some_and(|policy| self.read.may_read(policy));
                Some(HiddenBy {
                    rule: hidden.rule(),
                    why: if named { hidden.to_string() } else { hidden.unnamed() },
                    repository: named.then(|| hidden.repository.clone()),
                    since: hidden.since().map(moment),
                    until: hidden.until().map(moment),
                    hint: named.then(|| hidden.hint()),
                    command: hidden.command().filter(|_| named),
                })
            }
            Standing::Shadowed(shadowed) => {
                let other = || "another member of the group answers for this name".to_owned();
                Some(HiddenBy {
                    rule: "origin",
                    why: if self.reads_all { shadowed.why.clone() } else { other() },
                    repository: None,
                    since: None,
                    until: None,
                    hint: shadowed.hint.clone(),
                    command: None,
                })
            }
            Standing::Later => {
                let why = match row.published.or(row.seen) {
                    Some(at) => format!("it was published at {at}, after the moment of this view"),
                    None => "it was published after the moment of this view".to_owned(),
                };
                let (repository, since, until) = (None, None, None);
                Some(HiddenBy { rule: "as_of", why, repository, since, until, hint: None, command: None })
            }
        }
    }

    /// The members that the caller may read.
    pub(super) fn members(&self, members: &[PackageMember]) -> Vec<Member> {
        let read = members.iter().filter(|one| self.read.may_read(&one.member));
        let tell = |one: &PackageMember| Member {
            repository: one.member.record.name.clone(),
            answers: one.part == MemberPart::Answers,
            part: part(one.part),
            why: one.why.clone().filter(|_| self.reads_all),
        };
        read.map(tell).collect()
    }
}

/// A moment in UTC.
pub(super) fn moment(at: Millis) -> Moment {
    Moment(at.to_string())
}

/// The description that a version declares.
pub(super) fn about(declared: &DeclaredFacts) -> About {
    let DeclaredFacts { summary, description, homepage, licenses, authors, packaging, links, .. } = declared.clone();
    let link = |(kind, url): (LinkKind, String)| {
        let kind = match kind {
            LinkKind::Changelog => "changelog",
            LinkKind::Source => "source",
            LinkKind::Documentation => "documentation",
            LinkKind::Bugs => "bugs",
        };
        AboutLink::checked(&url).map(|url| AboutLink { kind, url: url.to_owned() })
    };
    let links = links.into_iter().filter_map(link).collect();
    About { summary, description, homepage, links, licenses, authors, packaging }
}

/// The meaning of a latest version.
pub(super) fn latest_is(latest: Latest) -> &'static str {
    match latest {
        Latest::Release => "release",
        Latest::Version => "version",
        Latest::Known => "newest_known",
        Latest::Cached => "newest_cached",
    }
}

/// The part of a member in an answer.
fn part(part: MemberPart) -> &'static str {
    match part {
        MemberPart::Answers => "answers",
        MemberPart::HasNone => "has_none",
        MemberPart::Unknown => "unknown",
        MemberPart::Outranked => "outranked",
        MemberPart::NotAsked => "not_asked",
        MemberPart::Failed => "failed",
    }
}

/// The state of a version that is not published any more.
fn gone(why: Gone) -> &'static str {
    match why {
        Gone::Yanked => "yanked",
        Gone::Deleted => "deleted",
        Gone::CleanedUp => "cleaned_up",
        Gone::Purged => "purged",
    }
}
