//! Which repositories a caller may read, and how the pages describe them.

use crate::access::Caller;
use crate::formats;
use format::percent::segment;
use repository::{Format, Repository, RepositoryTable};
use std::sync::Arc;
use store::RepositoryKind;

/// The repositories that the caller may read, by format and name.
pub(super) fn listed<'a>(caller: &Caller, table: &'a RepositoryTable) -> Vec<&'a Arc<Repository>> {
    let mut listed: Vec<_> = table.by_name.values().filter(|one| caller.reads(one)).collect();
    listed.sort_by(|a, b| (a.format.as_str(), &a.record.name).cmp(&(b.format.as_str(), &b.record.name)));
    listed
}

/// The kind and format of a repository.
pub(super) fn about(repository: &Repository) -> String {
    let what = formats::of(repository.format).noun;
    let kind = match repository.record.kind {
        RepositoryKind::Hosted => format!("hosted {what} repository"),
        RepositoryKind::Remote if repository.record.koji().is_some() => {
            format!("remote {what} repository: the builds in tags of a Koji hub")
        }
        RepositoryKind::Remote => format!("remote {what} repository: the cache of an upstream"),
        RepositoryKind::Group => format!("group of {what} repositories: one URL for all members"),
    };
    if repository.record.private { format!("{kind}, private") } else { kind }
}

/// The commands to type on a server with nothing published yet.
pub(super) fn first_steps(server: &str, table: &RepositoryTable) -> String {
    let hosted = |format| {
        let all =
            table.by_name.values().filter(|one| one.record.kind == RepositoryKind::Hosted && one.format == format);
        all.map(|one| &one.record.name).min()
    };
    let mut lines = format!("export DAYLIGHT_SERVER={server} DAYLIGHT_TOKEN=TOKEN\n");
    lines.push_str("daylight token create ci --scope read,write   # a token for publishing\n");
    for format in Format::ALL {
        let push = hosted(*format)
            .and_then(|name| (formats::of(*format).first_push)(&format!("{server}/repository/{}", segment(name))));
        lines.extend(push.map(|push| push + "\n"));
    }
    lines.push_str("daylight repo list");
    lines
}

/// The commands that fetch the first file through this server, in a project: through the first public group of each format, or else its
/// first public remote repository.
pub(super) fn first_fetch(server: &str, listed: &[&Arc<Repository>]) -> String {
    let mut lines = Vec::new();
    for format in Format::ALL {
        let of =
            |kind| listed.iter().find(|one| one.format == *format && one.record.kind == kind && !one.record.private);
        let Some(one) = of(RepositoryKind::Group).or_else(|| of(RepositoryKind::Remote)) else { continue };
        let url = format!("{server}/repository/{}", segment(&one.record.name));
        lines.extend((formats::of(*format).first_fetch)(&url));
    }
    lines.join("\n\n")
}
