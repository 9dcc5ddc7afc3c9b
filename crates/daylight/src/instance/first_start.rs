//! The content of a new data folder: its first repositories and an admin token.

use crate::access::{Access, NewToken};
use crate::config::{Secret, Upstream};
use crate::face::DefaultRemote;
use crate::formats;
use anyhow::Context;
use format::gem::info::FormatVersion;
use repository::{Author, ChangeSource, Format, RemoteRecord, Repositories, RepositoryRecord, Scope};
use store::{CommitError, Expect, RepositoryKind, Seq, Store};
use telemetry::{Event, Millis};

/// The name of the admin token.
const ADMIN: &str = "admin";
/// Maximum number of attempts while other processes change the folder.
const TRIES: usize = 100;

/// The content that [`prepare`] made.
#[derive(Debug, Default)]
pub struct FirstContent {
    /// The new admin token, if one was generated.
    pub admin_token: Option<Secret>,
    /// The names of the repositories.
    pub repositories: Vec<String>,
}

/// Creates the default repositories in an empty folder, and an admin token in a folder without one. An admin token from
/// the settings (`DAYLIGHT_ADMIN_TOKEN`) is applied at every start.
///
/// All of it is one batch, so a crash leaves everything or nothing, and nobody is locked out. The batch expects that
/// nothing has changed since the folder was read; otherwise the folder is read again.
pub(crate) async fn prepare(
    store: &Store,
    admin_token: Option<&Secret>,
    first_repositories: Vec<RepositoryRecord>,
    repositories: &Repositories,
    access: &Access,
    from: ChangeSource,
    event: &mut Event,
) -> anyhow::Result<FirstContent> {
    let author = Author { by: Author::DAYLIGHT, from };
    for _ in 0..TRIES {
        let (seq, at) = (store.last(), store.now());
        let (mut made, mut changes) = (FirstContent::default(), Vec::new());
        if seq == Seq(0) {
            made.repositories = first_repositories.iter().map(|record| record.name.clone()).collect();
            let creation = repositories.creation(first_repositories.clone(), at, event).await;
            changes = creation.context("cannot make the first repositories")?.1;
        }
        let has_admin = match admin_token {
            Some(secret) => access.is_admin(secret, event).await?,
            None => access.has_admin(event).await?,
        };
        if !has_admin {
            let replacement = access.replacement(admin(), admin_token.cloned(), event).await;
            let (token, more) = replacement.context("cannot make the admin token")?;
            made.admin_token = Some(token.secret).filter(|_| admin_token.is_none());
            changes.extend(more);
        }
        if changes.is_empty() {
            return Ok(made);
        }
        match store.commit(author.batch(at, vec![Expect::JournalAt(seq)], changes), event).await {
            Ok(_) => return Ok(made),
            Err(CommitError::Conflict(_)) => {}
            Err(CommitError::Error(error)) => {
                return Err(error).context("cannot write the first repositories and the admin token");
            }
        }
    }
    anyhow::bail!("cannot make the admin token: others change the folder all the time")
}

/// The repositories of a new folder.
pub(crate) fn first_repositories(info_format: FormatVersion, upstream: &Upstream) -> Vec<RepositoryRecord> {
    let new = |name: &str, format: Format, kind| RepositoryRecord::new(name, format.as_str(), kind, Millis(0));
    let mut all: Vec<_> =
        Format::ALL.iter().flat_map(|format| (formats::of(*format).default_hosted)(info_format)).collect();
    all.extend(Format::ALL.iter().rev().filter_map(|format| {
        let DefaultRemote { name, url, .. } = (formats::of(*format).default_remote)(upstream)?;
        let urls = url.iter().map(|url| url.0.clone()).collect();
        let remote = Some(Box::new(RemoteRecord { urls, ..RemoteRecord::default() }));
        Some(RepositoryRecord { remote, ..new(name, *format, RepositoryKind::Remote) })
    }));
    for format in Format::ALL.iter().rev() {
        let Some(name) = formats::of(*format).default_group else { continue };
        let members = all.iter().filter(|one| one.format == format.as_str()).map(|one| one.name.clone()).collect();
        all.push(RepositoryRecord { members, ..new(name, *format, RepositoryKind::Group) });
    }
    all
}

fn admin() -> NewToken {
    NewToken { name: ADMIN.into(), owner: Author::DAYLIGHT.into(), scopes: vec![Scope::Admin], ..NewToken::default() }
}

#[cfg(test)]
pub(crate) mod tests;
